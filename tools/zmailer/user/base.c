/* base.c - users in a database, asked by a program of our own
 *
 * In     names; entries of passwords, never passwords
 * Out    lines for the program tables, which knows databases
 * Holds  the program, and a socket to it
 * Trusts nothing: answers are bounded, in time too
 * Spec   user.h; tables/ask/worker.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "daemon/skeleton.h"
#include "io/ipc.h"
#include "tools/zmailer/user/user.h"

#include "base/banned.h"

enum { ANSWER_S = 10, SPEC_BYTES = 4200 };

struct user_base {
	pid_t			 pid;
	int			 socket;
	bool			 is_late;	/* it may hang */
	struct ipc_inbox	 inbox;
	size_t			 cursor;
	struct str		 line;		/* of the last answer */
};

/* "tables one SPEC" with one end of a socket as its standard input. */
static int
base_spawn(struct user_base *base, const char *spec, int end,
    struct err *err)
{
	char program[PATH_MAX], option[] = "one", name[] = "tables",
	    words[SPEC_BYTES];
	char *argv[] = { name, option, words, NULL };
	posix_spawn_file_actions_t actions;
	int error;

	daemon_libexec("tables", program, sizeof(program));
	strlcpy(words, spec, sizeof(words));
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, end, STDIN_FILENO);
	error = posix_spawn(&base->pid, program, &actions, NULL, argv,
	    environ);
	posix_spawn_file_actions_destroy(&actions);
	if (error == 0)
		return 0;
	errno = error;
	return err_sys(err, "%s, which asks databases (package "
	    "zmailer-tables), cannot be started", program);
}

struct user_base *
user_base_open(const char *spec, struct err *err)
{
	struct user_base *base = mem_alloc(1, sizeof(*base));
	struct timeval wait = { .tv_sec = ANSWER_S };
	int ends[2], result;

	if (ipc_pair(ends, err) < 0) {
		mem_free(&base);
		return NULL;
	}
	base->socket = ends[0];
	(void)setsockopt(base->socket, SOL_SOCKET, SO_RCVTIMEO, &wait,
	    sizeof(wait));
	ipc_inbox_init(&base->inbox);
	str_init(&base->line);
	result = base_spawn(base, spec, ends[1], err);
	close(ends[1]);
	if (result == 0)
		return base;
	base->pid = 0;
	user_base_close(&base);
	return NULL;
}

void
user_base_close(struct user_base **base)
{
	struct user_base *b = *base;

	if (b == NULL)
		return;
	close(b->socket);
	if (b->pid > 0) {
		if (b->is_late)
			(void)kill(b->pid, SIGKILL);
		while (waitpid(b->pid, NULL, 0) < 0 && errno == EINTR)
			continue;
	}
	ipc_inbox_release(&b->inbox);
	str_release(&b->line);
	mem_free(base);
}

/* The next line of the answer into base->line. */
static int
base_line(struct user_base *base, struct err *err)
{
	struct slice line;
	enum ipc_answer got = IPC_GOT;

	while (ipc_line(&base->inbox, &base->cursor, &line) != IPC_LINE) {
		ipc_inbox_consume(&base->inbox, base->cursor);
		base->cursor = 0;
		got = ipc_receive(base->socket, &base->inbox);
		if (got == IPC_GOT)
			continue;
		base->is_late = got == IPC_TROUBLE &&
		    (errno == EAGAIN || errno == EWOULDBLOCK);
		return base->is_late ? err_set(err, "the database did not "
		    "answer within %d seconds", ANSWER_S) : err_set(err,
		    "the program that asks it ended");
	}
	str_reset(&base->line);
	str_add_slice(&base->line, line);
	return 0;
}

/* Send a question, and get the first line of its answer. */
static int
base_question(struct user_base *base, const char *verb, struct slice key,
    struct slice value, struct err *err)
{
	struct str line = STR_INIT;
	ssize_t sent;

	str_adds(&line, verb);
	if (key.n > 0)
		str_addf(&line, " " SLICE_FMT, SLICE_ARG(key));
	if (value.n > 0)
		str_addf(&line, " " SLICE_FMT, SLICE_ARG(value));
	str_addc(&line, '\n');
	sent = ipc_send(base->socket, str_slice(&line), NULL, 0);
	explicit_bzero(line.buf, line.len);
	str_release(&line);
	/* what it said before it ended tells why */
	if (base_line(base, err) == 0)
		return 0;
	return sent < 0 ? err_set(err, "the program that asks it ended") : -1;
}

static enum table_result
base_answer(const struct user_base *base, struct str *out, struct err *err)
{
	struct slice rest = str_slice(&base->line), word = SLICE("");

	(void)slice_word(&rest, &word);
	if (slice_is(word, "found")) {
		if (out != NULL)
			str_add_slice(out, slice_trim(rest));
		return TABLE_FOUND;
	}
	if (slice_is(word, "none"))
		return TABLE_NONE;
	err_set(err, SLICE_FMT, SLICE_ARG(slice_trim(rest)));
	return TABLE_TROUBLE;
}

enum table_result
user_base_ask(struct user_base *base, const char *verb, struct slice key,
    struct slice value, struct str *out, struct err *err)
{
	if (base_question(base, verb, key, value, err) == 0)
		return base_answer(base, out, err);
	if (strcmp(verb, "get") != 0)
		err_prefix(err, "whether it was written is not known, zmailer "
		    "user list tells");
	return TABLE_TROUBLE;
}

enum table_result
user_base_list(struct user_base *base, table_fn *fn, void *context,
    struct err *err)
{
	struct slice row;

	if (base_question(base, "list", SLICE(""), SLICE(""), err) != 0)
		return TABLE_TROUBLE;
	while (row = str_slice(&base->line), slice_starts(row, "row ")) {
		if (!fn(context, slice_from(row, 4), SLICE(""), 0))
			return TABLE_NONE;
		if (base_line(base, err) != 0)
			return TABLE_TROUBLE;
	}
	return base_answer(base, NULL, err);
}

bool
user_base_can(const char *spec, const char *verb)
{
	const char *type, *path = table_definition_path(spec, &type);
	struct definition definition = { .parameters = 0 };
	struct err err;
	bool is_there = path == NULL || definition_read(type, path,
	    &definition, &err) != DEFINITION_GOOD ||
	    definition.values[definition_word_of(slice_of(verb))] != NULL;

	definition_release(&definition);
	return is_there;
}
