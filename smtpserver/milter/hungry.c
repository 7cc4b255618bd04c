/* hungry.c - ZMailer's content filter protocol
 *
 * In     the name of a draft
 * Out    a program's word about it
 * Holds  one program, or a connection to one that listens; it is kept from
 *        message to message
 * Trusts the program's judgement, not its bytes
 * Spec   hungry.h; ZMailer 2.99's smtpserver.conf(5zm), contentfilter
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "journal/event.h"
#include "journal/neighbours.h"
#include "grammar/smtp/xtext.h"
#include "io/ipc.h"
#include "io/peer.h"
#include "smtpserver/helper/helper.h"
#include "smtpserver/milter/hungry.h"
#include "io/unix_socket.h"

#include "base/banned.h"

enum { LINE_BYTES_MAX = 4096, WORDS_MAX = 32 };

struct hungry {
	const struct process	*process;
	const struct conf_milter *conf;
	struct peer		 peer;
	pid_t			 pid;		/* 0: it is not our child */
	bool			 is_hungry;	/* it said so */
};

/* ---- what it says ----------------------------------------------------- */

/* "5.7.1" of this class. */
static bool
hungry_is_status(struct slice word, char class)
{
	size_t dots = 0;

	if (word.n < 5 || word.n > 9 || word.p[0] != class ||
	    word.p[1] != '.' || word.p[word.n - 1] == '.')
		return false;
	for (size_t i = 0; i < word.n; i++) {
		dots += word.p[i] == '.';
		if (word.p[i] != '.' && (word.p[i] < '0' || word.p[i] > '9'))
			return false;
	}
	return dots == 2;
}

static void
hungry_add_text(struct str *out, struct slice text)
{
	text = slice_first(slice_trim(text), 400);
	/* a CR began another line of the reply: the first is enough */
	text = slice_first(text, slice_find(text, '\r'));
	for (size_t i = 0; i < text.n; i++)
		str_addc(out, text.p[i] >= ' ' && text.p[i] < 0x7f ?
		    text.p[i] : '?');
	if (text.n == 0)
		str_adds(out, "refused by a content filter");
}

static void
hungry_add_refusal(struct slice rest, struct str *out)
{
	struct slice after = rest, word = { NULL, 0 };
	uint64_t code = 552;

	if (slice_word(&after, &word) && word.n == 3 &&
	    slice_number(word, 400, 599, &code))
		rest = after;
	else
		code = 552;
	after = rest;
	if (slice_word(&after, &word) &&
	    hungry_is_status(word, code >= 500 ? '5' : '4'))
		rest = after;
	else
		word = code >= 500 ? SLICE("5.7.1") : SLICE("4.7.1");
	str_addf(out, "refuse %u " SLICE_FMT " ", (unsigned)code,
	    SLICE_ARG(word));
	hungry_add_text(out, rest);
}

static void
hungry_add_freeze(unsigned number, struct slice text, struct str *out)
{
	str_addf(out, "pass freeze=content-%u because it said %u", number,
	    number);
	if (text.n > 0)
		str_addc(out, ' ');
	hungry_add_text(out, text);
}

int
hungry_verdict(struct slice line, struct str *out)
{
	struct slice word, digits;
	uint64_t number;
	bool is_negative;

	if (!slice_word(&line, &word))
		return -1;
	is_negative = word.p[0] == '-';
	digits = slice_from(word, is_negative ? 1 : 0);
	if (!slice_number(digits, 0, 999999999, &number))
		return -1;
	if (number > 0 && is_negative)
		hungry_add_refusal(line, out);
	else if (number > 0)
		hungry_add_freeze((unsigned)number, slice_trim(line), out);
	else
		str_adds(out, "pass");
	return 0;
}

/* ---- the program ------------------------------------------------------ */

