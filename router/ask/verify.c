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

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/mem.h"
#include "daemon/child.h"
#include "io/ipc.h"
#include "router/ask/check.h"

#include "base/banned.h"

enum { LISTEN_BACKLOG = 16 };

struct verify {
	struct process		*process;
	struct sockaddr_un	 address;
	int			 listener;
	struct child		*child;
};

/* ---- in the process --------------------------------------------------- */

struct caller {
	struct verify_server		*server;
	int			 socket;
	struct watch		*watch;
	struct ipc_inbox	 inbox;
	struct str		 outbox;
	TAILQ_ENTRY(caller)	 entry;
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
caller_end(struct caller *caller)
{
	TAILQ_REMOVE(&caller->server->callers, caller, entry);
	caller->server->caller_count--;
	watch_free(&caller->watch);
	close(caller->socket);
	ipc_inbox_release(&caller->inbox);
	str_release(&caller->outbox);
	mem_free(&caller);
}

static void
caller_answer_lines(struct caller *caller)
{
	struct verify_server *server = caller->server;
	struct slice line, token;
	size_t cursor = 0;

	while (ipc_line(&caller->inbox, &cursor, &line) == IPC_LINE) {
		if (!slice_word(&line, &token))
			continue;
		str_add_slice(&caller->outbox, token);
		str_addc(&caller->outbox, ' ');
		router_check_line(server->router, server->arena, line,
		    &caller->outbox);
		str_addc(&caller->outbox, '\n');
		arena_reset(server->arena);
	}
	ipc_inbox_consume(&caller->inbox, cursor);
}

/* returns false when it is gone, or has more to say than a line */
static bool
caller_serve(struct caller *caller, unsigned ready)
{
	ssize_t sent;
	int got;

	if (ready & (LOOP_READ | LOOP_HANGUP)) {
		got = ipc_receive(caller->socket, &caller->inbox);
		if (got == 0 || (got < 0 && errno != EAGAIN))
			return false;
		caller_answer_lines(caller);
		if (caller->inbox.bytes.len > IPC_LINE_BYTES_MAX)
			return false;
	}
	sent = ipc_send(caller->socket, str_slice(&caller->outbox), NULL, 0);
	if (sent < 0)
		return false;
	str_consume(&caller->outbox, (size_t)sent);
	/* who does not read answers is not asked for more */
	watch_set(caller->watch, caller->outbox.len > 0 ? LOOP_WRITE :
	    LOOP_READ);
	return true;
}

static void
caller_on_ready(void *context, unsigned ready)
{
	struct caller *caller = context;

	if (!caller_serve(caller, ready))
		caller_end(caller);
}

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
	caller->socket = fd;
	ipc_inbox_init(&caller->inbox);
	str_init(&caller->outbox);
	caller->watch = loop_watch(server->process->loop, fd, LOOP_READ,
	    caller_on_ready, caller);
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
	struct caller *caller;

	signal(SIGHUP, SIG_IGN);
	TAILQ_INIT(&server.callers);
	server.router = router_new(process->conf);
	server.arena = arena_new();
	server.listener_watch = loop_watch(process->loop, server.listener,
	    LOOP_READ,
	    verify_on_listener, &server);
	server.parent_watch = loop_watch(process->loop, parent, LOOP_READ,
	    verify_on_parent, &server);
	loop_run(process->loop);
	while ((caller = TAILQ_FIRST(&server.callers)) != NULL) {
		(void)caller_serve(caller, LOOP_READ);
		caller_end(caller);
	}
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

/* The group that smtpserver has: it may connect, others may not. */
static void
verify_share_socket(struct verify *verify)
{
	struct err err;
	uid_t uid;
	gid_t gid;

	if (!verify->process->was_root)
		return;
	if (daemon_account(verify->process->conf, ROLE_SMTPSERVER, &uid, &gid,
	    &err) != 0 || chown(verify->address.sun_path, (uid_t)-1,
	    gid) != 0)
		warning("smtpserver may not be able to ask at %s",
		    verify->address.sun_path);
}

static int
verify_bind_socket(struct verify *verify, struct err *err)
{
	const char *dir = verify->process->conf->run_dir;
	struct sockaddr_un *address = &verify->address;
	int n = snprintf(address->sun_path, sizeof(address->sun_path),
	    "%s/verify.sock", dir);

	if (n < 0 || (size_t)n >= sizeof(address->sun_path))
		return err_set(err, "the run directory %s has too long a "
		    "name for a socket in it", dir);
	address->sun_family = AF_UNIX;
	verify->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC |
	    SOCK_NONBLOCK, 0);
	if (verify->listener < 0)
		return err_sys(err, "cannot make a socket");
	/* one router an instance: what lies there is a dead one's */
	(void)unlink(address->sun_path);
	if (bind(verify->listener, (struct sockaddr *)address,
	    sizeof(*address)) != 0 ||
	    chmod(address->sun_path, 0660) != 0 ||
	    listen(verify->listener, LISTEN_BACKLOG) != 0)
		return err_sys(err, "cannot listen at %s",
		    address->sun_path);
	verify_share_socket(verify);
	return 0;
}

struct verify *
verify_new(struct process *process, struct err *err)
{
	struct verify *verify = mem_alloc(1, sizeof(*verify));

	verify->process = process;
	verify->listener = -1;
	if (verify_bind_socket(verify, err) != 0) {
		if (verify->listener >= 0)
			close(verify->listener);
		mem_free(&verify);
		return NULL;
	}
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
	(void)unlink(verify->address.sun_path);
	mem_free(pverify);
}
