/* prints.h - a set of fingerprints that remembers the order they came in
 *
 * Tells of a million byte strings whether each was there before, in 16 bytes
 * a string and at most 8 for the slots.  A fingerprint is 128 bits under a
 * key that nobody outside knows: two strings that share one do not occur.
 * The newest can be taken back.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_ROUTER_PRINTS_H
#define ZM_ROUTER_PRINTS_H

#include "base/siphash.h"

struct prints {
	struct siphash	*list;
	size_t		 count, capacity;
	uint32_t	*slots;		/* number + 1; 0 free */
	size_t		 mask;		/* slots - 1 */
};

void prints_init(struct prints *prints);
void prints_release(struct prints *prints);
/* Empty; memory of ordinary size is kept. */
void prints_reset(struct prints *prints);

/* Add text.  Returns whether it is new. */
bool prints_add(struct prints *prints, struct slice text);

/* Forget all but the first count. */
void prints_truncate(struct prints *prints, size_t count);

#endif
