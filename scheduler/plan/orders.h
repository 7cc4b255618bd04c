/* orders.h - operators' orders about destinations that are in force
 *
 * Suspensions, pins, and whether the whole scheduler drains; beside them the
 * searches that people saved, which are about no destination.  The file
 * transport/.orders is the truth: it is written anew, synced and renamed
 * before an order counts, and read at the start.  Its lines are JSON, one an
 * order; a person may edit it while the scheduler is stopped.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SCHEDULER_ORDERS_H
#define ZM_SCHEDULER_ORDERS_H

#include "base/err.h"
#include "io/loop.h"
#include "mail/spool/spool.h"
#include "scheduler/plan/ring.h"

enum {
	ORDERS_MAX = 1000,
	SEARCHES_MAX = 500,		/* of all people; ORDERS_MAX is of the
					 * others */
	SEARCHES_OF_ONE_MAX = 32,
	ORDERS_FILE_BYTES_MAX = 2 << 20,
	ORDER_WORDS_BYTES = 264,	/* who, and why */
	ORDER_PIN_MAX = 10000
};

enum order_kind { ORDER_SUSPEND, ORDER_PIN, ORDER_DRAIN, ORDER_SEARCH,
	ORDER_KINDS };

struct order {
	uint64_t	 serial;		/* rises in the order given */
	enum order_kind	 kind;
	char		*channel, *host;	/* globs; drain: "*"; search:
						 * whose it is, its name */
	char		*by, *reason;		/* search: the selector */
	unsigned	 limit;			/* pin */
	int64_t		 since_s, until_s;	/* wall; 0: no end */
};

struct orders {
	struct order	*all;
	size_t		 count, capacity;
	uint64_t	 serial;	/* of the last one given */
	unsigned	 generation;	/* of what threads have seen; from 1 */
	bool		 is_draining;
	bool		 is_changing;	/* a change is on its way to the disk */
};

/* Read transport/.orders; a malformed line causes an event and is skipped.  0;
 * -1: the file exists and cannot be read (err). */
int orders_open(struct orders *orders, const struct spool *spool,
    struct err *err);
void orders_release(struct orders *orders);

/* ---- a change: prepared, written, in force (row O1) ---------------- */

/* One at a time: none is prepared while orders->is_changing. */
struct orders_change {
	struct orders	 fresh;		/* what will stand */
	struct str	 text;		/* the file of it */
	int		 dir_fd;	/* transport/ */
	size_t		 count;		/* given, or taken back */
	const char	*call;		/* what failed, and why */
	int		 error;		/* errno; 0: durable */
};

/* Prepare to give an order (its texts are copied), replacing one of the same
 * kind and globs.  0; -1: there are too many, and out needs no end. */
int orders_give(struct orders *orders, const struct spool *spool,
    const struct order *order, struct orders_change *out, struct err *err);
/* Prepare to take back orders of a kind with exactly these globs; globs NULL:
 * all of the kind.  False: there are none, and out needs no end. */
bool orders_take_back(struct orders *orders, const struct spool *spool,
    enum order_kind kind, const char *channel, const char *host,
    struct orders_change *out);
/* Write the file, whole and durable, or leave it as it was.  A thread may do
 * this: it touches nothing but the change. */
void orders_change_write(struct orders_change *change);
/* End a change that was written: it is in force from now on.  -1 with err: it
 * could not be written, and nothing changed.  Releases the change. */
int orders_change_end(struct orders *orders, struct orders_change *change,
    struct err *err);

/* For tests: all of that at once, waiting for the disk.  Give an order: 0,
 * durable; -1: nothing changed. */
int orders_set(struct orders *orders, const struct spool *spool,
    const struct order *order, struct err *err);
/* For tests: take orders back.  Returns how many, durable; -1: nothing
 * changed. */
int orders_clear(struct orders *orders, const struct spool *spool,
    enum order_kind kind, const char *channel, const char *host,
    struct err *err);

/* Drop orders that are over at now_s.  True: there were some. */
bool orders_expire(struct orders *orders, int64_t now_s);
/* When that happens next; 0: never. */
int64_t orders_next_s(const struct orders *orders);

/* The order that suspends, or pins, this destination now; NULL: none. */
const struct order *orders_find(const struct orders *orders,
    enum order_kind kind, struct slice channel, struct slice host);

/* The same for a thread: by its channel and host, or by "zone" and the name of
 * its zone. */
const struct order *orders_for(const struct orders *orders,
    enum order_kind kind, const struct thread *thread);

/* Apply the orders to a thread, if it has not seen this generation. */
void orders_apply(const struct orders *orders, struct thread *thread);

/* Read the file's text (pure but for events). */
void orders_parse(struct orders *orders, struct slice text);
void orders_format(const struct orders *orders, struct str *out);
/* One line of it. */
void order_format(const struct order *order, struct str *out);

#endif
