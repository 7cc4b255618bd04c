/* return.c - a message comes back into the spool from an archive
 *
 * In     bytes of a message, and of its control file, that were in a spool
 * Out    a message in the state that it had, under the inode it has now
 * Holds  the spool's lock (the caller does): no daemon runs
 * Trusts nothing: a cut at any point leaves rows that the next start mends
 * Spec   doc/INTERNALS.md section 10, rows B2 to B5
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "mail/spool/internal.h"

#include "base/banned.h"

/* Rows S0 -> B2: an empty draft is nothing to a start that finds it; as a
 * plan that no claim belongs to it is dropped, however much of it there
 * is.  number and pid make the plan's name. */
static int
return_stage(struct spool *spool, ino_t number, pid_t pid, mode_t mode,
    struct draft *out, struct err *err)
{
	char name[SPOOL_NAME_BYTES], plan[SPOOL_NAME_BYTES];

	if (draft_open(spool, NULL, out, err) != 0)
		return -1;
	snprintf(name, sizeof(name), "..%ju-%jd",
	    (uintmax_t)(number == 0 ? out->inode : number), (intmax_t)pid);
	if (spool->is_spread)
		spool_spread_name(spool, AREA_ROUTER, name, plan);
	else
		memcpy(plan, name, sizeof(plan));
	if (fchmod(out->fd, mode) != 0 ||
	    spool_rename(spool->area_fd[AREA_PUBLIC], out->name,
	    spool->area_fd[AREA_ROUTER], plan) != 0) {
		err_sys(err, "rename %s to %s", spool_label(AREA_PUBLIC, 0,
		    out->name), spool_label(AREA_ROUTER, 0, plan));
		draft_abort(out);
		return -1;
	}
	memcpy(out->name, plan, sizeof(out->name));
	str_release(&out->pending);
	return 0;
}

int
spool_return_begin(struct spool *spool, bool has_control,
    struct spool_return *out, struct err *err)
{
	struct draft body, control;

	*out = (struct spool_return){ .spool = spool, .body_fd = -1,
	    .control_fd = -1 };
	if (return_stage(spool, 0, getpid() + 1, SPOOL_DRAFT_MODE, &body,
	    err) != 0)
		return -1;
	out->body_fd = body.fd;
	out->inode = body.inode;
	memcpy(out->body, body.name, sizeof(out->body));
	if (!has_control)
		return 0;
	if (return_stage(spool, body.inode, getpid(), SPOOL_CONTROL_MODE,
	    &control,
	    err) != 0) {
		spool_return_drop(out);
		return -1;
	}
	out->control_fd = control.fd;
	memcpy(out->control, control.name, sizeof(out->control));
	return 0;
}

int
spool_return_settle(struct spool_return *back, struct err *err)
{
	int result = 0;

	if (back->body_fd >= 0 && close(back->body_fd) != 0)
		result = err_sys(err, "write %s", back->body);
	if (back->control_fd >= 0 && close(back->control_fd) != 0)
		result = err_sys(err, "write %s", back->control);
	back->body_fd = back->control_fd = -1;
	return result;
}

void
spool_return_drop(struct spool_return *back)
{
	int dir_fd = back->spool->area_fd[AREA_ROUTER];

	(void)spool_return_settle(back, NULL);
	/* B2: the archive has it still */
	if (back->control[0] != '\0')
		unlinkat(dir_fd, back->control, 0);
	if (back->body[0] != '\0')
		unlinkat(dir_fd, back->body, 0);
	back->control[0] = back->body[0] = '\0';
}

static int
return_move(struct spool_return *back, char *from, enum spool_area area,
    unsigned priority, const char *to, struct err *err)
{
	if (spool_rename(back->spool->area_fd[AREA_ROUTER], from,
	    spool_dir_fd(back->spool, area, priority), to) != 0)
		return err_sys(err, "rename %s to %s",
		    spool_label(AREA_ROUTER, 0, from),
		    spool_label(area, priority, to));
	from[0] = '\0';
	return 0;
}

/* B2 -> P3 -> P4: as a router publishes.  A start in between finds the
 * message in queue/ and its plan in router/, and finishes that. */
static int
publish_routed(struct spool_return *back, char *name, struct err *err)
{
	spool_hashed_name(back->spool, back->inode, name);
	if (return_move(back, back->body, AREA_QUEUE, 0, name, err) != 0)
		return -1;
	return return_move(back, back->control, AREA_TRANSPORT, 0, name, err);
}

/* B3: a restore that was cut here left a control file without its message;
 * the number belongs to ours now, so nobody misses it. */
static int
stale_remove(struct spool_return *back, enum spool_area area,
    const char *control, struct err *err)
{
	if (unlinkat(spool_dir_fd(back->spool, area, 0), control, 0) != 0 &&
	    errno != ENOENT)
		return err_sys(err, "unlink %s", spool_label(area, 0,
		    control));
	return 0;
}

/* B2 -> D1, D2, D5; with a control file beside it first that (B3), then the
 * message: what it had done is never lost while the message is there. */
static int
publish_aside(struct spool_return *back, enum spool_area area,
    const char *why, char *name, struct err *err)
{
	char control[SPOOL_NAME_BYTES + 8];

	if (!spool_why_is(why, true))
		return err_set(err, "'%s' is no reason to be in %s/", why,
		    spool_area_names[area]);
	snprintf(name, SPOOL_NAME_BYTES, "%ju.%s", (uintmax_t)back->inode,
	    why);
	snprintf(control, sizeof(control), "%s.control", name);
	if (back->control[0] != '\0' &&
	    (stale_remove(back, area, control, err) != 0 ||
	    return_move(back, back->control, area, 0, control, err) != 0))
		return -1;
	return return_move(back, back->body, area, 0, name, err);
}

int
spool_return_publish(struct spool_return *back, enum spool_area area,
    unsigned priority, const char *why, char out_name[SPOOL_NAME_BYTES],
    struct err *err)
{
	int result;

	if (area == AREA_QUEUE && back->control[0] != '\0') {
		result = publish_routed(back, out_name, err);
	} else if (area == AREA_QUEUE || area == AREA_ROUTER) {
		if (spool_dir_fd(back->spool, AREA_ROUTER, priority) < 0)
			priority = 0;	/* there is no such directory here */
		snprintf(out_name, SPOOL_NAME_BYTES, "%ju",
		    (uintmax_t)back->inode);
		/* B2 -> S2 */
		result = return_move(back, back->body, AREA_ROUTER, priority,
		    out_name, err);
	} else {
		result = publish_aside(back, area, why, out_name, err);
	}
	if (result != 0 && back->body[0] != '\0')
		spool_return_drop(back);
	return result;
}
