/* process.c - the process of a session worker
 *
 * In     lines and descriptors from the listener
 * Out    lines about sessions that ended
 * Holds  the worker; what the listener has not taken yet
 * Trusts the listener, who made it; a line it does not know ends it
 * Spec   worker.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "journal/event.h"
#include "io/ipc.h"
#include "smtpserver/worker/confine.h"
#include "smtpserver/worker/worker.h"

#include "base/banned.h"

struct link {
	struct process		*process;
	struct worker		*worker;
	int			 socket;
	struct watch		*watch;
	struct ipc_inbox	 inbox;
	struct str		 outbox;
};

static void
worker_on_stop(void *context)
{
	struct link *link = context;

	worker_stop(link->worker);
}

/* A bad file is refused, and said so, by the listener, and what this process
 * was not allowed to read when it began is for a fresh one: only when the
 * file changes meanwhile is there anything to say. */
static void
worker_on_reload(void *context)
{
	struct link *link = context;
	struct arena *arena = arena_new();
	struct conf_report report;
	struct conf *fresh = conf_load(link->process->conf_path, arena,
	    &report);

	if (fresh == NULL || !session_may_read(link->process->conf, fresh)) {
		conf_free(&fresh);
		str_adds(&link->outbox, "leaving\n");
	} else if (daemon_restart_reason(link->process->conf, fresh) ==
	    NULL) {
		worker_reload(link->worker, settings_new(fresh, true));
	} else {
		conf_free(&fresh);
	}
	arena_free(&arena);
}

static bool
worker_open_take(struct link *link, struct slice args)
{
	struct slice token_text, endpoint, listener, count;
	struct client client;
	struct err err;
	uint64_t token, connections;
	int fd = ipc_take_fd(&link->inbox);

	if (fd < 0)
		return false;
	if (!slice_word(&args, &token_text) ||
	    !slice_word(&args, &endpoint) || !slice_word(&args, &listener) ||
	    !slice_number(token_text, 0, UINT32_MAX, &token) ||
	    !slice_word(&args, &count) ||
	    !slice_number(count, 0, UINT32_MAX, &connections) ||
	    client_parse(endpoint, listener, &client, &err) < 0) {
		close(fd);
		return false;
	}
	client.connections = (unsigned)connections;
	client.is_tls = slice_is(slice_trim(args), "tls");
	worker_open(link->worker, fd, (uint32_t)token, &client);
	return true;
}

static bool
worker_answer_take(struct link *link, struct slice args)
{
	struct slice token_text, result;
	uint64_t token;

	if (!slice_word(&args, &token_text) || !slice_word(&args, &result) ||
	    !slice_number(token_text, 1, UINT64_MAX, &token))
		return false;
	worker_answer(link->worker, token, slice_is(result, "ok") ?
	    ASK_ANSWERED : ASK_TROUBLE, slice_from(args, args.n > 0));
	return true;
}

static bool
worker_line_take(struct link *link, struct slice line)
{
	struct slice verb;

	if (!slice_word(&line, &verb))
		return false;
	if (slice_is(verb, "open"))
		return worker_open_take(link, line);
	if (slice_is(verb, "answer"))
		return worker_answer_take(link, line);
	if (slice_is(verb, "pressure"))
		worker_press(link->worker, slice_is(slice_trim(line), "0") ?
		    0 : 1);
	else if (slice_is(verb, "reload"))
		worker_on_reload(link);
	else if (slice_is(verb, "leave"))
		worker_leave(link->worker);
	else if (slice_is(verb, "stop"))
		worker_stop(link->worker);
	else
		return false;
	return true;
}

static void
worker_on_listener_read(struct link *link)
{
	struct slice line;
	size_t cursor = 0;
	int got = ipc_receive(link->socket, &link->inbox);

	if (got == 0 || (got < 0 && errno != EAGAIN)) {
		watch_free(&link->watch);	/* the listener is gone */
		worker_stop(link->worker);
		return;
	}
	while (ipc_line(&link->inbox, &cursor, &line) == IPC_LINE)
		if (!worker_line_take(link, line))	/* it is no stranger */
			fatal("the listener talks nonsense");
	ipc_inbox_consume(&link->inbox, cursor);
}

static void
worker_on_listener(void *context, unsigned ready)
{
	struct link *link = context;

	if (ready & (LOOP_READ | LOOP_HANGUP))
		worker_on_listener_read(link);
	/* what can be written goes out at the end of the turn */
}

static void
worker_say_lines(void *context)
{
	struct link *link = context;
	ssize_t n;

	worker_take_lines(link->worker, &link->outbox);
	if (link->outbox.len == 0 || link->watch == NULL)
		return;
	n = ipc_send(link->socket, str_slice(&link->outbox), NULL, 0);
	if (n > 0)
		str_consume(&link->outbox, (size_t)n);
	watch_set(link->watch, LOOP_READ |
	    (n >= 0 && link->outbox.len > 0 ? LOOP_WRITE : 0));
}

static void
worker_confine(const struct process *process)
{
	struct err err;

	if (session_confine(process->conf, process->conf_path, &err) < 0)
		fatal("%s", err.text);	/* a wall that is there must stand */
}

void
worker_process(struct process *process, const struct worker_sockets *sockets,
    struct spool *spool)
{
	int socket = sockets->listener;
	struct link link;

	memset(&link, 0, sizeof(link));
	link.process = process;
	link.socket = socket;
	(void)fcntl(socket, F_SETFL, O_NONBLOCK);
	ipc_inbox_init(&link.inbox);
	str_init(&link.outbox);
	link.worker = worker_new(process->loop, spool,
	    settings_new(process->conf, false));
	worker_equip(link.worker, sockets->keys < 0 ? NULL :
	    keyring_new(process->loop, sockets->keys, process->conf),
	    sockets->failures, sockets->is_submission);
	worker_share(link.worker, sockets->space, sockets->part);
	link.watch = loop_watch(process->loop, socket, LOOP_READ,
	    worker_on_listener,
	    &link);
	worker_on_lines(link.worker, worker_say_lines, &link);
	loop_at_turn_end(process->loop, worker_say_lines, &link);
	loop_signal(process->loop, SIGTERM, worker_on_stop, &link);
	loop_signal(process->loop, SIGINT, worker_on_stop, &link);
	loop_signal(process->loop, SIGHUP, worker_on_reload, &link);
	worker_sync_beside(link.worker, WORKER_SLOW_US);
	worker_confine(process);
	loop_run(process->loop);
	worker_free(&link.worker);
	event_flush();
	_exit(0);
}
