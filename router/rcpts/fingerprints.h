/* fingerprints.h - a set of fingerprints that remembers the order they came in
 *
 * Remembers a million byte strings, in 16 bytes a string and at most 8 for the
 * slots.  A fingerprint is 128 bits under a key that nobody outside knows, so
 * two strings never share one.  The newest can be taken back.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_ROUTER_FINGERPRINTS_H
#define ZM_ROUTER_FINGERPRINTS_H

#include "base/siphash.h"

struct fingerprints {
	struct siphash	*list;
	size_t		 count, capacity;
	uint32_t	*slots;		/* number + 1; 0 free */
	size_t		 mask;		/* slots - 1 */
};

/* An empty set / free its memory. */
void fingerprints_init(struct fingerprints *set);
void fingerprints_release(struct fingerprints *set);
/* Empty the set; memory of ordinary size is kept. */
void fingerprints_reset(struct fingerprints *set);

/* Add text.  Returns whether it is new. */
bool fingerprints_add(struct fingerprints *set, struct slice text);

/* Forget all but the first count. */
void fingerprints_truncate(struct fingerprints *set, size_t count);

#endif
