/* local.c - mail of sendmail(1), shown to the milters that want to see it
 *
 * In     descriptors of message files, from the router
 * Out    what the milters say of each; changed drafts (row S0)
 * Holds  the messages that are being shown, a conversation for each; their
 *        descriptors
 * Trusts the router; no message, no milter
 * Spec   local.h; doc/INTERNALS.md rows L1 to L4; doc/FILTERS.md
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "daemon/child.h"
#include "grammar/message/header.h"
#include "io/ipc.h"
#include "io/unix_socket.h"
#include "smtpserver/milter/conversation.h"
#include "smtpserver/milter/local.h"

#include "base/banned.h"

enum {
	LOCAL_AGAIN_MS = 500,		/* until the router is asked again */
	LOCAL_RCPTS_MAX = 1000		/* of a header, told to milters */
};

struct local_mail {
	struct process	*process;
	struct child	*child;
	loop_fn		*child_fn;
	void		*context;
};

/* ---- in the process ---------------------------------------------------- */

struct local_room {
	struct process			*process;
	int				 socket;	/* -1: none yet */
	struct watch			*watch, *parent_watch;
	struct ipc_inbox		 inbox;
	struct str			 outbox;
	struct timer			 timer;		/* connect again */
	struct conversation_home	 home;
	TAILQ_HEAD(, local_shown)	 all, ended;
};

struct local_shown {
	struct local_room		*room;
	char				 token[24];
	int				 fd;
	struct filter_mail		 mail;		/* as it came */
	struct path			*rcpts;
	size_t				 rcpt_count, rcpt;
	struct conversation		*conversation;
	enum talk_step			 step;
	char				 freeze[32];
	char				 because[SPOOL_REASON_BYTES];
	TAILQ_ENTRY(local_shown)	 entry;
};

static void
local_shown_free(struct local_shown **at)
{
	struct local_shown *shown = *at;

	conversation_free(&shown->conversation);
	filter_mail_close(&shown->mail);
	if (shown->fd >= 0)
		close(shown->fd);
	mem_free(at);
}

/* Conversations must not end in their own call. */
static void
local_bury(struct local_room *room)
{
	struct local_shown *shown;

	while ((shown = TAILQ_FIRST(&room->ended)) != NULL) {
		TAILQ_REMOVE(&room->ended, shown, entry);
		local_shown_free(&shown);
	}
}

static void
local_shown_freeze(struct local_shown *shown,
    const struct filter_verdict *verdict)
{
	snprintf(shown->freeze, sizeof(shown->freeze), "%s", verdict->freeze);
	snprintf(shown->because, sizeof(shown->because), "%s",
	    verdict->because);
}

/* It is over; what follows "do" in line stands there already. */
static void
local_shown_end(struct local_shown *shown, const char *what,
    const struct filter_verdict *verdict, const char *why)
{
	struct local_room *room = shown->room;
	struct str *out = &room->outbox;

	json_open(out);
	json_text(out, "token", slice_of(shown->token));
	json_text(out, "do", slice_of(what));
	if (verdict != NULL && verdict->file[0] != '\0')
		json_text(out, "file", slice_of(verdict->file));
	if (shown->freeze[0] != '\0') {
		json_text(out, "freeze", slice_of(shown->freeze));
		why = shown->because;
	}
	if (verdict != NULL && verdict->word == FILTER_REFUSE)
		json_text(out, "status", slice_of(verdict->status));
	if (verdict != NULL && verdict->word == FILTER_REFUSE)
		why = verdict->text;
	json_text(out, "text", slice_of(why));
	json_close(out);
	TAILQ_REMOVE(&room->all, shown, entry);
	TAILQ_INSERT_TAIL(&room->ended, shown, entry);
}

/* ---- what milters are told --------------------------------------------- */

static void
local_say(struct str *out, enum filter_fact fact, const char *value)
{
	json_text(out, filter_fact_keys[fact], slice_of(value));
}

