/* signer.c - the router's side of the processes that have the keys
 *
 * In     the wish for a worker's socket
 * Out    lines "worker" with a descriptor to one, "reload" to all
 * Holds  a socket to each process
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

struct signer_child {
	struct signer	*signer;
	struct child	*child;
};

struct signer {
	struct process	*process;
	struct signer_child children[SIGNER_MAX];
	unsigned	 count;
	loop_fn		*child_fn;
	void		*context;
};

unsigned
signer_count(unsigned workers)
{
	long online = sysconf(_SC_NPROCESSORS_ONLN);
	unsigned count = workers < SIGNER_MAX ? workers : SIGNER_MAX;

	if (online > 0 && (unsigned long)online < count)
		count = (unsigned)online;
	return count > 0 ? count : 1;
}

static void
signer_run(void *context, int socket)
{
	struct signer_child *one = context;

	one->signer->child_fn(one->signer->context);
	signer_process(one->signer->process, socket,
	    one == &one->signer->children[0]);
}

static void
signer_ended(void *context, const struct child_end *end)
{
	/* the supervisor starts all again, as root: we are not any more */
	fatal("a process that has the keys is gone");
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
	unsigned count = signer_count(process->conf->router_workers);

	signer->process = process;
	signer->child_fn = child_fn;
	signer->context = context;
	while (signer != NULL && signer->count < count) {
		struct signer_child *one = &signer->children[signer->count++];

		one->signer = signer;
		one->child = child_new(process, &signer_kind, one);
		if (child_start(one->child, err) < 0)
			signer_free(&signer);
	}
	return signer;
}

void
signer_attach(struct signer *signer)
{
	for (unsigned i = 0; i < signer->count; i++)
		child_attach(signer->children[i].child);
}

void
signer_free(struct signer **signer)
{
	if (*signer == NULL)
		return;
	for (unsigned i = 0; i < (*signer)->count; i++)
		child_free(&(*signer)->children[i].child);
	mem_free(signer);
}

int
signer_open(struct signer *signer, unsigned worker, struct err *err)
{
	struct child *child = signer->children[worker % signer->count].child;
	int ends[2];

	if (!child_is_running(child) || child_fd_room(child) == 0)
		return err_set(err, "cannot reach a process that has the "
		    "keys");
	if (ipc_pair(ends, err) < 0)
		return -1;
	str_adds(child_outbox(child), "worker\n");
	child_add_fd(child, ends[1]);
	child_send(child);
	return ends[0];
}

void
signer_reload(struct signer *signer)
{
	for (unsigned i = 0; i < signer->count; i++) {
		struct child *child = signer->children[i].child;

		str_adds(child_outbox(child), "reload\n");
		child_send(child);
	}
}
