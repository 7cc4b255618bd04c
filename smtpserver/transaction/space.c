/* space.c - room in the spool, and what of it was promised to clients
 *
 * In     how much a message will have, as its client says
 * Out    yes or no
 * Holds  sums in shared memory; no lock: each part has one writer
 * Trusts no worker's part to be right, only to be bounded by what the disk
 *        has: a draft that finds no room is 452 all the same
 * Spec   space.h; RFC 1870 sections 5 and 6.1
 *
 * SPDX-License-Identifier: ISC
 */
#include <sys/mman.h>

#include "base/clock.h"
#include "smtpserver/transaction/space.h"

#include "base/banned.h"

struct space_shared {
	unsigned		used;	/* parts that ever were */
	struct space_part	parts[SPACE_PARTS];
};

/* ---- the listener's --------------------------------------------------- */

struct space_shared *
space_shared_new(struct err *err)
{
	struct space_shared *shared = mmap(NULL, sizeof(*shared),
	    PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (shared == MAP_FAILED) {
		err_sys(err, "no shared memory");
		return NULL;
	}
	return shared;
}

void
space_shared_free(struct space_shared **shared)
{
	if (*shared != NULL)
		munmap(*shared, sizeof(**shared));
	*shared = NULL;
}

struct space_part *
space_part_take(struct space_shared *shared)
{
	for (unsigned i = 0; i < SPACE_PARTS; i++)
		if (!shared->parts[i].is_taken) {
			shared->parts[i].is_taken = true;
			if (i >= shared->used)
				__atomic_store_n(&shared->used, i + 1,
				    __ATOMIC_RELAXED);
			return &shared->parts[i];
		}
	return NULL;
}

void
space_part_give_back(struct space_part **part)
{
	if (*part != NULL)
		**part = (struct space_part){ 0 };
	*part = NULL;
}

/* ---- a worker's ------------------------------------------------------- */

void
space_init(struct space *space, struct spool *spool)
{
	*space = (struct space){ .spool = spool };
	space->part = &space->own;
}

void
space_join(struct space *space, struct space_shared *shared,
    struct space_part *part)
{
	if (shared == NULL || part == NULL)
		return;
	space->shared = shared;
	space->part = part;
}

/* What all have claimed, and reserved; bounded, whatever the parts say. */
static struct space_part
space_promised(const struct space *space)
{
	struct space_part sum = *space->part;
	unsigned used;

	if (space->shared == NULL)
		return sum;
	used = __atomic_load_n(&space->shared->used, __ATOMIC_RELAXED);
	sum = (struct space_part){ 0 };
	for (unsigned i = 0; i < used && i < SPACE_PARTS; i++) {
		const struct space_part *part = &space->shared->parts[i];
		uint64_t claimed = __atomic_load_n(&part->claimed_bytes,
		    __ATOMIC_RELAXED);
		uint64_t reserved = __atomic_load_n(&part->reserved_bytes,
		    __ATOMIC_RELAXED);

		if (__builtin_add_overflow(sum.claimed_bytes, claimed,
		    &sum.claimed_bytes))
			sum.claimed_bytes = UINT64_MAX;
		if (__builtin_add_overflow(sum.reserved_bytes, reserved,
		    &sum.reserved_bytes))
			sum.reserved_bytes = UINT64_MAX;
	}
	return sum;
}

static void
space_look(struct space *space)
{
	space->free_bytes = spool_free_bytes(space->spool);
	space->free_until_ms = clock_steady_ms() + SPACE_COUNTS_FOR_MS;
}

/* Beside what others have claimed so many bytes.  What a draft that nobody
 * set room aside for has by now counts twice: on the safe side. */
static bool
space_fits(const struct space *space, uint64_t bytes, uint64_t claimed)
{
	uint64_t free_bytes = space->free_bytes;

	if (free_bytes < SPOOL_RESERVE_BYTES)
		return false;
	free_bytes -= SPOOL_RESERVE_BYTES;
	return free_bytes >= bytes && free_bytes - bytes >= claimed;
}

bool
space_has(struct space *space, uint64_t bytes, bool is_now)
{
	bool is_large = bytes >= RESERVE_FROM_BYTES;

	if (is_now || is_large || clock_steady_ms() >= space->free_until_ms)
		space_look(space);
	return space_fits(space, bytes, is_large ?
	    space_promised(space).claimed_bytes :
	    0);
}

static void
space_add(uint64_t *sum, uint64_t bytes)
{
	__atomic_store_n(sum, *sum + bytes, __ATOMIC_RELAXED);
}

static void
space_draw(uint64_t *sum, uint64_t bytes)
{
	__atomic_store_n(sum, *sum - bytes, __ATOMIC_RELAXED);
}

/* First claimed, then counted: of two workers that do it at once at least one
 * sees the other. */
bool
promise_make(struct space *space, uint64_t bytes, struct promise *out)
{
	*out = (struct promise){ .part = NULL };
	if (bytes < RESERVE_FROM_BYTES || space->free_bytes == UINT64_MAX)
		return true;
	space_add(&space->part->claimed_bytes, bytes);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	*out = (struct promise){ space->part, bytes, false };
	if (space_fits(space, 0, space_promised(space).claimed_bytes))
		return true;
	promise_end(out);
	return false;
}

bool
promise_reserve(struct space *space, struct promise *promise)
{
	uint64_t most = space->free_bytes / RESERVE_PART;
	uint64_t reserved = space_promised(space).reserved_bytes;

	if (promise->part == NULL || promise->is_reserved ||
	    reserved > most || promise->bytes > most - reserved)
		return false;
	space_draw(&promise->part->claimed_bytes, promise->bytes);
	space_add(&promise->part->reserved_bytes, promise->bytes);
	promise->is_reserved = true;
	return true;
}

void
promise_end(struct promise *promise)
{
	if (promise->part != NULL)
		space_draw(promise->is_reserved ?
		    &promise->part->reserved_bytes :
		    &promise->part->claimed_bytes, promise->bytes);
	promise->part = NULL;
}
