/* keep.h - keep the journal in bounds: close, pack and remove its parts
 *
 * The file being written is closed (renamed to the next number) when its day is
 * over or when it is as large as a part may be; a closed part that no process
 * has open any more is packed; the oldest, packed or not, are removed when they
 * are older than configured or when all together are too large.  Every step is
 * one rename or unlink (doc/INTERNALS.md section 9); any may be the last before
 * a crash.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_JOURNAL_KEEP_H
#define ZM_TOOLS_JOURNAL_KEEP_H

#include "base/err.h"
#include "conf/conf.h"

struct kept {
	unsigned	closed, packed, removed;	/* in this call */
	uint64_t	bytes;		/* of all files, afterwards */
};

/* Do one round of the above.  closes_all: close also a small file of today.
 * KEEP_BUSY: another process does it now; KEEP_FAILED: err says why. */
enum keep_result { KEEP_FAILED = -1, KEEP_BUSY, KEEP_DONE };
enum keep_result journal_keep(const struct conf *conf, bool closes_all,
    struct kept *out, struct err *err);

#endif
