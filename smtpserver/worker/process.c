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
#include <signal.h>
#include <unistd.h>

#include "journal/event.h"
#include "io/ipc_link.h"
#include "smtpserver/worker/confine.h"
#include "smtpserver/worker/worker.h"

#include "base/banned.h"

struct link {
	struct process		*process;
	struct worker		*worker;
	struct ipc_link		*listener;
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
		str_adds(ipc_link_out(link->listener), "leaving\n");
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
	int fd = ipc_link_take_fd(link->listener);

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

static enum ipc_link_taken
worker_on_line(void *context, struct slice line)
{
	if (!worker_line_take(context, line))	/* it is no stranger */
		fatal("the listener talks nonsense");
	return IPC_LINK_NEXT;
}

static void
worker_say_lines(void *context)
{
	struct link *link = context;

	worker_take_lines(link->worker, ipc_link_out(link->listener));
	ipc_link_send(link->listener);
}

static const struct ipc_link_kind worker_listener_kind = {
	.take = worker_on_line, .ended = worker_on_stop, .reads_on = true,
};

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
	struct link link = { .process = process };

	link.worker = worker_new(process->loop, spool,
	    settings_new(process->conf, false));
	worker_equip(link.worker, sockets->keys < 0 ? NULL :
	    keyring_new(process->loop, sockets->keys, process->conf),
	    sockets->failures, sockets->is_submission);
	worker_share(link.worker, sockets->space, sockets->part);
	link.listener = ipc_link_new(process->loop, sockets->listener,
	    &worker_listener_kind, &link);
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
