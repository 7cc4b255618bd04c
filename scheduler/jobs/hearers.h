/* hearers.h - messages whose client waits for the next hop's answer
 *
 * smtpserver announces such a message before it has its name, so that its
 * hearer is there before its job is; asks for the verdict when it is
 * published; and says `told` when the client hears a refusal, which ends the
 * message without a report (verdicts/verdicts.h has the lines).
 *
 * 	announced -> (outcomes of its recipients) -> a verdict
 *            -> asked -> answered: the hearer ends; but a refusal stays until
 *            it was told, or not in time
 *
 * None of this is on disk.  If a hearer is lost, the client does not get the
 * next hop's words, and the sender gets a second notice; mail is never lost.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SCHEDULER_HEARERS_H
#define ZM_SCHEDULER_HEARERS_H

#include <sys/queue.h>

#include "io/loop.h"
#include "mail/spool/spool.h"
#include "scheduler/jobs/answer.h"

enum {
	HEARERS_MAX = 4096,		/* at once; more are not taken */
	HEARER_BUCKETS = 1024,
	HEARER_STATUS_BYTES = 12,
	HEARER_TEXT_BYTES = 400		/* of the next hop's words */
};

enum hearer_verdict {
	HEARER_OPEN,		/* not known yet */
	HEARER_DELIVERED,	/* every recipient has it */
	HEARER_REFUSED,		/* none has it, none ever will */
	HEARER_QUEUED		/* anything else: it goes on as all mail */
};

struct hearer {
	char			 id[SPOOL_ID_BYTES];
	ino_t			 inode;		/* its job's; 0: none yet */
	uint64_t		 token;		/* of the question; 0: not
						 * asked yet */
	bool			 is_answered;
	enum hearer_verdict	 verdict;
	uint32_t		 delivered, failed;	/* recipients */
	char			 status[HEARER_STATUS_BYTES];	/* of the first
						 * one; QUEUED: "" */
	char			 text[HEARER_TEXT_BYTES];
	struct timer		 timer;		/* verdicts.c's */
	void			*owner;		/* the connection's */
	bool			 is_decided;	/* on the list decided */
	LIST_ENTRY(hearer)	 bucket;
	TAILQ_ENTRY(hearer)	 all, decided;
};
TAILQ_HEAD(hearer_list, hearer);

struct hearers {
	LIST_HEAD(hearer_bucket, hearer) buckets[HEARER_BUCKETS];
	struct hearer_list	 all, decided;	/* decided: to be looked at */
	size_t			 count;
};

/* Begin with none; hearers_release frees all. */
void hearers_init(struct hearers *hearers);
void hearers_release(struct hearers *hearers);

/* Add a hearer for a message that is about to come.  NULL: there are too many,
 * or the message has one. */
struct hearer *hearers_add(struct hearers *hearers, const char *id,
    void *owner);
/* The hearer of a message, or NULL. */
struct hearer *hearers_find(const struct hearers *hearers, const char *id);
/* Forget one, and null it. */
void hearer_end(struct hearers *hearers, struct hearer **hearer);

/* A recipient of the message, which has total of them, is final.  After the
 * last one there is a verdict. */
void hearer_outcome(struct hearers *hearers, struct hearer *hearer,
    const struct answer *answer, uint32_t total);
/* The message will take longer than a client should wait; why says the
 * reason. */
void hearer_later(struct hearers *hearers, struct hearer *hearer,
    struct slice why);

#endif
