/* pair.c - one routed message: are its two files of one message?
 *
 * In     the name of a body or of a control file
 * Out    row P6: the control file gone, the body back in router/
 * Holds  nothing
 * Trusts a pair only when the control file is complete and both carry the
 *        same spool id
 * Spec   doc/INTERNALS.md rows P4, P6, T1
 *
 * SPDX-License-Identifier: ISC
 */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mail/recover/internal.h"
#include "mail/spool/keep.h"

#include "base/banned.h"

bool
recover_exists(const struct recover *r, enum spool_area area, const char *name)
{
	return faccessat(r->spool->area_fd[area], name, F_OK,
	    AT_SYMLINK_NOFOLLOW) == 0;
}

void
recover_route_again(struct recover *r, const char *name, const char *id,
    const char *reason)
{
	const struct place from = { AREA_QUEUE, 0, name };
	struct stat st;
	int fd = recover_open(r, from, &st);

	if (fd < 0)
		return;
	/* who publishes it has its lock until the control file is there */
	if (recover_is_settled(r, &st) &&
	    !(recover_acts(r) && recover_exists(r, AREA_TRANSPORT, name)) &&
	    (spool_links(&st) == 1 || !recover_twin(r, from, &st)))
		recover_route(r, &r->out->rerouted, id, from, fd, st.st_ino,
		    reason);
	close(fd);
}

void
recover_mend_pair(struct recover *r, const char *body, const char *control,
    const char *id, bool is_good)
{
	recover_remove(r, is_good ? &r->out->completed :
	    &r->out->plans_dropped, NULL,
	    (struct place){ AREA_TRANSPORT, 0, control },
	    is_good ? "of a finished message (F1)" : "damaged (P6)");
	recover_route_again(r, body, id, is_good ?
	    "its control file is of another message (P6)" :
	    "its control file is damaged (P6)");
}

bool
spool_route_lone_body(struct spool *spool, const char *name)
{
	const struct place place = { AREA_QUEUE, 0, name };
	struct recovery found = { 0 };
	struct recover r = { .spool = spool, .out = &found };
	char text[SPOOL_ID_BYTES];
	const char *id;
	enum import_left left;

	if (recover_exists(&r, AREA_TRANSPORT, name))
		return false;
	r.arena = arena_new();
	id = recover_message_id(&r, place, text) ? text : NULL;
	left = recover_import_pair(&r, name, id);
	if (left == IMPORT_NONE)
		recover_route_again(&r, name, id,
		    "body without a control file (P6)");
	arena_free(&r.arena);
	return left == IMPORT_DONE || found.rerouted > 0;
}

/* Nobody put another file in its place. */
static bool
control_is(const struct recover *r, const char *name, int fd)
{
	struct stat named, opened;

	return fstat(fd, &opened) == 0 && fstatat(
	    r->spool->area_fd[AREA_TRANSPORT], name, &named,
	    AT_SYMLINK_NOFOLLOW) == 0 && named.st_ino == opened.st_ino;
}

/* Row T1 of an open body.  False: queue/<name> was the name too many. */
static bool
body_keep(struct recover *r, const char *name, int fd)
{
	struct stat st;

	return fstat(fd, &st) != 0 || spool_links(&st) < 2 || !recover_twin(r,
	    (struct place){ AREA_QUEUE, 0, name }, &st);
}

enum spool_pair
spool_check_pair(struct spool *spool, const char *name, int control_fd,
    int body_fd, const char *control_id, bool *out_waited)
{
	struct recovery found = { 0 };
	struct recover r = { .spool = spool, .out = &found };
	char id[SPOOL_ID_BYTES], head_id[SPOOL_ID_BYTES];
	bool has_id, is_good = true;

	*out_waited = false;
	if (!body_keep(&r, name, body_fd))
		return SPOOL_PAIR_CHANGED;
	if (control_id == NULL) {
		is_good = recover_control_is_good(control_fd, head_id);
		control_id = head_id;
	}
	has_id = spool_read_id_soon(body_fd, id, out_waited);
	if (is_good && (!has_id || strcmp(id, control_id) == 0))
		return SPOOL_PAIR_GOOD;
	if (!control_is(&r, name, control_fd))
		return SPOOL_PAIR_CHANGED;
	recover_mend_pair(&r, name, name, has_id ? id : NULL, is_good);
	return SPOOL_PAIR_MENDED;
}
