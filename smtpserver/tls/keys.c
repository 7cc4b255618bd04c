/* keys.c - the listener's side of the process that keeps the keys
 *
 * In     the wish for a worker's socket
 * Out    lines "worker own|all" with a descriptor, "reload"
 * Holds  a socket to the process
 * Spec   keys.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <signal.h>
#include <unistd.h>

#include "base/mem.h"
#include "daemon/child.h"
#include "io/ipc.h"
#include "smtpserver/tls/keys.h"

#include "base/banned.h"

struct keys {
	struct process	*process;
	struct child	*child;
	loop_fn		*child_fn;
	void		*context;
};

static void
keys_run(void *context, int socket)
{
	struct keys *keys = context;

	keys->child_fn(keys->context);
	keys_process(keys->process, socket);
}

static void
keys_ended(void *context, const struct child_end *end)
{
	/* the supervisor starts both again, as root: we are not any more */
	fatal("the process that keeps the keys is gone");
}

static const struct child_kind keys_kind = {
	.name = "smtpserver-keys", .end_signal = SIGTERM,
	.run = keys_run, .ended = keys_ended,
};

struct keys *
keys_start(struct process *process, loop_fn *child_fn, void *context,
    struct err *err)
{
	struct keys *keys = mem_alloc(1, sizeof(*keys));

	keys->process = process;
	keys->child_fn = child_fn;
	keys->context = context;
	keys->child = child_new(process, &keys_kind, keys);
	if (child_start(keys->child, err) < 0)
		keys_free(&keys);
	return keys;
}

void
keys_attach(struct keys *keys)
{
	child_attach(keys->child);
}

void
keys_free(struct keys **keys)
{
	if (*keys == NULL)
		return;
	child_free(&(*keys)->child);
	mem_free(keys);
}

int
keys_open(struct keys *keys, bool is_submission, struct err *err)
{
	int ends[2];

	if (!child_is_running(keys->child) || child_fd_room(keys->child) == 0)
		return err_set(err,
		    "cannot reach the process that keeps the keys");
	if (ipc_pair(ends, err) < 0)
		return -1;
	str_adds(child_outbox(keys->child), is_submission ?
	    "worker own\n" : "worker all\n");
	child_add_fd(keys->child, ends[1]);
	child_send(keys->child);
	return ends[0];
}

void
keys_reload(struct keys *keys)
{
	str_adds(child_outbox(keys->child), "reload\n");
	child_send(keys->child);
}
