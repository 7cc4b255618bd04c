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
#include <sys/stat.h>
#include <unistd.h>

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

/* Begin at the place that fd has, or at a fresh one (-1). */
static void
forward_init(struct log_forward *forward, struct loop *loop,
    struct conf *const *conf, int fd)
{
	void *place = MAP_FAILED;

	if (fd < 0) {
		fd = memfd_create("zmailer-log-to", MFD_CLOEXEC);
		if (fd >= 0 && ftruncate(fd, sizeof(*forward->place)) != 0) {
			close(fd);
			fd = -1;
		}
	}
	if (fd >= 0)
		place = mmap(NULL, sizeof(*forward->place), PROT_READ |
		    PROT_WRITE, MAP_SHARED, fd, 0);
	*forward = (struct log_forward){ .conf = conf, .place = place,
	    .place_fd = fd };
	sidecar_init(&forward->sidecar, &forward_kind, loop, forward);
	if (place == MAP_FAILED) {
		warning("log-to: %s", strerror(errno));
		sidecar_stop(&forward->sidecar);
	}
}

void
forward_start(struct log_forward *forward, struct loop *loop,
    struct conf *const *conf)
{
	forward_init(forward, loop, conf, -1);
	sidecar_begin(&forward->sidecar);
}

void
forward_take_over(struct log_forward *forward, struct loop *loop,
    struct conf *const *conf, pid_t pid, int lifeline, int place_fd)
{
	struct stat st;

	if (place_fd >= 0 && (fstat(place_fd, &st) != 0 ||
	    st.st_size < (off_t)sizeof(*forward->place))) {
		close(place_fd);
		place_fd = -1;
	}
	forward_init(forward, loop, conf, place_fd);
	sidecar_adopt(&forward->sidecar, pid, lifeline, -1);
	if (!forward->sidecar.is_over)
		sidecar_renew(&forward->sidecar);
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
