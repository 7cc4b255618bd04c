/* space.h - room in the spool, and how much of it was promised to clients
 *
 * A client that gives SIZE at MAIL is promised that room until the message has
 * come or is given up.  A promise is `claimed` at MAIL, and `reserved` when the
 * file system has set the room aside for the draft, which reduces the free
 * space.  Small messages (below RESERVE_FROM_BYTES) are promised nothing and
 * ignore promises, so that many large messages that never come do not keep
 * them out.
 *
 * The memory is shared by all workers; the listener makes it before it forks
 * them, with a part for each.  A worker that was taken over can promise too
 * much, and nothing worse: it could fill the disk as well.
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
	RESERVE_PART = 4		/* at most a fourth of free space is
					 * set aside, so that promises cannot
					 * fill the disk */
};

struct space_part {		/* what one worker promised */
	uint64_t	claimed_bytes, reserved_bytes;
	bool		is_taken;
};

struct space_shared;		/* the parts of all */

/* NULL with err. */
struct space_shared *space_shared_new(struct err *err);
void space_shared_free(struct space_shared **shared);
/* Take a part for a new worker; NULL: there are no more, and others will not
 * know what it promises. */
struct space_part *space_part_take(struct space_shared *shared);
/* Its worker is gone, and its promises with it.  Sets *part to NULL. */
void space_part_give_back(struct space_part **part);

struct space {			/* as a worker sees it */
	struct spool		*spool;
	struct space_shared	*shared;	/* NULL: nobody else's */
	struct space_part	*part;		/* ours; never NULL */
	struct space_part	 own;		/* when none was given */
	uint64_t		 free_bytes;	/* as last looked */
	int64_t			 free_until_ms;	/* how long that counts */
};

/* spool, shared and part are borrowed; shared and part may both be NULL. */
void space_init(struct space *space, struct spool *spool);
void space_join(struct space *space, struct space_shared *shared,
    struct space_part *part);

/* Is there room for a message of that many bytes?  Asks the file system at most
 * once a second, but always for large messages and if is_now. */
bool space_has(struct space *space, uint64_t bytes, bool is_now);

struct promise {		/* of one message; zero: nothing */
	struct space_part	*part;
	uint64_t		 bytes;
	bool			 is_reserved;
};

/* Promise room; false: there is not enough. */
bool promise_make(struct space *space, uint64_t bytes, struct promise *out);
/* May the room be set aside now?  Then the caller does it. */
bool promise_reserve(struct space *space, struct promise *promise);
/* The message has come, or will not come. */
void promise_end(struct promise *promise);

#endif
