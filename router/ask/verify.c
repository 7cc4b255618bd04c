/* verify.c - the process that answers whether a recipient would be served
 *
 * In     questions of smtpserver, on a socket in the run directory
 * Out    answers, each with the token of its question
 * Holds  the listening socket (bound by the router for life: nobody finds it
 *        missing while the process is replaced); tables and accounts
 * Trusts no question; who may ask is said by the socket's group and mode
 * Spec   verify.h; doc/INTERNALS section 6
 *
 * SPDX-License-Identifier: ISC
 */
#include "router/ask/verify.h"

#include <signal.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "daemon/child.h"
#include "io/ipc_link.h"
#include "io/unix_socket.h"
#include "router/ask/check.h"

#include "base/banned.h"

struct verify {
	struct process		*process;
	struct str		 path;		/* of the socket */
	int			 listener;
	struct child		*child;
};

/* ---- in the process --------------------------------------------------- */

struct caller {
	struct verify_server		*server;
	struct ipc_link			*link;
	TAILQ_ENTRY(caller)		 entry;
};

struct verify_server {
	struct process		*process;
	struct router		*router;
	struct arena		*arena;
	int			 listener, parent;
	struct watch		*listener_watch, *parent_watch;
	TAILQ_HEAD(, caller)	 callers;
	unsigned		 caller_count;
};

static void
caller_end(void *context)
{
	struct caller *caller = context;

	TAILQ_REMOVE(&caller->server->callers, caller, entry);
	caller->server->caller_count--;
	ipc_link_free(&caller->link);
	mem_free(&caller);
}

static enum ipc_link_taken
verify_line_take(void *context, struct slice line)
{
	struct caller *caller = context;
	struct verify_server *server = caller->server;
	struct str *out = ipc_link_out(caller->link);
	struct slice token;

	if (!slice_word(&line, &token))
		return IPC_LINK_NEXT;
	str_add_slice(out, token);
	str_addc(out, ' ');
	router_check_line(server->router, server->arena, line, out);
	str_addc(out, '\n');
	arena_reset(server->arena);
	return IPC_LINK_NEXT;
}

static void
verify_line_foresee(void *context, struct slice line)
{
	struct caller *caller = context;
	struct slice token;

	if (slice_word(&line, &token))
		router_check_foresee(caller->server->router,
		    caller->server->arena, line);
	arena_reset(caller->server->arena);
}

static const struct ipc_link_kind caller_kind = {
	.take = verify_line_take, .foresee = verify_line_foresee,
	.ended = caller_end,
};

static void
verify_on_listener(void *context, unsigned ready)
{
	struct verify_server *server = context;
	struct caller *caller;
	int fd = accept4(server->listener, NULL, NULL,
	    SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (fd < 0)
		return;
	if (server->caller_count >= VERIFY_CLIENTS_MAX) {
		close(fd);
		return;
	}
	caller = mem_alloc(1, sizeof(*caller));
	caller->server = server;
	caller->link = ipc_link_new(server->process->loop, fd, &caller_kind,
	    caller);
	TAILQ_INSERT_TAIL(&server->callers, caller, entry);
	server->caller_count++;
}

/* The router is gone, or has a successor of ours. */
static void
verify_on_parent(void *context, unsigned ready)
{
	struct verify_server *server = context;

	loop_stop(server->process->loop);
}

static void
verify_run(void *context, int parent)
{
	struct verify *verify = context;
	struct process *process = verify->process;
	struct verify_server server = { .process = process,
	    .listener = verify->listener, .parent = parent };
	struct caller *caller, *next;

	signal(SIGHUP, SIG_IGN);
	TAILQ_INIT(&server.callers);
	server.router = router_new(process->conf);
	server.arena = arena_new();
	server.listener_watch = loop_watch(process->loop, server.listener,
	    LOOP_READ, verify_on_listener, &server);
	server.parent_watch = loop_watch(process->loop, parent, LOOP_READ,
	    verify_on_parent, &server);
	loop_run(process->loop);
	TAILQ_FOREACH_SAFE(caller, &server.callers, entry, next)
		ipc_link_turn(caller->link);
	while ((caller = TAILQ_FIRST(&server.callers)) != NULL)
		caller_end(caller);
}

/* ---- in the router ---------------------------------------------------- */

/* It never says anything. */
static const struct child_kind verify_kind = {
	.name = "router-verify", .title = "router verify", .is_kept = true,
	.run = verify_run,
};

static void
verify_start(struct verify *verify)
{
	struct err err;

	if (child_start(verify->child, &err) == 0)
		return;
	warning("%s", err.text);
	child_start_later(verify->child);
}

struct verify *
verify_new(struct process *process, struct err *err)
{
	struct verify *verify = mem_alloc(1, sizeof(*verify));

	verify->process = process;
	str_init(&verify->path);
	str_addf(&verify->path, "%s/verify.sock", process->conf->run_dir);
	/* one router an instance: what lies there is a dead one's */
	verify->listener = unix_socket_listen(verify->path.buf, 0660, err);
	if (verify->listener < 0) {
		str_release(&verify->path);
		mem_free(&verify);
		return NULL;
	}
	daemon_share_socket(process, verify->path.buf);
	verify->child = child_new(process, &verify_kind, verify);
	verify_start(verify);
	return verify;
}

void
verify_renew(struct verify *verify)
{
	child_stop(verify->child);
	verify_start(verify);
}

void
verify_in_child(struct verify *verify)
{
	if (verify != NULL)
		close(verify->listener);
}

void
verify_free(struct verify **pverify)
{
	struct verify *verify = *pverify;

	if (verify == NULL)
		return;
	child_free(&verify->child);
	close(verify->listener);
	(void)unlink(verify->path.buf);
	str_release(&verify->path);
	mem_free(pverify);
}
