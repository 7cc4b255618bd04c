/* dovecot.c - AUTH exchanges that Dovecot judges
 *
 * In     questions of the listener; lines of Dovecot
 * Out    the other of the two
 * Holds  a connection to Dovecot, made when first asked; an entry for each
 *        exchange under way
 * Trusts Dovecot's verdict; no token of a worker: it has a secret part
 * Spec   auth/dovecot.h; Dovecot's auth-protocol.txt
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "journal/event.h"
#include "base/mem.h"
#include "grammar/base64.h"
#include "io/ipc.h"
#include "daemon/auth/dovecot_lines.h"
#include "smtpserver/auth/dovecot.h"
#include "smtpserver/helper/helper.h"

#include "base/banned.h"

struct exchange {
	unsigned		 id;
	uint64_t		 secret;	/* of its token */
	struct str		 asker;		/* empty: nobody asks now */
	int64_t			 until_ms;
	TAILQ_ENTRY(exchange)	 entry;
};

struct dovecot {
	struct process		*process;
	int			 listener, server;	/* server -1: none */
	struct watch		*listener_watch, *server_watch;
	struct ipc_inbox	 listener_inbox, server_inbox;
	struct str		 to_listener, to_server;
	TAILQ_HEAD(, exchange)	 exchanges;		/* oldest first */
	unsigned		 count, ids;
};

/* ---- answers ---------------------------------------------------------- */

static void
listener_write(struct dovecot *dovecot)
{
	ssize_t n = ipc_send(dovecot->listener,
	    str_slice(&dovecot->to_listener), NULL, 0);

	if (n > 0)
		str_consume(&dovecot->to_listener, (size_t)n);
	watch_set(dovecot->listener_watch, LOOP_READ |
	    (n >= 0 && dovecot->to_listener.len > 0 ? LOOP_WRITE : 0));
}

static void
dovecot_say(struct dovecot *dovecot, struct slice token, bool is_ok,
    struct slice text)
{
	helper_add_answer(&dovecot->to_listener, token, is_ok, text);
	listener_write(dovecot);
}

static void
exchange_end(struct dovecot *dovecot, struct exchange *exchange)
{
	TAILQ_REMOVE(&dovecot->exchanges, exchange, entry);
	dovecot->count--;
	str_release(&exchange->asker);
	mem_free(&exchange);
}

/* An answer to whoever asked; nothing when nobody does. */
static void
exchange_say(struct dovecot *dovecot, struct exchange *exchange, bool is_ok,
    struct slice text)
{
	if (exchange->asker.len > 0)
		dovecot_say(dovecot, str_slice(&exchange->asker), is_ok, text);
	str_reset(&exchange->asker);
}

/* ---- Dovecot ---------------------------------------------------------- */

static void
dovecot_lost(struct dovecot *dovecot)
{
	struct exchange *exchange;

	watch_free(&dovecot->server_watch);
	close(dovecot->server);
	dovecot->server = -1;
	ipc_inbox_release(&dovecot->server_inbox);
	str_reset(&dovecot->to_server);
	while ((exchange = TAILQ_FIRST(&dovecot->exchanges)) != NULL) {
		exchange_say(dovecot, exchange, false,
		    SLICE("dovecot closed the connection"));
		exchange_end(dovecot, exchange);
	}
}

static void
dovecot_write(struct dovecot *dovecot)
{
	ssize_t n = ipc_send(dovecot->server, str_slice(&dovecot->to_server),
	    NULL, 0);

	if (n > 0) {
		explicit_bzero(dovecot->to_server.buf, (size_t)n);
		str_consume(&dovecot->to_server, (size_t)n);
	}
	watch_set(dovecot->server_watch, LOOP_READ |
	    (n >= 0 && dovecot->to_server.len > 0 ? LOOP_WRITE : 0));
}

