/* waiters.h - messages whose client waits for the next hop's word
 *
 * smtpserver announces such a message before it has its name, so that its
 * waiter is there before its job is; asks for the verdict when it is
 * published; and says `told` when the client hears a refusal, which ends the
 * message without a report (verdicts/verdicts.h has the lines).
 *
 *	announced -> (outcomes of its recipients) -> a verdict
 *	          -> asked -> answered: the waiter ends; but a refusal stays
 *	             until it was told, or not in time
 *
 * Nothing of it is on disk.  A waiter that is lost costs the client the next
 * hop's words, and its sender a report that says it once more; never mail.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SCHEDULER_WAITERS_H
#define ZM_SCHEDULER_WAITERS_H

#include <sys/queue.h>

#include "io/loop.h"
#include "mail/spool/spool.h"
#include "scheduler/jobs/answer.h"

enum {
	WAITERS_MAX = 4096,		/* at once; more are not taken */
	WAITER_BUCKETS = 1024,
	WAITER_STATUS_BYTES = 12,
	WAITER_TEXT_BYTES = 400		/* of the next hop's words */
};

enum waiter_verdict {
	WAITER_OPEN,		/* not known yet */
	WAITER_DELIVERED,	/* every recipient has it */
	WAITER_REFUSED,		/* none has it, none ever will */
	WAITER_QUEUED		/* anything else: it goes on as all mail */
};

struct hearer {
	char			 id[SPOOL_ID_BYTES];
	uint64_t		 token;		/* of the question; 0: not
						 * asked yet */
	bool			 is_answered;
	enum waiter_verdict	 verdict;
	uint32_t		 delivered, failed;	/* recipients */
	char			 status[WAITER_STATUS_BYTES];	/* of the first
						 * one; QUEUED: "" */
	char			 text[WAITER_TEXT_BYTES];
	struct timer		 timer;		/* verdicts.c's */
	void			*owner;		/* the connection's */
	bool			 is_decided;	/* on the list decided */
	LIST_ENTRY(hearer)	 bucket;
	TAILQ_ENTRY(hearer)	 all, decided;
};
TAILQ_HEAD(waiter_list, hearer);

struct waiters {
	LIST_HEAD(waiter_bucket, hearer) buckets[WAITER_BUCKETS];
	struct waiter_list	 all, decided;	/* decided: to be looked at */
	size_t			 count;
};

/* None; waiters_release ends those that are there. */
void waiters_init(struct waiters *waiters);
void waiters_release(struct waiters *waiters);

/* One for a message that is about to come.  NULL: there are too many, or the
 * message has one. */
struct hearer *waiters_add(struct waiters *waiters, const char *id,
    void *owner);
/* That of a message, or NULL. */
struct hearer *waiters_find(const struct waiters *waiters, const char *id);
/* Forget one, and null it. */
void waiter_end(struct waiters *waiters, struct hearer **waiter);

/* A recipient of the message, which has total of them, is final.  After the
 * last one there is a verdict. */
void waiter_outcome(struct waiters *waiters, struct hearer *waiter,
    const struct answer *answer, uint32_t total);
/* It will take longer than somebody should wait, and why. */
void waiter_later(struct waiters *waiters, struct hearer *waiter,
    struct slice why);

#endif
