/* queue.h - the queue as one interface: enqueue, list, work, order, recover
 *
 * What spool.h and work.h do in many steps, as the calls that a program asks
 * for which handles queued mail: a tool, a test, another scheduler.  Each
 * call succeeds, or changes nothing that recovery does not know, and says in
 * errno and err what refused it; queue_may_retry tells whether the same call
 * can succeed later.  A message that vanished meanwhile is 0, not an error.
 *
 *	begin --write--> ... --commit--> router/, routed by the router
 *	                     --abort--> nothing
 *	list (all, in flight, to be cleaned)   counts   wait
 *	start --done|order--> ... --clean--> gone
 *	      --remove--> trash/ --recover--> back
 *	      --cancel--> as it was
 *
 * A started message is locked: agents and schedulers that start leave it
 * alone, and it is not started while one of them works on it.  A scheduler
 * that runs remembers what it has read: ask it (doc/protocol/control.md)
 * about its mail, and use start and what follows when it does not run.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_MAIL_QUEUE_H
#define ZM_MAIL_QUEUE_H

#include "mail/envelope.h"
#include "mail/spool/spool.h"
#include "mail/work/work.h"

/* ---- enqueue ------------------------------------------------------- */

/* A new message: its draft is made, the envelope is in it (id is filled).
 * 0; -1: nothing is left. */
int queue_begin(struct spool *spool, struct envelope *envelope,
    struct draft *out, struct err *err);
/* Header and body, lines ending in LF.  0 or -1: only abort is left. */
int queue_write(struct draft *draft, struct slice bytes, struct err *err);
/* Durable, then in router/.  0; -1: the draft is gone, nothing was
 * promised. */
int queue_commit(struct draft *draft, struct err *err);
/* As if it had not begun. */
void queue_abort(struct draft *draft);

/* ---- what there is ------------------------------------------------- */

enum queue_which {
	QUEUE_ALL,
	QUEUE_IN_FLIGHT,	/* somebody works on it now */
	QUEUE_CLEANUP		/* nothing left to do: finished, or its body
				 * is gone (rows F0 to F2) */
};

struct queue_item {
	const char	*name;		/* below transport/ */
	const struct work *work;	/* lives during the call */
	bool		 has_body, is_in_flight;
};

/* Call fn for each; false stops.  One file is read at a time; what cannot
 * be read is left out.  0; -1: a directory cannot be read. */
typedef bool queue_fn(void *context, const struct queue_item *item);
int queue_list(const struct spool *spool, enum queue_which which,
    queue_fn *fn, void *context, struct err *err);

enum queue_state {
	QUEUE_READY, QUEUE_WAITING, QUEUE_HELD, QUEUE_FROZEN, QUEUE_DELETED,
	QUEUE_DONE, QUEUE_STATES
};
extern const char *const queue_states[QUEUE_STATES];

/* What the file says of a recipient, as of now_s. */
enum queue_state queue_state_of(const struct work *work,
    const struct work_rcpt *rcpt, int64_t now_s);

struct queue_counts {
	uint64_t	messages[QUEUE_STATES];	/* that have one in it */
	uint64_t	recipients[QUEUE_STATES];
	uint64_t	total, bytes;		/* messages */
	int64_t		oldest_s;		/* accepted; 0: none */
};
/* By reading every control file.  0 or -1. */
int queue_count(const struct spool *spool, int64_t now_s,
    struct queue_counts *out, struct err *err);

/* Wait until something came into transport/, at most so long.
 * 1 something did, 0 nothing, -1. */
int queue_wait(const struct spool *spool, int timeout_ms, struct err *err);

/* ---- one message ------------------------------------------------- */

struct queue_hold {
	struct spool	*spool;
	char		 name[SPOOL_NAME_BYTES];
	int		 control_fd, body_fd;
	struct arena	*arena;
	struct str	 text;
	struct work	 work;		/* as it stands in the file */
};

/* 1 it is ours; 0 it is gone, or somebody works on it; -1. */
int queue_start(struct spool *spool, const char *name,
    struct queue_hold *out, struct err *err);
/* The attempt for the recipient at this offset is over: record it.  work is
 * read again.  0 or -1. */
int queue_done(struct queue_hold *hold, uint32_t offset,
    const struct verdict *verdict, int64_t next_s, struct err *err);
/* Give it back as it is. */
void queue_cancel(struct queue_hold *hold);

/* Reschedule, hold, release, freeze, thaw, cancel, restore: one of the kinds
 * of work_record from WORK_HELD on.  offset 0: every recipient that is not
 * final (of WORK_RESTORED: every one that is cancelled).  Durable.  How many
 * recipients; -1. */
int queue_order(struct queue_hold *hold, uint32_t offset,
    enum work_record_kind kind, int64_t until_s, const char *by,
    const char *reason, struct err *err);

/* Cancel what is open and move it to trash/ (row D7).  Ends the hold.  0 or
 * -1. */
int queue_remove(struct queue_hold *hold, const char *by,
    const char *reason, struct err *err);
/* Bring trash/<name> back, its cancelled recipients restored; out_name is
 * its name below transport/.  Not synced: spool_sync.  How many recipients;
 * -1 (errno EEXIST: the number is taken): it lies there as before. */
int queue_recover(struct spool *spool, const char *name, const char *by,
    char out_name[SPOOL_NAME_BYTES], struct err *err);

/* All is final and told: unlink it (rows F1 to F3).  Ends the hold.  1; 0:
 * something is left to do; -1. */
int queue_clean(struct queue_hold *hold, struct err *err);

/* Can the same call succeed later?  A full disk, no descriptor, a signal:
 * yes; a name that is taken, no permission, a broken file: no. */
bool queue_may_retry(int error);

#endif