static void
local_add_client(const struct local_shown *shown, struct str *out)
{
	local_say(out, FILTER_HOST, shown->room->process->conf->host);
	local_say(out, FILTER_MTA, "zmailer");
	local_say(out, FILTER_SESSION, shown->mail.envelope.id);
	local_say(out, FILTER_LISTENER, "sendmail");
	local_say(out, FILTER_ADDR, "127.0.0.1");
	local_say(out, FILTER_PORT, "0");
	local_say(out, FILTER_NAME, "localhost");
	local_say(out, FILTER_PEER, "localhost [127.0.0.1]");
	local_say(out, FILTER_RESOLVE, "OK");
	local_say(out, FILTER_CONNECTIONS, "1");
}

/* A name of this host stands bare in the envelope. */
static void
local_add_address(const struct local_shown *shown, const struct path *path,
    enum filter_fact whole, enum filter_fact host, struct str *out)
{
	const char *own = shown->room->process->conf->host;
	bool is_bare = path->domain.n == 0;
	struct str text = STR_INIT;

	if (path_is_null(path)) {
		json_text(out, filter_fact_keys[whole], SLICE(""));
		json_text(out, filter_fact_keys[host], SLICE(""));
		return;
	}
	path_add(&text, path);
	if (is_bare)
		str_addf(&text, "@%s", own);
	json_text(out, filter_fact_keys[whole], str_slice(&text));
	json_text(out, filter_fact_keys[host], is_bare ? slice_of(own) :
	    path->domain);
	if (whole == FILTER_RCPT)
		json_text(out, filter_fact_keys[FILTER_RCPT_ADDR],
		    str_slice(&text));
	str_release(&text);
}

static void
local_add_facts(const struct local_shown *shown, struct str *out)
{
	static const struct path nobody;

	json_open(out);
	switch (shown->step) {
	case TALK_CONNECT:
		local_add_client(shown, out);
		break;
	case TALK_HELO:
		local_say(out, FILTER_HELO, shown->room->process->conf->host);
		break;
	case TALK_MAIL:
		local_add_address(shown, shown->mail.envelope.is_error ?
		    &nobody : &shown->mail.envelope.from, FILTER_SENDER,
		    FILTER_SENDER_HOST, out);
		local_say(out, FILTER_MAILER, "local");
		break;
	case TALK_RCPT:
		local_add_address(shown, &shown->rcpts[shown->rcpt],
		    FILTER_RCPT, FILTER_RCPT_HOST, out);
		local_say(out, FILTER_RCPT_MAILER, "local");
		break;
	default:
		local_say(out, FILTER_ID, shown->mail.envelope.id);
	}
	json_close(out);
	out->buf[--out->len] = '\0';	/* the end of its line */
}

/* ---- from step to step -------------------------------------------------- */

static void
local_ask(struct local_shown *shown)
{
	static const char *const names[TALK_STEPS] = {
		[TALK_CONNECT] = "connect", [TALK_HELO] = "helo",
		[TALK_MAIL] = "mail", [TALK_RCPT] = "rcpt",
		[TALK_DATA] = "data", [TALK_EOB] = "end" };
	struct str question = STR_INIT;

	str_addf(&question, "%s ", names[shown->step]);
	local_add_facts(shown, &question);
	conversation_ask(shown->conversation, slice_of(shown->token),
	    str_slice(&question));
	str_release(&question);
}

static enum talk_step
local_step_after(struct local_shown *shown)
{
	switch (shown->step) {
	case TALK_CONNECT:
		return TALK_HELO;
	case TALK_HELO:
		return TALK_MAIL;
	case TALK_MAIL:
		return shown->rcpt_count > 0 ? TALK_RCPT : TALK_DATA;
	case TALK_RCPT:
		return ++shown->rcpt < shown->rcpt_count ? TALK_RCPT :
		    TALK_DATA;
	default:
		return TALK_EOB;
	}
}

static void
local_judge(struct local_shown *shown, const struct filter_verdict *verdict)
{
	if (verdict->word == FILTER_REFUSE) {
		local_shown_end(shown, verdict->code < 500 ? "wait" : "refuse",
		    verdict, "");
		return;
	}
	if (verdict->word == FILTER_DISCARD) {
		local_shown_end(shown, "discard", NULL, "");
		return;
	}
	if (verdict->freeze[0] != '\0')
		local_shown_freeze(shown, verdict);
	if (shown->step == TALK_EOB) {
		local_shown_end(shown, "pass", verdict, "");
		return;
	}
	shown->step = local_step_after(shown);
	local_ask(shown);
}

