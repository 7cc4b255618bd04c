/* recover.h - repair a spool that a crash or a person left half done
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_MAIL_RECOVER_H
#define ZM_MAIL_RECOVER_H

#include "mail/spool/spool.h"

/* ---- recovery (doc/INTERNALS section 3) ----------------------------- */

struct recovery {		/* what was found and done */
	unsigned	adopted;	/* complete in public/ -> router/ */
	unsigned	swept;		/* incomplete in public/, unlinked */
	unsigned	copied_in;	/* foreign submissions taken over */
	unsigned	unclaimed;	/* stale claims renamed back */
	unsigned	plans_dropped;
	unsigned	finished;	/* half-published messages completed */
	unsigned	rerouted;	/* bodies without control: router/ */
	unsigned	completed;	/* controls without body: unlinked */
	unsigned	refiled;	/* name was not the inode */
	unsigned	troubles;	/* could not be mended; see events */
};

/* Told of each thing that is found (and, without REPORT, done); may be
 * NULL.  from and to: "router/123-45", "" for nowhere.  The events
 * recovered, draft.swept, spool.trouble are emitted by spool_recover. */
typedef void recovery_fn(void *context, const char *file, const char *from,
    const char *to, const char *reason);

enum recovery_mode {
	RECOVERY_REPORT = 1,	/* say what would be done, change nothing */
	RECOVERY_START = 2,	/* nothing else runs: sweep young drafts too */
	/* Of routed messages names alone: who reads a control file first asks
	 * spool_check_pair then; of what other users put into public/ nothing:
	 * the router's workers take it in (S4), each with a sync, once they
	 * run.  A start takes no longer for what waits. */
	RECOVERY_NAMES = 4
};

/* Bring every combination of names to a row of the truth table.  Safe while
 * the daemons run (without START): what is locked is left alone.
 * returns 0, or -1 when the spool cannot be read. */
int spool_recover(struct spool *spool, enum recovery_mode mode,
    recovery_fn *fn, void *context, struct recovery *out, struct err *err);

/* ---- one message ------------------------------------------------------ */

enum spool_followed {
	SPOOL_FOLLOW_TROUBLE = -1,
	SPOOL_FOLLOW_NONE = 0,
	SPOOL_FOLLOW_DONE = 1
};

/* The body of this control file was moved to trash/, postman/ or router/ by
 * somebody who died before the second half (rows D4, D7, D8): do that.
 * returns SPOOL_FOLLOW_NONE when there is no such body, _TROUBLE when that
 * is not known. */
enum spool_followed spool_follow_queued(struct spool *spool, const char *name);

/* Row P6 while the daemons run: the body queue/<name> has had no control file
 * for so long that nobody is about to write it.  It goes back to router/, with
 * the event `recovered`.
 * returns whether it did; not when somebody has its lock. */
bool spool_route_lone_body(struct spool *spool, const char *name);

enum spool_pair {
	SPOOL_PAIR_GOOD,
	SPOOL_PAIR_MENDED,	/* the body waits in router/ */
	SPOOL_PAIR_CHANGED	/* one of them moved: look again */
};

/* Rows P4 and P6 of a message that lay there at the start: control_fd is
 * transport/<name>, idle; is body_fd, queue/<name>, of the same message?  id is
 * what the control file says, NULL when it could not be read: that is P6 when
 * its head is damaged, and _GOOD when what follows is.  P6 is mended, with the
 * event `recovered`: the control file goes, the body is routed again.  A second
 * name of the body is one of row T1: that of the earlier state is removed. */
enum spool_pair spool_check_pair(struct spool *spool, const char *name,
    int control_fd, int body_fd, const char *id);

enum spool_body {
	SPOOL_BODY_UNKNOWN = -1,
	SPOOL_BODY_GONE = 0,
	SPOOL_BODY_MAY_COME = 1
};

/* After that: may the body of this control file (transport/<name>) still
 * come out of router/?  Not when a message of another id has its inode
 * number: then it is gone (row F1), and the other one waits for the name.
 * returns SPOOL_BODY_GONE when it cannot. */
enum spool_body spool_body_may_come(struct spool *spool, const char *name);

#endif