static void
dovecot_reply_take(struct dovecot *dovecot, const struct dovecot_reply *reply)
{
	struct str text = STR_INIT;
	struct exchange *exchange;

	TAILQ_FOREACH(exchange, &dovecot->exchanges, entry)
		if (exchange->id == reply->id)
			break;
	if (exchange == NULL)
		return;
	if (reply->verb == DOVECOT_CONT) {
		str_addf(&text, "more %u.%" PRIx64 " " SLICE_FMT,
		    exchange->id, exchange->secret, SLICE_ARG(reply->data));
	} else if (reply->verb == DOVECOT_OK) {
		str_adds(&text, "ok ");
		base64_add(&text, reply->user);
	} else if (reply->is_temporary) {
		str_adds(&text, "later");
	} else {
		str_adds(&text, "no ");
		base64_add(&text, reply->user);
	}
	exchange_say(dovecot, exchange, true, str_slice(&text));
	if (reply->verb != DOVECOT_CONT)
		exchange_end(dovecot, exchange);
	str_release(&text);
}

static void
dovecot_on_server(void *context, unsigned ready)
{
	struct dovecot *dovecot = context;
	struct dovecot_reply reply;
	struct slice line;
	size_t cursor = 0;
	int got;

	if (ready & LOOP_WRITE)
		dovecot_write(dovecot);
	if (!(ready & (LOOP_READ | LOOP_HANGUP)))
		return;
	got = ipc_receive(dovecot->server, &dovecot->server_inbox);
	if (got == 0 || (got < 0 && errno != EAGAIN)) {
		dovecot_lost(dovecot);
		return;
	}
	while (ipc_line(&dovecot->server_inbox, &cursor, &line) == IPC_LINE)
		if (dovecot_reply_parse(line, &reply) &&
		    reply.verb != DOVECOT_OTHER)
			dovecot_reply_take(dovecot, &reply);
	ipc_inbox_consume(&dovecot->server_inbox, cursor);
}

/* A local socket: connected at once, or its listener is overrun. */
static int
dovecot_connect(struct dovecot *dovecot, struct err *err)
{
	const char *path = dovecot->process->conf->auth.path;
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd;

	if (strlcpy(address.sun_path, path, sizeof(address.sun_path)) >=
	    sizeof(address.sun_path))
		return err_set(err, "the path %s is too long for a socket",
		    path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return err_sys(err, "cannot make a socket");
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0) {
		err_sys(err, "cannot reach dovecot at %s", path);
		close(fd);
		return -1;
	}
	dovecot->server = fd;
	ipc_inbox_init(&dovecot->server_inbox);
	dovecot->server_watch = loop_watch(dovecot->process->loop, fd,
	    LOOP_READ, dovecot_on_server, dovecot);
	dovecot_add_greeting(&dovecot->to_server);
	return 0;
}

/* ---- questions -------------------------------------------------------- */

static void
exchanges_tidy(struct dovecot *dovecot)
{
	struct exchange *exchange;

	while ((exchange = TAILQ_FIRST(&dovecot->exchanges)) != NULL &&
	    (exchange->until_ms <= clock_steady_ms() ||
	    dovecot->count > DOVECOT_EXCHANGES_MAX)) {
		if (dovecot->server >= 0)
			str_addf(&dovecot->to_server, "CANCEL\t%u\n",
			    exchange->id);
		exchange_say(dovecot, exchange, false,
		    SLICE("it took too long"));
		exchange_end(dovecot, exchange);
	}
}

static bool
exchange_begin(struct dovecot *dovecot, struct slice asker, struct slice args)
{
	struct exchange *exchange;
	unsigned id = ++dovecot->ids;

	if (!dovecot_add_auth(&dovecot->to_server, id, args))
		return false;
	exchange = mem_alloc(1, sizeof(*exchange));
	exchange->id = id;
	arc4random_buf(&exchange->secret, sizeof(exchange->secret));
	str_init(&exchange->asker);
	str_add_slice(&exchange->asker, asker);
	exchange->until_ms = clock_steady_ms() + DOVECOT_EXCHANGE_MS;
	TAILQ_INSERT_TAIL(&dovecot->exchanges, exchange, entry);
	dovecot->count++;
	exchanges_tidy(dovecot);
	return true;
}

