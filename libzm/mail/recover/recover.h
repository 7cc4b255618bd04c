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
	unsigned	troubles;	/* not repaired; see the events */
};

/* Called for each thing that is found (and, without REPORT, done); may be
 * NULL.  from and to: "router/123-45", or "" for nowhere.  spool_recover emits
 * the events recovered, draft.swept and spool.trouble. */
typedef void recovery_fn(void *context, const char *file, const char *from,
    const char *to, const char *reason);

enum recovery_mode {
	RECOVERY_REPORT = 1,	/* say what would be done, change nothing */
	RECOVERY_START = 2,	/* nothing else runs: sweep young drafts too */
	/* The two halves of the router's start, so that mail that waits delays
	 * none.  Neither looks at what other users put into public/: the
	 * router's workers take it in (S4), each with a sync, once they run.
	 *
	 * With START: public/ and router/ alone, and no report (S3). */
	RECOVERY_UNROUTED = 4,
	/* Alone: queue/ and transport/, by their names, then reports.  Mail is
	 * taken and routed meanwhile, and the scheduler waits.  What changed
	 * since the spool was opened is not looked at.  Whoever reads a control
	 * file first calls spool_check_pair. */
	RECOVERY_ROUTED = 8
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

/* The body of this control file was moved to trash/, postman/ or router/ by a
 * process that died before the second half (rows D4, D7, D8): do that half.
 * returns SPOOL_FOLLOW_NONE when there is no such body, _TROUBLE when that
 * is not known, or the half could not be done. */
enum spool_followed spool_follow_queued(struct spool *spool, const char *name);

/* Row P6 while the daemons run: the body queue/<name> has had no control file
 * for so long that nobody is about to write it.  Move it back to router/, or
 * the control file that a takeover left in public/ to it (I3), with the event
 * `recovered`.
 * returns whether one was moved; not if a process has its lock */
bool spool_route_lone_body(struct spool *spool, const char *name);

/* Row T1 of router[.priority]/<name>, which nobody has claimed: a message that
 * came back from where it was set aside, and is named there, too.  No start
 * looks for it among what waits in router/: who cannot claim it does.
 * returns whether a name too many was removed */
bool spool_mend_twin(struct spool *spool, unsigned priority, const char *name);

enum spool_pair {
	SPOOL_PAIR_GOOD,
	SPOOL_PAIR_MENDED,	/* the body is in router/ */
	SPOOL_PAIR_CHANGED	/* one of them was moved: look again */
};

/* Rows P4 and P6 of a message that was there at the start: control_fd is
 * transport/<name>, idle; is body_fd, queue/<name>, of the same message?  id is
 * that of the control file, NULL if it could not be read: then it is P6 if the
 * head is damaged, and _GOOD if what follows is.  P6 is repaired, with the
 * event `recovered`: the control file is removed, the body is routed again.  If
 * the body has a second name (row T1), that of the earlier state is removed.
 * *out_waited: the body was not in memory, as far as the system tells. */
enum spool_pair spool_check_pair(struct spool *spool, const char *name,
    int control_fd, int body_fd, const char *id, bool *out_waited);

enum spool_body {
	SPOOL_BODY_UNKNOWN = -1,
	SPOOL_BODY_GONE = 0,
	SPOOL_BODY_MAY_COME = 1
};

/* After that: may the body of this control file (transport/<name>) still come
 * from router/?  Not if a message of another id has its inode number: then the
 * body is gone (row F1), and the other message waits for the name.
 * returns SPOOL_BODY_GONE if it cannot come */
enum spool_body spool_body_may_come(struct spool *spool, const char *name);

#endif
