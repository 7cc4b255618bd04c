/* process.c - the process that has the keys of sign statements
 *
 * In     "worker" with a socket, "reload" from the router; "key" and "sign"
 *        from workers
 * Out    kinds of keys, signatures, refusals with their reason
 * Holds  the keys; a socket for each worker
 * Trusts the router; no worker: one that talks nonsense is dropped
 * Spec   signer.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <signal.h>
#include <sys/queue.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "io/ipc_link.h"
#include "journal/event.h"
#include "router/sign/signer.h"
#include "router/sign/signer_keys.h"

#include "base/banned.h"

struct sign_asker {		/* a worker */
	struct sign_server	*server;
	struct ipc_link		*link;
	TAILQ_ENTRY(sign_asker)	 entry;
};

struct sign_server {
	struct process	*process;
	struct signer_keys *keys;
	struct ipc_link	*router;
	TAILQ_HEAD(, sign_asker) askers;
};

/* ---- workers ---------------------------------------------------------- */

static void
sign_asker_end(void *context)
{
	struct sign_asker *asker = context;

	ipc_link_free(&asker->link);
	TAILQ_REMOVE(&asker->server->askers, asker, entry);
	mem_free(&asker);
}

static enum ipc_link_taken
sign_asker_take(void *context, struct slice line)
{
	struct sign_asker *asker = context;

	if (signer_keys_answer(asker->server->keys, line, clock_steady_ms(),
	    ipc_link_out(asker->link)))
		return IPC_LINK_NEXT;
	warning("a worker talks nonsense");
	return IPC_LINK_NONSENSE;
}

/* A worker waits for each answer before it asks again. */
static const struct ipc_link_kind sign_asker_kind = {
	.take = sign_asker_take, .ended = sign_asker_end,
};

/* ---- the router ------------------------------------------------------- */

static void
sign_asker_new(struct sign_server *server)
{
	int fd = ipc_link_take_fd(server->router);
	struct sign_asker *asker;

	if (fd < 0)
		fatal("a worker without a socket");	/* the router's */
	asker = mem_alloc(1, sizeof(*asker));
	asker->server = server;
	asker->link = ipc_link_new(server->process->loop, fd,
	    &sign_asker_kind, asker);
	TAILQ_INSERT_TAIL(&server->askers, asker, entry);
}

/* A bad file is refused, and said so, by the router. */
static void
sign_server_reload(struct sign_server *server)
{
	struct arena *arena = arena_new();
	struct conf_report report;
	struct conf *fresh = conf_load(server->process->conf_path, arena,
	    &report);

	if (fresh != NULL)
		signer_keys_configure(server->keys, fresh);
	conf_free(&fresh);
	arena_free(&arena);
}

static enum ipc_link_taken
sign_server_take(void *context, struct slice line)
{
	struct sign_server *server = context;

	if (slice_is(line, "reload"))
		sign_server_reload(server);
	else
		sign_asker_new(server);
	return IPC_LINK_NEXT;
}

static void
sign_server_on_router_gone(void *context)
{
	struct sign_server *server = context;

	loop_stop(server->process->loop);
}

static const struct ipc_link_kind sign_router_kind = {
	.take = sign_server_take, .ended = sign_server_on_router_gone,
};

void
signer_process(struct process *process, int socket, bool is_first)
{
	struct sign_server *server = mem_alloc(1, sizeof(*server));

	daemon_keep_secrets(process, false);
	signal(SIGHUP, SIG_IGN);	/* the router tells */
	signal(SIGINT, SIG_IGN);
	server->process = process;
	TAILQ_INIT(&server->askers);
	server->router = ipc_link_new(process->loop, socket,
	    &sign_router_kind, server);
	server->keys = signer_keys_new(is_first);
	signer_keys_configure(server->keys, process->conf);
	event_flush();
	loop_run(process->loop);
	event_flush();
	_exit(0);
}
