/* copier.c - the helper that has a message copied to other machines
 *
 * In     questions of sessions; answers of share
 * Out    descriptors of drafts to share; its answers to sessions
 * Holds  the questions that share has not answered, to ask them again
 * Trusts no session: it names a draft, and no other file; share's word that
 *        there is a copy
 * Spec   copier.h; doc/protocol/share.md section 4
 *
 * SPDX-License-Identifier: ISC
 */
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/queue.h>
#include <unistd.h>

#include "base/clock.h"
#include "daemon/sandbox.h"
#include "io/consult/share_ask.h"
#include "io/ipc_link.h"
#include "io/unix_socket.h"
#include "mail/spool/spool.h"
#include "smtpserver/copies/copier.h"
#include "smtpserver/helper/helper.h"

#include "base/banned.h"

const char copier_kind[] = "copy";

enum { TOKEN_BYTES = 32, AGAIN_MS = 200 };

struct copying {		/* a question that share has */
	char		 token[TOKEN_BYTES];
	char		*line;		/* "copy ID AREA" */
	char		*file;		/* below public/; NULL: no copy */
	bool		 was_asked;	/* another share had it before */
	TAILQ_ENTRY(copying) entry;
};

struct copier {
	struct process	*process;
	struct spool	*spool;
	struct ipc_link	*listener;
	struct ipc_link	*share;		/* NULL: not connected */
	TAILQ_HEAD(, copying) asked;	/* oldest first */
	struct timer	 again;
};

/* ---- answers ---------------------------------------------------------- */

static void
copying_free(struct copying *copying)
{
	mem_free(&copying->line);
	mem_free(&copying->file);
	mem_free(&copying);
}

static void
copying_answer(struct copier *copier, struct copying *copying,
    struct slice answer)
{
	TAILQ_REMOVE(&copier->asked, copying, entry);
	helper_add_answer(ipc_link_out(copier->listener),
	    slice_of(copying->token), true, answer);
	copying_free(copying);
}

static void
copying_fail(struct copier *copier, struct copying *copying,
    const char *words)
{
	struct str answer = STR_INIT;

	str_addf(&answer, "away %s", words);
	copying_answer(copier, copying, str_slice(&answer));
	str_release(&answer);
}

/* ---- questions to share ------------------------------------------------ */

/* Put it into what goes out.  -1: err; there is nothing to be copied. */
static int
copying_send(struct copier *copier, const struct copying *copying,
    struct err *err)
{
	if (copying->file != NULL) {
		int fd = openat(spool_dir_fd(copier->spool, AREA_PUBLIC, 0),
		    copying->file,
		    O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);

		if (fd < 0)
			return err_sys(err, "open draft");
		ipc_link_attach(copier->share, &fd, 1);
	}
	str_addf(ipc_link_out(copier->share), "%s %s\n", copying->token,
	    copying->line);
	return 0;
}

/* Each is asked once more, of who answers now; where nobody does, away. */
static void
copier_ask_all(struct copier *copier)
{
	struct copying *copying, *next;
	struct err err;

	TAILQ_FOREACH_SAFE(copying, &copier->asked, entry, next) {
		if (copier->share == NULL || copying->was_asked)
			copying_fail(copier, copying,
			    "the process share does not answer");
		else if (copying_send(copier, copying, &err) != 0)
			copying_fail(copier, copying, err.text);
		else
			copying->was_asked = true;
	}
}

static void copier_connect(struct copier *copier);

static void
copier_again(void *context)
{
	struct copier *copier = context;

	copier_connect(copier);
	copier_ask_all(copier);
}

/* An answer: "TOKEN ok ...". */
static enum ipc_link_taken
copier_take_answer(void *context, struct slice line)
{
	struct copier *copier = context;
	struct copying *copying;
	struct slice token, word;

	if (!slice_word(&line, &token) || !slice_word(&line, &word) ||
	    !slice_is(word, "ok"))
		return IPC_LINK_NONSENSE;
	TAILQ_FOREACH(copying, &copier->asked, entry)	/* about the first */
		if (slice_is(token, copying->token))
			break;
	if (copying != NULL)
		copying_answer(copier, copying, slice_trim(line));
	return IPC_LINK_NEXT;
}

/* A reload has put another in its place, or will soon. */
static void
copier_on_share_gone(void *context)
{
	struct copier *copier = context;

	ipc_link_free(&copier->share);
	timer_set(copier->process->loop, &copier->again, clock_steady_ms() +
	    AGAIN_MS, copier_again, copier);
}

