/* space.h - room in the spool, and what of it was promised to clients
 *
 * Who says SIZE at MAIL is promised that room until the message is there or
 * given up.  A promise is `claimed` at MAIL, and `reserved` when the file
 * system has set the room aside for the draft, where free space shows it.
 * Small messages (below RESERVE_FROM_BYTES) are promised nothing and ask
 * for none of what was promised: so many large ones that never come do not
 * keep them out.
 *
 * Shared memory of all workers, made by the listener before it forks them,
 * with a part for each.  A worker that was taken over can promise what is not
 * there, or all of it, no more: it could as well fill the disk.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SMTPSERVER_SESSION_SPACE_H
#define ZM_SMTPSERVER_SESSION_SPACE_H

#include <stdbool.h>
#include <stdint.h>

#include "mail/spool/spool.h"

enum {
	SPACE_COUNTS_FOR_MS = 1000,
	SPACE_PARTS = 1024,		/* workers, also those that leave */
	RESERVE_FROM_BYTES = 1 << 20,	/* smaller ones just fit */
	RESERVE_PART = 4		/* of free space, at the most, is set
					 * aside, so that promises cannot fill
					 * the disk */
};

struct space_part {		/* what one worker promised */
	uint64_t	claimed_bytes, reserved_bytes;
	bool		is_taken;
};

struct space_shared;		/* the parts of all */

/* NULL with err. */
struct space_shared *space_shared_new(struct err *err);
void space_shared_free(struct space_shared **shared);
/* The part of a worker to come; NULL: there are no more, what it promises
 * nobody else will know of. */
struct space_part *space_part_take(struct space_shared *shared);
/* Its worker is gone, and with it what it promised.  Nulls *part. */
void space_part_give_back(struct space_part **part);

struct space {			/* as a worker sees it */
	struct spool		*spool;
	struct space_shared	*shared;	/* NULL: nobody else's */
	struct space_part	*part;		/* ours; never NULL */
	struct space_part	 own;		/* when none was given */
	uint64_t		 free_bytes;	/* as last looked */
	int64_t			 free_until_ms;	/* how long that counts */
};

/* spool is borrowed; shared and part, too, and may be NULL both. */
void space_init(struct space *space, struct spool *spool);
void space_join(struct space *space, struct space_shared *shared,
    struct space_part *part);

/* Is there room for a message of so many bytes?  Asks the file system at
 * most once a second, or always for large ones and when is_now. */
bool space_has(struct space *space, uint64_t bytes, bool is_now);

struct promise {		/* of one message; zero: nothing */
	struct space_part	*part;
	uint64_t		 bytes;
	bool			 is_reserved;
};

/* Promise room; false when it is not there. */
bool promise_make(struct space *space, uint64_t bytes, struct promise *out);
/* May the room be set aside now?  Then the caller does it. */
bool promise_reserve(struct space *space, struct promise *promise);
/* The message is there, or will not come. */
void promise_end(struct promise *promise);

#endif
