/* guess.h - which known word a misspelt one most likely means
 *
 *	struct guess guess = { .word = as it was written };
 *	for each name: guess_offer(&guess, name);
 *	guess.best is the closest one, or NULL when none is close
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_BASE_GUESS_H
#define ZM_BASE_GUESS_H

#include "base/mem.h"
#include "base/str.h"

struct guess {
	struct slice	 word;
	const char	*best;		/* a candidate that was offered */
	size_t		 distance;
};

/* Keep candidate (not copied) if it is closer than those offered before.  In a
 * word of n letters, 1 + n / 4 may differ. */
void guess_offer(struct guess *guess, const char *candidate);

/* "did you mean 'x'?" in the arena, or NULL. */
const char *guess_hint(const struct guess *guess, struct arena *arena);

#endif
