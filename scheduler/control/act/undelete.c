/* undelete.c - what was deleted comes back
 *
 * In     ids; names in trash/
 * Out    records that restore; both files back in the queue, read at once
 * Holds  the names of one request
 * Trusts a message in trash/ only with a control file of the same id
 * Spec   doc/protocol/control.md section 5; doc/INTERNALS.md row D7
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "journal/event.h"
#include "mail/control_file/undelete.h"
#include "mail/recover/recover.h"
#include "scheduler/control/act/act.h"
#include "scheduler/intake/intake.h"
#include "scheduler/sharing/sharing.h"

#include "base/banned.h"

struct search {
	struct act	*act;
	struct err	 err;		/* the last trouble */
	bool		 is_bad;
};

static bool
undelete_means_id(const struct request *request, const char *id)
{
	for (size_t i = 0; i < request->id_count; i++)
		if (slice_equal(request->ids[i], slice_first(slice_of(id),
		    request->ids[i].n)))
			return true;
	return false;
}

/* The spool id of trash/<name>; false: it has none, or is not meant. */
static bool
undelete_means_file(const struct act *act, const char *name,
    char out_id[SPOOL_ID_BYTES])
{
	int fd = openat(spool_dir_fd(act->queue->spool, AREA_TRASH, 0),
	    name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	bool is_meant = fd >= 0 && spool_read_id(fd, out_id) &&
	    undelete_means_id(&act->request, out_id);

	if (fd >= 0)
		close(fd);
	return is_meant;
}

/* Another node of the cluster has it: here again it would come twice. */
static bool
undelete_is_elsewhere(const struct act *act, const char *name, const char *id,
    struct err *err)
{
	const char *node = sharing_taken_by(act->queue->sharing, id);
	int fd = openat(spool_dir_fd(act->queue->spool, AREA_TRASH, 0),
	    name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	char reason[SPOOL_REASON_BYTES] = "";

	if (fd >= 0) {
		(void)spool_reason_read(fd, reason);
		close(fd);
	}
	if (node == NULL && !slice_ends(slice_of(reason), SPOOL_TAKEN_WORDS))
		return false;
	err_set(err, "%s: %s%s, and delivers it (zmailer trace --cluster)",
	    id, node != NULL ? node : reason, node != NULL ?
	    SPOOL_TAKEN_WORDS : "");
	return true;
}

/* Somebody died half way, there or back: the control file is in the queue
 * yet.  It comes here first. */
static void
undelete_end_half(struct act *act, const char *name, const char *control)
{
	struct spool *spool = act->queue->spool;
	char target[SPOOL_NAME_BYTES];
	struct spool_name parts;
	struct job *job;

	if (faccessat(spool_dir_fd(spool, AREA_TRASH, 0), control, F_OK,
	    0) == 0 || !spool_name_parse(slice_of(name), &parts))
		return;
	job = job_table_find(&act->queue->jobs, parts.inode);
	if (job != NULL && job->flight_count > 0)
		return;
	if (job != NULL)
		queue_drop(act->queue, job);
	spool_hashed_name(spool, parts.inode, target);
	(void)spool_follow_queued(spool, target);
}

/* 0, out_count: how many recipients came back; -1 with err. */
static int
undelete_restore(struct act *act, const char *name, const char *id,
    size_t *out_count, struct err *err)
{
	struct spool *spool = act->queue->spool;
	char control[SPOOL_NAME_BYTES + 16], target[SPOOL_NAME_BYTES];

	snprintf(control, sizeof(control), "%s.control", name);
	undelete_end_half(act, name, control);
	/* D7: restored records, then the moves */
	if (control_undelete(spool, name, act->by, target, out_count, err) < 0)
		return -1;
	event(EV_MESSAGE_UNDELETED, id, "file", slice_of(name), "by",
	    slice_of(act->by), "reason", slice_of(act->request.reason),
	    NULL);
	return 0;
}

static void
undelete_file(struct search *search, const char *name)
{
	struct act *act = search->act;
	struct spool_name parts;
	char id[SPOOL_ID_BYTES];
	size_t count = 0;

	if (!undelete_means_file(act, name, id) ||
	    !spool_name_parse(slice_of(name), &parts))
		return;
	if (undelete_is_elsewhere(act, name, id, &search->err)) {
		search->is_bad = true;
		return;
	}
	if (!act->request.is_dry && undelete_restore(act, name, id, &count,
	    &search->err) < 0) {
		act->count.conflict += errno == EEXIST;
		search->is_bad = true;
		return;
	}
	act->count.messages++;
	act->count.recipients += count;
	/* D7: read when the moves are durable, lest its end be kept and they
	 * not */
	str_add(&act->restored, &parts.inode, sizeof(parts.inode));
}

static void
undelete_read(struct act *act)
{
	ino_t inode;

	for (size_t at = 0; at < act->restored.len; at += sizeof(inode)) {
		memcpy(&inode, act->restored.buf + at, sizeof(inode));
		intake_now(act->intake, inode);
	}
	str_reset(&act->restored);
}

static bool
undelete_is_deleted(const char *name)
{
	struct spool_name parts;

	return spool_name_parse(slice_of(name), &parts) &&
	    slice_starts(parts.why, SPOOL_DELETED) &&
	    !slice_ends(parts.why, ".control");
}

struct names {
	struct str	text;		/* each ended by a NUL */
};

static bool
undelete_take_name(void *context, const char *name)
{
	struct names *names = context;

	if (undelete_is_deleted(name))
		str_add(&names->text, name, strlen(name) + 1);
	return true;
}

/* What lies in trash/, listed first: files move while we work. */
static int
undelete_trash(struct search *search)
{
	struct spool *spool = search->act->queue->spool;
	struct names names = { STR_INIT };
	int result = spool_scan(spool, AREA_TRASH, 0, undelete_take_name,
	    &names,
	    &search->err);

	for (size_t at = 0; result == 0 && at < names.text.len;
	    at += strlen(names.text.buf + at) + 1)
		undelete_file(search, names.text.buf + at);
	str_release(&names.text);
	return result;
}

/* The first step.  True: nothing is to be waited for. */
static bool
undelete_begin(struct act *act, struct err *err, int *out_result)
{
	struct search search = { .act = act };

	act->is_searched = true;
	*out_result = undelete_trash(&search);
	if (search.is_bad && act->count.conflict == 0)
		*out_result = -1;
	*err = search.err;
	if (act->count.messages == 0 || act->request.is_dry)
		return true;
	act_sync_spool(act);
	if (*out_result < 0)
		act_sync_trouble(act, err);
	return false;
}

enum act_step
act_undelete(struct act *act, struct str *out)
{
	struct err err;
	int result;

	/* those that have not come so far are in the queue still */
	if (act->request.offset_count > 0 || act->is_begun)
		return act_change(act, out);
	if (!act->is_searched) {
		if (!undelete_begin(act, &err, &result))
			return ACT_SYNC;
		if (result < 0)
			return act_trouble(act, &err, out);
	}
	undelete_read(act);
	if (act_sync_end(act, &err) < 0)
		return act_trouble(act, &err, out);
	return act_change(act, out);
}
