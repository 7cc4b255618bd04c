/* internal.h - what the files of recovery share
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_MAIL_RECOVER_INTERNAL_H
#define ZM_MAIL_RECOVER_INTERNAL_H

#include "mail/recover/recover.h"
#include "mail/spool/internal.h"

enum {
	DRAFT_OLD_S = 3600,	/* S0: nobody writes for that long */
	ADOPT_OLD_S = 600,	/* S1 while submitters run */
	PLAN_OLD_S = 60		/* a plan whose claim is not found */
};

struct recover {
	struct spool	*spool;
	enum recovery_mode mode;
	recovery_fn	*fn;
	void		*context;
	struct recovery	*out;
	struct arena	*arena;		/* names */
	bool		 is_changed;	/* something was done */
};

static inline bool
recover_acts(const struct recover *r)
{
	return (r->mode & RECOVERY_REPORT) == 0;
}

/* Does it look at all areas, or only for what a dead process can leave? */
static inline bool
recover_is_full(const struct recover *r)
{
	return (r->mode & (RECOVERY_REPORT | RECOVERY_START |
	    RECOVERY_ROUTED)) != 0;
}

/* Is it as it was before the daemons of now ran?  Always, unless they run
 * beside the half of a start; a moment that is still to come is of a clock that
 * was set back. */
bool recover_is_settled(const struct recover *r, const struct stat *st);

/* One thing was found (and done): count it, tell fn, emit the event.
 * id may be NULL; to is "" if the file was removed. */
void recover_note(struct recover *r, unsigned *counter, const char *id,
    const char *from, const char *to, const char *reason);

/* Something cannot be repaired: count it, emit the event.  call: the system
 * call that failed, or "". */
void recover_trouble(struct recover *r, const char *file, const char *call,
    const char *reason);

/* Rename and note it, or note a trouble.  from and to are labels made of
 * the same areas and names.  false: not done. */
struct place {
	enum spool_area	 area;
	unsigned	 priority;
	const char	*name;
};
bool recover_move(struct recover *r, unsigned *counter, const char *id,
    struct place from, struct place to, const char *reason);
/* Move it into router/ (the priority of from) under its inode.  fd has its
 * lock, which is released first: a worker that comes at once must find it free,
 * or the message would wait for the next scan. */
bool recover_route(struct recover *r, unsigned *counter, const char *id,
    struct place from, int fd, ino_t inode, const char *reason);
bool recover_remove(struct recover *r, unsigned *counter, const char *id,
    struct place place, const char *reason);

/* Open a file and take its exclusive lock.  fd, or -1: gone, locked by a
 * living process, or not a regular file (troubles are noted). */
int recover_open(struct recover *r, struct place place, struct stat *out_st);

/* Names of an area, in the arena; if keep is not NULL, only those for which it
 * is true. */
struct name_list {
	const char	**names;
	size_t		  count, room;
	struct arena	 *arena;
	bool		(*keep)(const char *name, ino_t inode);
};
/* Fill a list with the names of an area that keep wants.  As
 * spool_scan_entries. */
int recover_list(struct recover *r, enum spool_area area, unsigned priority,
    bool (*keep)(const char *name, ino_t inode), struct name_list *out,
    struct err *err);

/* Is the head of the control file complete?  out_id is its id. */
bool recover_control_is_good(int fd, char out_id[SPOOL_ID_BYTES]);
/* The same by name; false also when it cannot be opened. */
bool recover_control_id(struct recover *r, struct place place,
    char out_id[SPOOL_ID_BYTES]);
/* Read the spool id of a message.  false: it has none. */
bool recover_message_id(struct recover *r, struct place place,
    char out_id[SPOOL_ID_BYTES]);

/* The name of the inode's file below queue/ or transport/, on whatever hash
 * level.  false: there is none. */
bool recover_find_queued(struct recover *r, enum spool_area area, ino_t inode,
    char out_name[SPOOL_NAME_BYTES]);

/* The parts, in this order.  0; -1 when a directory cannot be read. */
int recover_router(struct recover *r, struct err *err);
int recover_public(struct recover *r, struct err *err);
int recover_queued(struct recover *r, struct err *err);	/* queue, transport */
/* S3, to be called after the control files of finished messages are gone: one
 * that lost its marks in a power cut would ask for its report again.
 * returns as the parts above. */
int recover_reports(struct recover *r, struct err *err);

/* Sync the spool, so that a power cut does not undo what was decided. */
void recover_make_durable(const struct recover *r);

/* Rows I1, I2: a draft in public/ of a message that came from elsewhere; its fd
 * is locked. */
void recover_import(struct recover *r, const char *name, int fd,
    const struct stat *st);
/* Row I3: the control file of one. */
void recover_import_control(struct recover *r, const char *name);
/* Row I3 while daemons run: queue/<queued>, whose id is id (NULL: not known),
 * is alone; does its control file lie in public/?  Then that follows it.
 * returns IMPORT_WAITS when somebody has it, or it could not be moved */
enum import_left { IMPORT_NONE, IMPORT_DONE, IMPORT_WAITS };
enum import_left recover_import_pair(struct recover *r, const char *queued,
    const char *id);

/* Is there a file of this name now?  If daemons run, it may have come after the
 * directory was read. */
bool recover_exists(const struct recover *r, enum spool_area area,
    const char *name);
/* P6: queue/<name>, whose id is id (NULL: not known), has no good control
 * file: send it back to be routed.  Not if it has one now. */
void recover_route_again(struct recover *r, const char *name, const char *id,
    const char *reason);
/* P6: the control file is damaged, or is good and of another, finished message
 * (F1).  It is removed first: a message in router/ may be routed at once. */
void recover_mend_pair(struct recover *r, const char *body,
    const char *control, const char *id, bool is_good);

/* Rows D4, D7: move the control file after its body, which is in area, if list
 * has it.  _NONE: the list does not; _TROUBLE: it does, and the move failed,
 * which was told. */
enum spool_followed recover_follow(struct recover *r, const char *control_name,
    enum spool_area area, const struct name_list *list);

/* Row T1: a message that a file system left under two names.  True when the
 * name at place was removed, because the other one is the later state. */
bool recover_twin(struct recover *r, struct place place,
    const struct stat *st);

#endif