static struct exchange *
exchange_find(struct dovecot *dovecot, struct slice token)
{
	struct exchange *exchange;
	char text[64];

	TAILQ_FOREACH(exchange, &dovecot->exchanges, entry) {
		snprintf(text, sizeof(text), "%u.%" PRIx64, exchange->id,
		    exchange->secret);
		if (slice_is(token, text))
			return exchange;
	}
	return NULL;
}

static bool
exchange_go_on(struct dovecot *dovecot, struct slice asker, struct slice args)
{
	struct slice token, response;
	struct exchange *exchange;

	if (!slice_word(&args, &token) || !slice_word(&args, &response) ||
	    slice_find(response, '\t') < response.n)
		return false;
	exchange = exchange_find(dovecot, token);
	if (exchange == NULL)
		return false;
	if (slice_is(response, "=") || slice_is(response, "-"))
		response.n = 0;
	str_reset(&exchange->asker);
	str_add_slice(&exchange->asker, asker);
	str_addf(&dovecot->to_server, "CONT\t%u\t" SLICE_FMT "\n",
	    exchange->id, SLICE_ARG(response));
	return true;
}

static void
exchange_give_up(struct dovecot *dovecot, struct slice args)
{
	struct exchange *exchange;
	struct slice token;

	if (dovecot->server < 0 || !slice_word(&args, &token))
		return;
	exchange = exchange_find(dovecot, token);
	if (exchange == NULL)
		return;
	str_addf(&dovecot->to_server, "CANCEL\t%u\n", exchange->id);
	exchange_end(dovecot, exchange);
	dovecot_write(dovecot);
}

static void
dovecot_question_take(struct dovecot *dovecot, struct slice line)
{
	struct slice asker, verb = { NULL, 0 };
	struct err err = { "there is no such exchange" };
	bool is_good;

	if (!slice_word(&line, &asker))
		return;
	(void)slice_word(&line, &verb);
	if (slice_is(verb, "give-up")) {
		exchange_give_up(dovecot, line);
		dovecot_say(dovecot, asker, true, SLICE(""));
		return;
	}
	if (dovecot->server < 0 && dovecot_connect(dovecot, &err) != 0) {
		dovecot_say(dovecot, asker, false, slice_of(err.text));
		return;
	}
	is_good = slice_is(verb, "start") ? exchange_begin(dovecot, asker,
	    line) :
	    slice_is(verb, "go-on") && exchange_go_on(dovecot, asker, line);
	if (!is_good)
		dovecot_say(dovecot, asker, false, slice_of(err.text));
	dovecot_write(dovecot);
}

static void
dovecot_on_listener(void *context, unsigned ready)
{
	struct dovecot *dovecot = context;
	struct slice line;
	size_t cursor = 0;
	int got;

	if (ready & LOOP_WRITE)
		listener_write(dovecot);
	if (!(ready & (LOOP_READ | LOOP_HANGUP)))
		return;
	got = ipc_receive(dovecot->listener, &dovecot->listener_inbox);
	if (got == 0 || (got < 0 && errno != EAGAIN)) {
		loop_stop(dovecot->process->loop);
		return;
	}
	while (ipc_line(&dovecot->listener_inbox, &cursor, &line) == IPC_LINE)
		dovecot_question_take(dovecot, line);
	ipc_inbox_consume(&dovecot->listener_inbox, cursor);
}

void
auth_dovecot_serve(struct process *process, int socket)
{
	struct dovecot dovecot = { .process = process, .listener = socket,
	    .server = -1 };

	signal(SIGHUP, SIG_IGN);	/* the listener makes a new one */
	(void)fcntl(socket, F_SETFL, O_NONBLOCK);
	TAILQ_INIT(&dovecot.exchanges);
	ipc_inbox_init(&dovecot.listener_inbox);
	str_init(&dovecot.to_listener);
	str_init(&dovecot.to_server);
	dovecot.listener_watch = loop_watch(process->loop, socket, LOOP_READ,
	    dovecot_on_listener, &dovecot);
	loop_run(process->loop);
}
