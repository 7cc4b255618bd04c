/* imported.c - recovery of what came from elsewhere: rows I1 to I3
 *
 * In     drafts in public/ with names that have a key; the file `imported`
 * Out    those whose key has a line in their places; the others gone
 * Trusts a whole line of that file, a good control file
 * Spec   doc/INTERNALS.md section 2
 *
 * SPDX-License-Identifier: ISC
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mail/recover/internal.h"
#include "mail/spool/imports.h"

#include "base/banned.h"

/* ---- the control file of what another node had ------------------------- */

struct import_control {		/* of the message that is looked for */
	ino_t		 inode;
	char		 name[SPOOL_NAME_BYTES];	/* "" none */
};

/* spool_entry_fn */
static bool
import_control_note(void *context, const char *name, ino_t inode)
{
	struct import_control *control = context;
	ino_t body;

	if (!spool_import_control_is(name, &body) || body != control->inode)
		return true;
	strlcpy(control->name, name, sizeof(control->name));
	return false;
}

/* Its message goes where it is of no use. */
static void
import_control_remove(struct recover *r, ino_t inode, const char *reason)
{
	struct import_control control = { .inode = inode };

	spool_scan_entries(r->spool, AREA_PUBLIC, 0, import_control_note,
	    &control, NULL);
	if (control.name[0] != '\0')
		recover_remove(r, &r->out->swept, NULL, (struct place){
		    AREA_PUBLIC, 0, control.name }, reason);
}

/* Is it ours?  false: it was removed, or that cannot be told now. */
static bool
import_is_ours(struct recover *r, const char *name, ino_t inode)
{
	static const char theirs[] = "of another mailer's queue, or node, "
	    "which has it still (I1)";
	const struct place place = { AREA_PUBLIC, 0, name };
	struct err err;

	switch (spool_import_look(r->spool, name, &err)) {
	case SPOOL_IMPORTED_TROUBLE:
		recover_trouble(r, spool_label(AREA_PUBLIC, 0, name), "look up",
		    err.text);
		return false;
	case SPOOL_IMPORTED_NO:
		recover_remove(r, &r->out->swept, NULL, place, theirs);
		import_control_remove(r, inode, theirs);
		return false;
	case SPOOL_IMPORTED_YES:
		break;
	}
	return true;
}

static bool
import_control_move(struct recover *r, const char *name, ino_t inode)
{
	char hashed[SPOOL_NAME_BYTES];

	spool_hashed_name(r->spool, inode, hashed);
	return recover_move(r, &r->out->adopted, NULL,
	    (struct place){ AREA_PUBLIC, 0, name },
	    (struct place){ AREA_TRANSPORT, 0, hashed },
	    "the control file of what another node had (I3)");
}

/* Row I2 with a control file: both to where they were.  false: there is none
 * that is good. */
static bool
import_adopt_pair(struct recover *r, const char *name, ino_t inode,
    const char *id)
{
	struct import_control control = { .inode = inode };
	char hashed[SPOOL_NAME_BYTES], its[SPOOL_ID_BYTES];

	spool_scan_entries(r->spool, AREA_PUBLIC, 0, import_control_note,
	    &control, NULL);
	if (control.name[0] == '\0' || !recover_control_id(r, (struct place){
	    AREA_PUBLIC, 0, control.name }, its) || strcmp(id, its) != 0)
		return false;
	spool_hashed_name(r->spool, inode, hashed);
	if (recover_move(r, &r->out->adopted, id,
	    (struct place){ AREA_PUBLIC, 0, name },
	    (struct place){ AREA_QUEUE, 0, hashed },
	    "another node had it (I2)"))
		(void)import_control_move(r, control.name, inode);
	return true;
}

void
recover_import(struct recover *r, const char *name, int fd,
    const struct stat *st)
{
	const struct place place = { AREA_PUBLIC, 0, name };
	char id[SPOOL_ID_BYTES] = "", target[SPOOL_NAME_BYTES];
	bool has_id;

	if (!import_is_ours(r, name, st->st_ino))
		return;
	if (slice_starts(slice_of(name), SPOOL_IMPORT_FROZEN)) {
		snprintf(target, sizeof(target), "%ju." SPOOL_IMPORT_CAUSE,
		    (uintmax_t)st->st_ino);
		recover_move(r, &r->out->adopted, NULL, place,
		    (struct place){ AREA_FREEZER, 0, target },
		    "held in another mailer's queue (I2)");
		return;
	}
	has_id = spool_read_id(fd, id);
	if (has_id && import_adopt_pair(r, name, st->st_ino, id))
		return;
	if (recover_route(r, &r->out->adopted, has_id ? id : NULL, place, fd,
	    st->st_ino, "of another mailer's queue, or node (I2)"))
		import_control_remove(r, st->st_ino, "damaged (I2)");
}

struct import_body {
	ino_t	inode;
	bool	is_there;
};

/* spool_entry_fn */
static bool
import_body_note(void *context, const char *name, ino_t inode)
{
	struct import_body *body = context;

	body->is_there = inode == body->inode;
	return !body->is_there;
}

/* Row I3: its message went to queue/ before it.  As long as that is here, the
 * message takes it along (I2); and where it has gone on it is nobody's. */
void
recover_import_control(struct recover *r, const char *name)
{
	struct import_body body = { .is_there = false };
	const struct place place = { AREA_PUBLIC, 0, name };
	char its[SPOOL_ID_BYTES], id[SPOOL_ID_BYTES];
	char queued[SPOOL_NAME_BYTES], found[SPOOL_NAME_BYTES];

	(void)spool_import_control_is(name, &body.inode);
	spool_scan_entries(r->spool, AREA_PUBLIC, 0, import_body_note, &body,
	    NULL);
	if (body.is_there)
		return;
	if (recover_control_id(r, place, its) &&
	    recover_find_queued(r, AREA_QUEUE, body.inode, queued) &&
	    recover_message_id(r, (struct place){ AREA_QUEUE, 0, queued },
	    id) && strcmp(id, its) == 0 &&
	    !recover_find_queued(r, AREA_TRANSPORT, body.inode, found))
		(void)import_control_move(r, name, body.inode);
	else
		recover_remove(r, &r->out->swept, NULL, place,
		    "its message is not where it left it (I3)");
}

enum import_left
recover_import_pair(struct recover *r, const char *queued, const char *id)
{
	struct import_control control = { .inode = 0 };
	struct stat st;
	enum import_left left = IMPORT_WAITS;
	char its[SPOOL_ID_BYTES];
	int fd;

	if (fstatat(r->spool->area_fd[AREA_QUEUE], queued, &st,
	    AT_SYMLINK_NOFOLLOW) != 0)
		return IMPORT_NONE;
	control.inode = st.st_ino;
	spool_scan_entries(r->spool, AREA_PUBLIC, 0, import_control_note,
	    &control, NULL);
	if (control.name[0] == '\0')
		return IMPORT_NONE;
	fd = recover_open(r, (struct place){ AREA_PUBLIC, 0, control.name },
	    &st);
	if (fd < 0)
		return IMPORT_WAITS;
	if (!recover_control_is_good(fd, its) || id == NULL ||
	    strcmp(id, its) != 0)
		left = IMPORT_NONE;
	else if (import_control_move(r, control.name, control.inode))
		left = IMPORT_DONE;
	close(fd);
	return left;
}
