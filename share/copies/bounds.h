/* bounds.h - how much is one transaction, how long a lease is ours
 *
 * Pure: time is an argument.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SHARE_COPIES_BOUNDS_H
#define ZM_SHARE_COPIES_BOUNDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	COPIES_PATIENCE_MS = 5000,	/* of who asks */
	COPIES_STATUS_MS = 1500,	/* of a status: then without owners */
	COPIES_WAITS_MAX = 2048,
	COPIES_GROUP_MAX = 64,		/* messages of a transaction */
	COPIES_GROUP_BYTES_MAX = 8 << 20,	/* of them; a larger one is
						 * alone */
	COPIES_PART_BYTES = 256 << 10,
	COPIES_LEASE_MS = 15000,
	COPIES_RENEW_MS = 5000,
	COPIES_LOOK_AGAIN_MS = 300000,	/* names have other addresses then */
	COPIES_PROBE_MS = 1000,
	COPIES_PROBE_MS_MAX = 30000	/* of one that connects and answers
					 * nothing */
};

/* Does a group of so many messages and bytes take one more of so many? */
bool bounds_takes(size_t count, uint64_t bytes, uint64_t more);

/* How long, at now_ms, the lease is ours that was asked for at asked_ms (0:
 * none was given). */
int64_t bounds_lease_ms(int64_t asked_ms, int64_t now_ms);

/* Since when we have had a lease without a break, by the database's clock:
 * since_us (0: not before), unless the lease of lease_us was over when that of
 * heard_us was given, or its clock was moved.  heard_us 0: nobody knows, and
 * that is a moment that never comes. */
uint64_t bounds_since_us(uint64_t since_us, uint64_t lease_us,
    uint64_t heard_us);

/* The pause before it is tried again.  was_useful: it has answered since it
 * was tried last; did_connect: it has let us in, at least. */
int64_t bounds_probe_ms(int64_t before_ms, bool was_useful, bool did_connect);

/* How many parts a message of so many bytes has, and the size of part n. */
uint64_t bounds_parts(uint64_t bytes);
size_t bounds_part_bytes(uint64_t bytes, uint64_t n);

#endif