static const struct ipc_link_kind copier_share_kind = {
	.take = copier_take_answer, .ended = copier_on_share_gone,
	.reads_on = true,
};

static void
copier_connect(struct copier *copier)
{
	struct err err;
	int fd = unix_socket_connect_in(copier->process->conf->run_dir,
	    SHARE_SOCKET, SOCK_NONBLOCK, &err);

	if (fd >= 0)
		copier->share = ipc_link_new(copier->process->loop, fd,
		    &copier_share_kind, copier);
}

/* ---- questions of sessions --------------------------------------------- */

/* "copy ID AREA FILE", "drop ID".  NULL: it is neither. */
static struct copying *
copier_read_question(struct slice line)
{
	struct slice token, verb, id, area, file;
	struct copying *copying;
	struct str out = STR_INIT;

	if (!slice_word(&line, &token) || token.n >= TOKEN_BYTES ||
	    !slice_word(&line, &verb) || !slice_word(&line, &id))
		return NULL;
	copying = mem_alloc(1, sizeof(*copying));
	memcpy(copying->token, token.p, token.n);
	if (slice_is(verb, "drop")) {
		str_addf(&out, "done " SLICE_FMT, SLICE_ARG(id));
	} else if (slice_is(verb, "copy") && slice_word(&line, &area) &&
	    slice_word(&line, &file) && file.p[0] != '/' &&
	    slice_find(file, '\0') == file.n) {
		str_addf(&out, "copy " SLICE_FMT " " SLICE_FMT, SLICE_ARG(id),
		    SLICE_ARG(area));
		copying->file = mem_alloc(1, file.n + 1);
		memcpy(copying->file, file.p, file.n);
	} else {
		mem_free(&copying);
		return NULL;
	}
	copying->line = mem_strdup(out.buf);
	str_release(&out);
	return copying;
}

static enum ipc_link_taken
copier_take_question(void *context, struct slice line)
{
	struct copier *copier = context;
	struct copying *copying = copier_read_question(line);
	struct err err;

	if (copying == NULL)
		return IPC_LINK_NEXT;
	TAILQ_INSERT_TAIL(&copier->asked, copying, entry);
	if (copier->share == NULL && copier->again.at_ms == 0)
		copier_connect(copier);
	if (copier->share != NULL) {
		if (copying_send(copier, copying, &err) != 0)
			copying_fail(copier, copying, err.text);
	} else if (copier->again.at_ms == 0) {
		copying_fail(copier, copying,
		    "the process share does not answer");
	}
	return IPC_LINK_NEXT;
}

static void
copier_on_listener_gone(void *context)
{
	struct copier *copier = context;

	loop_stop(copier->process->loop);
}

static const struct ipc_link_kind copier_listener_kind = {
	.take = copier_take_question, .ended = copier_on_listener_gone,
	.reads_on = true,
};

/* What came in a turn goes on at its end. */
static void
copier_on_turn_end(void *context)
{
	struct copier *copier = context;

	ipc_link_send(copier->listener);
	if (copier->share != NULL)
		ipc_link_send(copier->share);
}

/* Drafts, the journal, and share's socket. */
static void
copier_confine(const struct copier *copier)
{
	const struct conf *conf = copier->process->conf;
	struct arena *arena = arena_new();
	struct sandbox rules = {
		.appended = { conf->log_dir }, .appended_count = 1,
		.readable = { arena_printf(arena, "%s/public",
		    conf->spool_dir) }, .readable_count = 1,
		.sockets = SOCKETS_LOCAL };
	struct err err;

	(void)clock_steady_ms();
	if (sandbox_enter(&rules, &err) < 0)
		fatal("copies: %s", err.text);	/* the machine's error */
	arena_free(&arena);
}

void
copier_serve(struct process *process, int socket)
{
	struct copier copier = { .process = process };
	struct copying *copying;
	struct err err;

	signal(SIGHUP, SIG_IGN);	/* the listener makes a new one */
	TAILQ_INIT(&copier.asked);
	if (conf_spool_open(process->conf, 0, &copier.spool, &err) < 0)
		fatal("%s", err.text);	/* the machine's error */
	copier_confine(&copier);
	copier.listener = ipc_link_new(process->loop, socket,
	    &copier_listener_kind, &copier);
	loop_at_turn_end(process->loop, copier_on_turn_end, &copier);
	loop_run(process->loop);
	while ((copying = TAILQ_FIRST(&copier.asked)) != NULL) {
		TAILQ_REMOVE(&copier.asked, copying, entry);
		copying_free(copying);
	}
	timer_clear(&copier.again);
	ipc_link_free(&copier.share);
	spool_close(&copier.spool);
}
