/* keys.c - the listener's side of the process that keeps the keys
 *
 * In     the wish for a worker's socket
 * Out    lines "worker own|all" with a descriptor, "reload"
 * Holds  a socket to the process
 * Spec   keys.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "io/ipc.h"
#include "smtpserver/tls/keys.h"

#include "base/banned.h"

struct keys {
	struct process	*process;
	pid_t		 pid;
	int		 socket;
	struct watch	*watch;
};

static void
close_nothing(void *context)
{
}

struct keys *
keys_start(struct process *process, struct err *err)
{
	return keys_start_late(process, close_nothing, NULL, err);
}

struct keys *
keys_start_late(struct process *process, loop_fn *child_fn, void *context,
    struct err *err)
{
	struct keys *keys;
	int socket;
	pid_t pid = daemon_fork(process, "smtpserver-keys", &socket, err);

	if (pid == 0) {
		child_fn(context);
		keys_process(process, socket);
	}
	if (pid < 0)
		return NULL;
	keys = mem_alloc(1, sizeof(*keys));
	keys->process = process;
	keys->pid = pid;
	keys->socket = socket;
	return keys;
}

/* It says nothing: what can be read is the end. */
static void
on_keys(void *context, unsigned ready)
{
	/* the supervisor starts both again, as root: we are not any more */
	fatal("the process that keeps the keys is gone");
}

void
keys_attach(struct keys *keys)
{
	if (keys->watch == NULL)
		keys->watch = loop_watch(keys->process->loop, keys->socket,
		    LOOP_READ, on_keys, keys);
}

void
keys_free(struct keys **keys)
{
	struct keys *k = *keys;

	if (k == NULL)
		return;
	watch_free(&k->watch);
	close(k->socket);
	(void)kill(k->pid, SIGTERM);
	while (waitpid(k->pid, NULL, 0) < 0 && errno == EINTR)
		;
	mem_free(keys);
}

int
keys_open(struct keys *keys, bool is_submission, struct err *err)
{
	struct slice line = is_submission ? SLICE("worker own\n") :
	    SLICE("worker all\n");
	int ends[2];

	if (ipc_pair(ends, err) < 0)
		return -1;
	if (ipc_send(keys->socket, line, &ends[1], 1) != (ssize_t)line.n) {
		err_sys(err, "cannot reach the process that keeps the keys");
		close(ends[0]);
		ends[0] = -1;
	}
	close(ends[1]);
	return ends[0];
}

void
keys_reload(struct keys *keys)
{
	(void)ipc_send(keys->socket, SLICE("reload\n"), NULL, 0);
}

void
keys_in_child(struct keys *keys)
{
	if (keys != NULL)
		close(keys->socket);
}