static void
hungry_let_go(struct hungry *hungry)
{
	peer_close(&hungry->peer);
	hungry->is_hungry = false;
	if (hungry->pid > 0) {
		(void)kill(hungry->pid, SIGKILL);
		while (waitpid(hungry->pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	hungry->pid = 0;
}

/* In the child: "PROGRAM WORDS -Z CONFIGURATION". */
static void __attribute__((noreturn))
hungry_become(const struct hungry *hungry, int fd)
{
	static char zconf[] = "-Z";
	char *words[WORDS_MAX + 3];
	struct arena *arena = arena_new();
	struct slice rest = slice_of(hungry->conf->socket), word;
	size_t n = 0;

	while (n < WORDS_MAX && slice_word(&rest, &word))
		words[n++] = slice_dup(arena, word);
	words[n++] = zconf;
	words[n++] = slice_dup(arena,
	    slice_of(hungry->process->conf->path));
	words[n] = NULL;
	if (dup2(fd, STDIN_FILENO) < 0 || dup2(fd, STDOUT_FILENO) < 0)
		_exit(111);
	(void)setenv("SMTPSERVER", "y", 1);
	(void)signal(SIGPIPE, SIG_DFL);
	(void)signal(SIGHUP, SIG_DFL);
	execv(words[0], words);
	_exit(111);
}

static int
hungry_start(struct hungry *hungry, struct err *err)
{
	int ends[2];

	if (ipc_pair(ends, err) != 0)
		return -1;
	hungry->pid = fork();
	if (hungry->pid == 0)
		hungry_become(hungry, ends[1]);
	close(ends[1]);
	if (hungry->pid < 0) {
		close(ends[0]);
		hungry->pid = 0;
		return err_sys(err, "cannot fork");
	}
	peer_adopt(&hungry->peer, ends[0]);
	return 0;
}

static int
hungry_reach(struct hungry *hungry, int64_t deadline_ms, struct err *err)
{
	struct sockaddr_un address;
	struct slice path = slice_from(slice_of(hungry->conf->socket), 5);

	if (unix_socket_address(path, &address, err) < 0)
		return -1;
	err_set(err, "no answer in time");
	return peer_connect(&hungry->peer, (struct sockaddr *)&address,
	    sizeof(address), deadline_ms, err) == PEER_OK ? 0 : -1;
}

static int
hungry_be_ready(struct hungry *hungry, int64_t deadline_ms, struct err *err)
{
	if (peer_is_open(&hungry->peer) && hungry->is_hungry &&
	    !peer_is_quiet(&hungry->peer))
		hungry_let_go(hungry);
	if (peer_is_open(&hungry->peer))
		return 0;
	return unix_socket_is_meant(slice_of(hungry->conf->socket)) ?
	    hungry_reach(hungry, deadline_ms, err) : hungry_start(hungry, err);
}

/* The next line, in place until the next read.  0 or -1. */
static int
hungry_read_line(struct hungry *hungry, int64_t deadline_ms, struct str *out,
    struct err *err)
{
	struct peer *peer = &hungry->peer;

	for (;;) {
		struct slice in = peer_unread(peer);
		size_t end = slice_find(in, '\n');

		if (end < in.n) {
			str_reset(out);
			str_add_slice(out, slice_first(in, end));
			peer_consume(peer, end + 1);
			return 0;
		}
		if (in.n > LINE_BYTES_MAX)
			return err_set(err, "a line that is too long");
		switch (peer_fill(peer, deadline_ms, err)) {
		case PEER_OK:
			break;
		case PEER_EOF:
			return err_set(err, "it has ended");
		case PEER_TIMEOUT:
			return err_set(err, "no answer in time");
		default:
			return -1;
		}
	}
}

/* Its word, after "#hungry" if it has not said that yet. */
static int
hungry_converse(struct hungry *hungry, struct slice path, int64_t deadline_ms,
    struct str *out, struct err *err)
{
	struct str line = STR_INIT;
	int result = -1;

	while (!hungry->is_hungry &&
	    hungry_read_line(hungry, deadline_ms, &line, err) == 0)
		hungry->is_hungry = slice_starts(str_slice(&line), "#hungry");
	if (hungry->is_hungry) {
		str_add_slice(&hungry->peer.out, path);
		str_addc(&hungry->peer.out, '\n');
		hungry->is_hungry = false;
		err_set(err, "it does not read");
		if (peer_flush(&hungry->peer, deadline_ms, err) == PEER_OK)
			do
				result = hungry_read_line(hungry, deadline_ms,
				    &line,
				    err);
			while (result == 0 && line.len > 0 &&
			    line.buf[0] == '#');
	}
	if (result == 0 && hungry_verdict(str_slice(&line), out) < 0)
		result = err_set(err, "it says nothing that fits");
	str_release(&line);
	return result;
}

/* ---- the helper ------------------------------------------------------- */

static void
hungry_make_do(const struct hungry *hungry, const char *id,
    const struct err *err,
    struct str *out)
{
	const struct conf_milter *conf = hungry->conf;

	event(EV_MILTER_FAILED, id, "milter", slice_of(conf->socket),
	    "reason", slice_of(err->text), "fail",
	    slice_of(conf_milter_fails[conf->fail]), NULL);
	neighbour_fails("content-filter", conf->socket, err->text);
	if (conf->fail == MILTER_FAIL_REJECT ||
	    conf->fail == MILTER_FAIL_TEMPFAIL)
		neighbour_told("content-filter", conf->socket);
	str_reset(out);
	str_adds(out, conf->fail == MILTER_FAIL_REJECT ||
	    conf->fail == MILTER_FAIL_TEMPFAIL ? "refuse said=fail:" :
	    "pass said=fail:");
	xtext_encode(out, slice_of(conf->socket));
	switch (conf->fail) {
	case MILTER_FAIL_ACCEPT:
		break;
	case MILTER_FAIL_REJECT:
		str_adds(out, " 550 5.7.1 a filter does not work here");
		break;
	case MILTER_FAIL_TEMPFAIL:
		str_adds(out, " 451 4.7.1 a filter does not work now, "
		    "try later");
		break;
	case MILTER_FAIL_QUARANTINE:
		str_adds(out, " freeze=content-failed because it failed: ");
		hungry_add_text(out, slice_of(err->text));
		break;
	}
}

static bool
hungry_answer(void *state, struct slice question, struct str *out)
{
	struct hungry *hungry = state;
	int64_t deadline_ms = clock_steady_ms() + hungry->conf->timeout_ms;
	struct arena *arena = arena_new();
	struct slice id = { NULL, 0 }, file = { NULL, 0 };
	struct err err;
	struct str path = STR_INIT;

	(void)slice_word(&question, &id);
	(void)slice_word(&question, &file);
	str_addf(&path, "%s/public/" SLICE_FMT,
	    hungry->process->conf->spool_dir, SLICE_ARG(file));
	if (hungry_be_ready(hungry, deadline_ms, &err) != 0 ||
	    hungry_converse(hungry,
	    str_slice(&path), deadline_ms, out, &err) != 0) {
		hungry_make_do(hungry, slice_dup(arena, id), &err, out);
		hungry_let_go(hungry);
	} else {
		neighbour_works("content-filter", hungry->conf->socket);
	}
	str_release(&path);
	arena_free(&arena);
	return true;
}

void
hungry_serve(struct process *process, int socket)
{
	struct hungry hungry = { .process = process,
	    .conf = &process->conf->content_filter };

	if (hungry.conf->socket == NULL)
		return;
	peer_init(&hungry.peer);
	helper_serve(socket, hungry_answer, &hungry);
	hungry_let_go(&hungry);
	peer_release(&hungry.peer);
}
