/* router.c - recovery of claims and plans: rows C1, P1 to P3
 *
 * In     the files of router/ and router.1 to router.9
 * Out    claims of the dead given back, plans dropped or published, every
 *        message named by its inode
 * Trusts the lock, not the pid: what can be locked, nobody works on
 * Spec   doc/INTERNALS.md section 2
 *
 * SPDX-License-Identifier: ISC
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "mail/recover/internal.h"
#include "mail/spool/keep.h"

#include "base/banned.h"

enum { REFILE_PASSES = 3 };	/* a name may be taken by one that moves next */

/* Plain names that are their inode's need no look. */
static bool
needs_look(const char *name, ino_t inode)
{
	struct spool_name parts;

	if (!spool_name_parse(slice_of(name), &parts))
		return spool_name_base(name)[0] != '.';
	return parts.is_plan || parts.pid != 0 || parts.why.n > 0 ||
	    parts.inode != inode;
}

/* P3: the body is in queue/ and its worker dead.  The plan is complete and
 * of the same message: finish the second rename.  Else route again. */
static void
mend_half_published(struct recover *r, struct place plan, const char *body,
    int body_fd, ino_t inode)
{
	char plan_id[SPOOL_ID_BYTES], id[SPOOL_ID_BYTES] = "";
	char control_id[SPOOL_ID_BYTES];
	const struct place control = { AREA_TRANSPORT, 0, body };

	if (faccessat(spool_dir_fd(r->spool, plan.area, plan.priority),
		plan.name, F_OK, AT_SYMLINK_NOFOLLOW) != 0)
		return;		/* published while we looked */
	spool_read_id(body_fd, id);
	/* another worker was quicker: half a plan says nothing then */
	if (recover_control_id(r, control, control_id) &&
	    strcmp(control_id, id) == 0) {
		recover_remove(r, &r->out->plans_dropped, id, plan,
		    "already published (P4)");
		return;
	}
	if (recover_control_id(r, plan, plan_id) &&
	    strcmp(plan_id, id) == 0) {
		if (faccessat(r->spool->area_fd[AREA_TRANSPORT], body, F_OK,
			AT_SYMLINK_NOFOLLOW) == 0)
			recover_remove(r, &r->out->completed, NULL, control,
			    "of a finished message (F1)");
		recover_move(r, &r->out->finished, id, plan, control,
		    "half published (P3)");
		return;
	}
	recover_remove(r, &r->out->plans_dropped, id, plan,
	    "plan is incomplete (P3)");
	recover_route(r, &r->out->rerouted, id,
	    (struct place){ AREA_QUEUE, 0, body }, body_fd, inode,
	    "body without a control file (P3)");
}

static bool
is_plan(const char *name)
{
	struct spool_name parts;

	return spool_name_parse(slice_of(name), &parts) && parts.is_plan;
}

static void
mend_plan(struct recover *r, unsigned priority, const char *name)
{
	const struct place plan = { AREA_ROUTER, priority, name };
	const struct place claimed = { AREA_ROUTER, priority,
	    spool_name_base(name) + 2 };
	int dir_fd = spool_dir_fd(r->spool, AREA_ROUTER, priority), fd;
	struct spool_name parts;
	char body[SPOOL_NAME_BYTES];
	struct stat st;

	spool_name_parse(slice_of(name), &parts);
	/* P1, P2: the claimed message is "..<inode>-<pid>" without dots */
	if (faccessat(dir_fd, claimed.name, F_OK, AT_SYMLINK_NOFOLLOW) == 0) {
		fd = recover_open(r, claimed, &st);
		if (fd < 0)
			return;		/* its worker lives */
		recover_remove(r, &r->out->plans_dropped, NULL, plan,
		    "its worker died (P1)");
		close(fd);
		return;
	}
	if (recover_find_queued(r, AREA_QUEUE, parts.inode, body)) {
		fd = recover_open(r, (struct place){ AREA_QUEUE, 0, body },
		    &st);
		if (fd < 0)
			return;
		mend_half_published(r, plan, body, fd, parts.inode);
		close(fd);
		return;
	}
	if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    ((r->mode & RECOVERY_START) != 0 ||
	    clock_since_s(st.st_ctime) >= PLAN_OLD_S))
		recover_remove(r, &r->out->plans_dropped, NULL, plan,
		    "no message belongs to it (P1)");
}

/* C1, and files whose name is not their inode: rename to the inode.
 * false: the name is taken, perhaps by one that will move, too. */
static bool
mend_name(struct recover *r, unsigned priority, const char *name)
{
	const struct place from = { AREA_ROUTER, priority, name };
	char target[SPOOL_NAME_BYTES], id[SPOOL_ID_BYTES] = "";
	struct spool_name parts;
	bool is_claim;
	struct stat st, taken;
	int fd = recover_open(r, from, &st);

	if (fd < 0)
		return true;
	if (spool_links(&st) > 1) {
		recover_twin(r, from, &st);
		close(fd);
		return true;
	}
	is_claim = spool_name_parse(slice_of(name), &parts) && parts.pid != 0;
	snprintf(target, sizeof(target), "%ju", (uintmax_t)st.st_ino);
	spool_read_id(fd, id);
	if (strcmp(target, name) == 0) {
		close(fd);	/* an overlay's readdir had another number */
		return true;
	}
	if (fstatat(spool_dir_fd(r->spool, AREA_ROUTER, priority), target,
		&taken, AT_SYMLINK_NOFOLLOW) == 0) {
		close(fd);
		return false;
	}
	recover_route(r, is_claim ? &r->out->unclaimed : &r->out->refiled,
	    id[0] ? id : NULL, from, fd, st.st_ino,
	    is_claim ? "its worker died (C1)" : "its name was not its inode");
	close(fd);
	return true;
}

static void
mend_names(struct recover *r, unsigned priority, struct name_list *list)
{
	size_t left = list->count;

	for (int pass = 1; left > 0 && pass <= REFILE_PASSES; pass++) {
		size_t stuck = 0;

		for (size_t i = 0; i < left; i++) {
			const char *name = list->names[i];

			if (is_plan(name) || mend_name(r, priority, name))
				continue;
			list->names[stuck++] = name;
		}
		left = stuck;
	}
	for (size_t i = 0; i < left && recover_is_full(r); i++)
		recover_trouble(r, spool_label(AREA_ROUTER, priority,
		    list->names[i]), "rename", "the name of its inode is "
		    "taken by another file");
}

int
recover_router(struct recover *r, struct err *err)
{
	for (unsigned i = 0; i < SPOOL_PRIORITIES; i++) {
		struct name_list list;
		int result = recover_list(r, AREA_ROUTER, i, needs_look, &list,
		    err);

		for (size_t j = 0; result == 0 && j < list.count; j++)
			if (is_plan(list.names[j]))
				mend_plan(r, i, list.names[j]);
		if (result == 0)
			mend_names(r, i, &list);
		mem_free(&list.names);
		if (result != 0)
			return -1;
	}
	return 0;
}
