/* forward.c - the supervisor's side of log-to: a process, and its place
 *
 * In     the configuration in force
 * Out    a process; after its end another one that goes on where it was
 * Holds  the place in the journal
 * Spec   forward.h, daemon/sidecar.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "tools/forward/forward.h"

#include "base/banned.h"

static bool
forward_is_wanted(void *context)
{
	const struct log_forward *forward = context;

	return (*forward->conf)->log_to.kind != LOG_TO_NONE;
}

static void
forward_child(void *context)
{
	const struct log_forward *forward = context;

	forward_run(*forward->conf, forward->place, SIDECAR_LIFELINE_FD);
}

static const struct sidecar_kind forward_kind = {
	.name = "log-to", .is_wanted = forward_is_wanted,
	.run = forward_child,
};

void
forward_start(struct log_forward *forward, struct loop *loop,
    struct conf *const *conf)
{
	void *place = mmap(NULL, sizeof(*forward->place), PROT_READ |
	    PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	*forward = (struct log_forward){ .conf = conf, .place = place };
	sidecar_init(&forward->sidecar, &forward_kind, loop, forward);
	if (place == MAP_FAILED) {
		warning("log-to: %s", strerror(errno));
		sidecar_stop(&forward->sidecar);
	}
	sidecar_begin(&forward->sidecar);
}

void
forward_reload(struct log_forward *forward)
{
	if (forward->sidecar.is_over)
		return;
	if (forward->sidecar.pid == 0)
		forward->place->inode = 0;	/* what was before is past */
	sidecar_renew(&forward->sidecar);
}

void
forward_stop(struct log_forward *forward)
{
	sidecar_stop(&forward->sidecar);
}

void
forward_ended(struct log_forward *forward, pid_t pid)
{
	sidecar_ended(&forward->sidecar, pid);
}
