/* deliver.c - a message for a program: whose, with what environment
 *
 * In     recipients: a command line and the uid it belongs to
 * Out    programs run; verdicts
 * Holds  the message in an unlinked file for as long as the job lasts
 * Trusts the router to have found out whose command it is
 * Spec   zmailer-pipe(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "grammar/xtext.h"
#include "transports/content.h"
#include "transports/pipe/command.h"
#include "transports/pipe/deliver.h"
#include "transports/pipe/program.h"

#include "base/banned.h"

enum { MEMORY_BYTES_MAX = 4 << 20, VARIABLES_MAX = 16 };

int
pipe_start(struct agent_run *run, struct err *err)
{
	struct content *content = mem_alloc(1, sizeof(*content));

	content_init(content);
	run->state = content;
	return 0;
}

void
pipe_finish(struct agent_run *run)
{
	struct content *content = run->state;

	content_release(content);
	mem_free(&content);
	run->state = NULL;
}

/* A file without a name: in memory when the message is small. */
static int
message_open(uint64_t size_bytes, struct err *err)
{
	FILE *file;
	int fd = -1;

#ifdef MFD_CLOEXEC
	if (size_bytes <= MEMORY_BYTES_MAX)
		fd = memfd_create("message", MFD_CLOEXEC);
	if (fd >= 0)
		return fd;
#endif
	file = tmpfile();
	if (file != NULL) {
		fd = fcntl(fileno(file), F_DUPFD_CLOEXEC, 0);
		fclose(file);
	}
	return fd >= 0 ? fd : err_sys(err, "a file for the message");
}

/* The message as this recipient's program reads it: From_ line,
 * Return-Path, Delivered-To, header, body. */
static int
message_make(const struct content *content, uint64_t size_bytes,
    const char *recipient, struct err *err)
{
	struct str trace = STR_INIT;
	uint64_t bytes;
	int fd = message_open(size_bytes, err);

	if (fd < 0)
		return -1;
	str_addf(&trace, "Delivered-To: %s\n", recipient);
	if (content_write(content, fd, str_slice(&trace), &bytes, err) < 0 ||
	    lseek(fd, 0, SEEK_SET) < 0) {
		close(fd);
		fd = -1;
	}
	str_release(&trace);
	return fd;
}

/* ---- environment ------------------------------------------------------- */

struct environment {
	struct arena	*arena;
	char		**variables;
	size_t		 count;
};

static void
variable(struct environment *environment, const char *name,
    struct slice value)
{
	struct str text = STR_INIT;

	if (environment->count == VARIABLES_MAX)
		return;
	str_addf(&text, "%s=", name);
	command_add_value(&text, value);
	environment->variables[environment->count++] =
	    arena_dup(environment->arena, text.buf, text.len);
	str_release(&text);
}

/* Nothing of our own environment but the time zone. */
static char **
environment_make(struct arena *arena, const struct work_job *job,
    const struct account *owner, const char *recipient)
{
	struct environment environment = { .arena = arena,
	    .variables = arena_alloc(arena,
	    (VARIABLES_MAX + 1) * sizeof(char *)) };
	struct slice name = slice_of(owner->name);

	variable(&environment, "PATH", SLICE("/usr/local/bin:/usr/bin:/bin"));
	variable(&environment, "SHELL", SLICE("/bin/sh"));
	variable(&environment, "HOME", slice_of(owner->home));
	variable(&environment, "USER", name);
	variable(&environment, "LOGNAME", name);
	variable(&environment, "SENDER",
	    job->sender.n > 0 ? job->sender : SLICE("MAILER-DAEMON"));
	variable(&environment, "RECIPIENT", slice_of(recipient));
	variable(&environment, "ZMAILER_ID", slice_of(job->id));
	if (getenv("TZ") != NULL)
		variable(&environment, "TZ", slice_of(getenv("TZ")));
	return environment.variables;
}

/* ---- one recipient ----------------------------------------------------- */

/* The address it was sent to, if the envelope tells (RFC 3461 section 4.2),
 * else the owner's. */
static const char *
recipient_of(struct arena *arena, const struct conf *conf,
    const struct work_rcpt *rcpt, const struct account *owner)
{
	struct slice rest = rcpt->orcpt, type;
	struct str text = STR_INIT, plain = STR_INIT;
	const char *result;

	if (slice_cut(&rest, ';', &type) && rest.p != NULL &&
	    xtext_decode(rest, &plain, NULL) == 1 && plain.len > 0)
		command_add_value(&text, str_slice(&plain));
	else
		str_addf(&text, "%s@%s", owner->name, conf->host);
	result = arena_dup(arena, text.buf, text.len);
	str_release(&plain);
	str_release(&text);
	return result;
}

static int
owner_find(const struct work_rcpt *rcpt, struct account *out,
    struct err *err)
{
	const struct account *found;
	int got = account_by_uid(account_is_root() ? rcpt->uid :
	    (int64_t)geteuid(), &found, err);

	if (got > 0)
		*out = *found;
	else if (got == 0 && !account_is_root()) {
		account_of_ids(geteuid(), getegid(), out);
		got = 1;
	}
	return got > 0 ? 0 : got < 0 ? -1 : err_set(err,
	    "the command belongs to uid %lld, which has no account",
	    (long long)rcpt->uid);
}

static void
trouble(struct verdict *verdict, const struct err *err)
{
	verdict_set(verdict, VERDICT_DEFERRED, "4.3.0", "pipe", "%s",
	    err->text);
}

static void
deliver(struct agent_run *run, const struct work_job *job, size_t index,
    struct verdict *verdict)
{
	const struct work_rcpt *rcpt = &job->rcpts[index];
	struct program program = {
		.timeout_ms = run->conf->timeouts.job_ms };
	struct program_end end;
	struct account owner;
	const char *recipient;
	struct err err;

	if (command_split(run->arena, rcpt->user, &program.argv, &err) < 0) {
		verdict_set(verdict, VERDICT_FAILED, "5.3.5", "pipe", "%s",
		    err.text);
		return;
	}
	if (owner_find(rcpt, &owner, &err) < 0) {
		trouble(verdict, &err);
		return;
	}
	recipient = recipient_of(run->arena, run->conf, rcpt, &owner);
	program.message_fd = message_make(run->state, job->size_bytes,
	    recipient, &err);
	if (program.message_fd < 0) {
		trouble(verdict, &err);
		return;
	}
	program.owner = &owner;
	program.directory = owner.home[0] != '\0' ? owner.home : "/";
	program.environment = environment_make(run->arena, job, &owner,
	    recipient);
	program_run(&program, &end);
	close(program.message_fd);
	program_verdict(&end, verdict);
}

int
pipe_job(struct agent_run *run, struct work_job *job, int body_fd,
    struct verdict verdicts[])
{
	struct err err;

	if (content_load(run->state, CONTENT_FROM_LINE, job, body_fd,
	    &err) < 0) {
		for (size_t i = 0; i < job->rcpt_count; i++)
			trouble(&verdicts[i], &err);
		return 0;
	}
	for (size_t i = 0; i < job->rcpt_count; i++)
		deliver(run, job, i, &verdicts[i]);
	return 0;
}