static struct local_shown *
local_find(struct local_room *room, struct slice token)
{
	struct local_shown *shown;

	TAILQ_FOREACH(shown, &room->all, entry)
		if (slice_is(token, shown->token))
			return shown;
	return NULL;
}

static void
local_on_answer(void *context, struct slice token, bool is_ok,
    struct slice text)
{
	struct local_shown *shown = local_find(context, token);
	struct filter_verdict verdict;
	char key[FILTER_KEY_BYTES];
	unsigned wants;

	if (shown == NULL)
		return;
	if (!is_ok || filter_answer_key(&text, key, &wants) < 0 ||
	    filter_answer_parse(text, &verdict) < 0)
		local_shown_end(shown, "wait", NULL,
		    "its conversation with the milters broke");
	else
		local_judge(shown, &verdict);
}

/* ---- a message comes ---------------------------------------------------- */

static void
local_add_rcpt(struct local_shown *shown, const struct path *path)
{
	shown->rcpts = arena_grow(shown->mail.arena, shown->rcpts,
	    shown->rcpt_count, sizeof(*shown->rcpts));
	shown->rcpts[shown->rcpt_count++] = *path;
}

/* Those of the envelope, and with sendmail -t those of the header. */
static void
local_find_rcpts(struct local_shown *shown)
{
	static const char *const names[] = { "To", "Cc", "Bcc" };
	const struct envelope *envelope = &shown->mail.envelope;

	for (size_t i = 0; i < envelope->rcpt_count; i++)
		local_add_rcpt(shown, &envelope->rcpts[i].path);
	for (size_t i = 0; envelope->header_rcpts &&
	    i < shown->mail.field_count; i++) {
		struct slice rest = shown->mail.fields[i].value;
		struct path path;
		struct err err;
		bool is_named = false;

		for (size_t n = 0; n < 3; n++)
			is_named |= slice_is_nocase(
			    shown->mail.fields[i].name, names[n]);
		while (is_named && shown->rcpt_count < LOCAL_RCPTS_MAX &&
		    header_address(shown->mail.arena, &rest, &path, &err) == 1)
			local_add_rcpt(shown, &path);
	}
}

static void
local_show(struct local_room *room, struct slice token, int fd)
{
	struct local_shown *shown = mem_alloc(1, sizeof(*shown));
	struct err err;

	shown->room = room;
	shown->fd = fd;
	shown->step = TALK_CONNECT;
	snprintf(shown->token, sizeof(shown->token), SLICE_FMT,
	    SLICE_ARG(slice_first(token, sizeof(shown->token) - 1)));
	TAILQ_INSERT_TAIL(&room->all, shown, entry);
	if (filter_mail_open(&shown->mail, fd, &err) < 0) {
		local_shown_end(shown, "wait", NULL, err.text);
		return;
	}
	local_find_rcpts(shown);
	shown->conversation = conversation_new(&room->home, shown->token);
	conversation_of_local(shown->conversation, fd);
	local_ask(shown);
}

static void
local_take_line(struct local_room *room, struct slice line)
{
	struct slice word;
	int fd;

	if (!slice_word(&line, &word) || !slice_is(word, "show") ||
	    !slice_word(&line, &word))
		return;
	fd = ipc_take_fd(&room->inbox);
	if (fd >= 0)
		local_show(room, word, fd);
}

/* ---- the router ---------------------------------------------------------- */

static void local_connect(void *context);

/* It shows all of it again to whoever connects next. */
static void
local_hang_up(struct local_room *room)
{
	struct local_shown *shown;

	watch_free(&room->watch);
	close(room->socket);
	room->socket = -1;
	ipc_inbox_release(&room->inbox);
	ipc_inbox_init(&room->inbox);
	str_reset(&room->outbox);
	while ((shown = TAILQ_FIRST(&room->all)) != NULL) {
		TAILQ_REMOVE(&room->all, shown, entry);
		TAILQ_INSERT_TAIL(&room->ended, shown, entry);
	}
	timer_set(room->process->loop, &room->timer, clock_steady_ms() +
	    LOCAL_AGAIN_MS, local_connect, room);
}

