/* dotlock.h - FILE.lock beside a mailbox, and what it tells after a crash
 *
 * The lock file has our pid, which other programs check, and after it a note
 * about the running append: how long the mailbox was before.  Its writer holds
 * flock(2) on it as long as it lives, so a lock whose flock can be taken was
 * left by a crash, and its note says what is torn (doc/INTERNALS.md section 2,
 * mailboxes).
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TRANSPORTS_DOTLOCK_H
#define ZM_TRANSPORTS_DOTLOCK_H

#include <stdint.h>

#include "base/err.h"
#include "transports/mailbox/mailbox.h"

enum { DOTLOCK_SAMPLE_BYTES = 128 };

struct dotlock_note {		/* about one append */
	uint64_t	inode;		/* of the mailbox; 0: there is none */
	uint64_t	old_bytes;	/* its length before */
	uint64_t	new_bytes;	/* of the message, line ends that are
					 * missing in front not counted */
	uint32_t	sample_crc;	/* of the first bytes of the message */
	uint32_t	whole_crc;	/* of all of it */
	char		id[SPOOL_ID_BYTES];
	unsigned	rcpt;		/* as in struct delivery */
};

struct dotlock {
	char			path[MAILBOX_PATH_BYTES + 8];
	int			dir_fd;		/* AT_FDCWD: name is path */
	const char		*name;
	int			fd;		/* -1: not locked */
	bool			is_roots;	/* made by root for a user */
	struct dotlock_note	left;		/* by who held it and died */
};

/* Take the lock, waiting for others.  base: root may make it below where the
 * owner cannot (roots.h).
 * DOTLOCK_DENIED: we may not make a lock in this directory; DOTLOCK_TROUBLE:
 * somebody else holds it for too long, or errno. */
enum dotlock_result { DOTLOCK_TROUBLE = -1, DOTLOCK_DENIED, DOTLOCK_TAKEN };
enum dotlock_result dotlock_take(const char *mailbox,
    const struct account *owner,
    const char *base, struct dotlock *out, struct err *err);

/* Note what will be appended; is_synced: durable first.  0 or -1. */
int dotlock_write(const struct dotlock *lock,
    const struct dotlock_note *note, bool is_synced);

/* Read a note.  True if text is one of ours; out is zero if it ended before the
 * note was written. */
bool dotlock_parse(struct slice text, struct dotlock_note *out);

/* Release the lock; harmless when not locked.  A lock that cannot be removed is
 * emptied: it is nobody's then, and removed when it is old. */
void dotlock_drop(struct dotlock *lock, const struct account *owner);

#endif
