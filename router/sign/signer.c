/* signer.c - the router's side of the process that has the keys
 *
 * In     the wish for a worker's socket
 * Out    lines "worker" with a descriptor, "reload"
 * Holds  a socket to the process
 * Spec   signer.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <signal.h>
#include <unistd.h>

#include "base/mem.h"
#include "daemon/child.h"
#include "io/ipc.h"
#include "router/sign/signer.h"

#include "base/banned.h"

struct signer {
	struct process	*process;
	struct child	*child;
	loop_fn		*child_fn;
	void		*context;
};

static void
signer_run(void *context, int socket)
{
	struct signer *signer = context;

	signer->child_fn(signer->context);
	signer_process(signer->process, socket);
}

static void
signer_ended(void *context, const struct child_end *end)
{
	/* the supervisor starts both again, as root: we are not any more */
	fatal("the process that has the keys is gone");
}

static const struct child_kind signer_kind = {
	.name = "router-signer", .end_signal = SIGTERM,
	.run = signer_run, .ended = signer_ended,
};

struct signer *
signer_start(struct process *process, loop_fn *child_fn, void *context,
    struct err *err)
{
	struct signer *signer = mem_alloc(1, sizeof(*signer));

	signer->process = process;
	signer->child_fn = child_fn;
	signer->context = context;
	signer->child = child_new(process, &signer_kind, signer);
	if (child_start(signer->child, err) < 0)
		signer_free(&signer);
	return signer;
}

void
signer_attach(struct signer *signer)
{
	child_attach(signer->child);
}

void
signer_free(struct signer **signer)
{
	if (*signer == NULL)
		return;
	child_free(&(*signer)->child);
	mem_free(signer);
}

int
signer_open(struct signer *signer, struct err *err)
{
	int ends[2];

	if (!child_is_running(signer->child) ||
	    child_fd_room(signer->child) == 0)
		return err_set(err, "cannot reach the process that has the "
		    "keys");
	if (ipc_pair(ends, err) < 0)
		return -1;
	str_adds(child_outbox(signer->child), "worker\n");
	child_add_fd(signer->child, ends[1]);
	child_send(signer->child);
	return ends[0];
}

void
signer_reload(struct signer *signer)
{
	str_adds(child_outbox(signer->child), "reload\n");
	child_send(signer->child);
}