static void
local_on_router(void *context, unsigned ready)
{
	struct local_room *room = context;
	struct slice line;
	size_t cursor = 0;
	int got;

	if (!(ready & (LOOP_READ | LOOP_HANGUP)))
		return;
	got = ipc_receive(room->socket, &room->inbox);
	if (got == IPC_END || (got == IPC_TROUBLE && errno != EAGAIN)) {
		local_hang_up(room);
		return;
	}
	while (ipc_line(&room->inbox, &cursor, &line) == IPC_LINE)
		local_take_line(room, line);
	ipc_inbox_consume(&room->inbox, cursor);
}

static void
local_connect(void *context)
{
	struct local_room *room = context;
	struct str path = STR_INIT;
	struct err err;

	str_addf(&path, "%s/milter.sock", room->process->conf->run_dir);
	room->socket = unix_socket_connect(path.buf, SOCK_NONBLOCK, &err);
	str_release(&path);
	if (room->socket < 0) {
		timer_set(room->process->loop, &room->timer,
		    clock_steady_ms() + LOCAL_AGAIN_MS, local_connect, room);
		return;
	}
	room->watch = loop_watch(room->process->loop, room->socket, LOOP_READ,
	    local_on_router, room);
}

static void
local_say_answers(void *context)
{
	struct local_room *room = context;
	ssize_t n;

	local_bury(room);
	if (room->socket < 0 || room->outbox.len == 0)
		return;
	n = ipc_send(room->socket, str_slice(&room->outbox), NULL, 0);
	if (n > 0)
		str_consume(&room->outbox, (size_t)n);
	watch_set(room->watch, LOOP_READ |
	    (n >= 0 && room->outbox.len > 0 ? LOOP_WRITE : 0));
}

/* The listener is gone, or has a successor of ours. */
static void
local_on_parent(void *context, unsigned ready)
{
	struct local_room *room = context;

	loop_stop(room->process->loop);
}

static void
local_serve(struct process *process, int parent)
{
	struct local_room room = { .process = process, .socket = -1,
	    .outbox = STR_INIT, .home = { process->loop, process->conf, NULL,
	    local_on_answer, &room } };
	struct local_shown *shown;
	struct err err;

	signal(SIGHUP, SIG_IGN);	/* the listener makes a new one */
	if (conf_spool_open(process->conf, 0, &room.home.spool, &err) != 0)
		fatal("%s", err.text);	/* the machine's error */
	TAILQ_INIT(&room.all);
	TAILQ_INIT(&room.ended);
	ipc_inbox_init(&room.inbox);
	room.parent_watch = loop_watch(process->loop, parent, LOOP_READ,
	    local_on_parent, &room);
	loop_at_turn_end(process->loop, local_say_answers, &room);
	local_connect(&room);
	loop_run(process->loop);
	TAILQ_CONCAT(&room.ended, &room.all, entry);
	while ((shown = TAILQ_FIRST(&room.ended)) != NULL) {
		TAILQ_REMOVE(&room.ended, shown, entry);
		local_shown_free(&shown);
	}
	spool_close(&room.home.spool);
}

/* ---- in the listener ----------------------------------------------------- */

static void
local_run(void *context, int socket)
{
	struct local_mail *local = context;

	local->child_fn(local->context);
	local_serve(local->process, socket);
}

static const struct child_kind local_kind = {
	.name = "smtpserver-local", .title = "smtpserver local",
	.is_kept = true, .run = local_run,
};

struct local_mail *
local_mail_start(struct process *process, loop_fn *child_fn, void *context)
{
	struct local_mail *local;
	struct err err;

	if (!conf_milters_see_local(process->conf))
		return NULL;
	local = mem_alloc(1, sizeof(*local));
	local->process = process;
	local->child_fn = child_fn;
	local->context = context;
	local->child = child_new(process, &local_kind, local);
	if (child_start(local->child, &err) < 0) {
		warning("%s", err.text);
		child_start_later(local->child);
	}
	return local;
}

void
local_mail_free(struct local_mail **local)
{
	if (*local == NULL)
		return;
	child_free(&(*local)->child);
	mem_free(local);
}
