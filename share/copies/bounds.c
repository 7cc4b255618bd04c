/* bounds.c - how much is one transaction, how long a lease is ours
 *
 * In     counts, sizes, moments
 * Out    the same
 * Holds  nothing
 * Spec   bounds.h; doc/protocol/share.md section 5
 *
 * SPDX-License-Identifier: ISC
 */
#include "share/copies/bounds.h"

#include "base/banned.h"

static const uint64_t NEVER_US = 8000000000000000;	/* in the year 2223 */

bool
bounds_takes(size_t count, uint64_t bytes, uint64_t more)
{
	if (count == 0)
		return true;
	return count < COPIES_GROUP_MAX && bytes <= COPIES_GROUP_BYTES_MAX &&
	    more <= COPIES_GROUP_BYTES_MAX - bytes;
}

int64_t
bounds_lease_ms(int64_t asked_ms, int64_t now_ms)
{
	int64_t left_ms = asked_ms + COPIES_LEASE_MS - now_ms;

	return asked_ms == 0 || left_ms < 0 ? 0 : left_ms;
}

uint64_t
bounds_since_us(uint64_t since_us, uint64_t lease_us, uint64_t heard_us)
{
	if (heard_us == 0)
		return NEVER_US;
	return since_us == 0 || since_us == NEVER_US || heard_us < lease_us ||
	    heard_us - lease_us > (uint64_t)COPIES_LEASE_MS * 1000 ?
	    heard_us : since_us;
}

int64_t
bounds_probe_ms(int64_t before_ms, bool was_useful, bool did_connect)
{
	if (was_useful || !did_connect || before_ms < COPIES_PROBE_MS)
		return COPIES_PROBE_MS;
	return before_ms >= COPIES_PROBE_MS_MAX / 2 ? COPIES_PROBE_MS_MAX :
	    before_ms * 2;
}

uint64_t
bounds_parts(uint64_t bytes)
{
	return (bytes + COPIES_PART_BYTES - 1) / COPIES_PART_BYTES;
}

size_t
bounds_part_bytes(uint64_t bytes, uint64_t n)
{
	uint64_t from = n * COPIES_PART_BYTES;

	if (from >= bytes)
		return 0;
	return bytes - from < COPIES_PART_BYTES ? (size_t)(bytes - from) :
	    COPIES_PART_BYTES;
}
