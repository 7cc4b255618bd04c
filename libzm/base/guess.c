/* guess.c - which of the words that are known somebody most likely meant
 *
 * In     a word, and candidates one by one
 * Out    the closest of them, when it is close
 * Holds  nothing but the best so far
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/ascii.h"
#include "base/guess.h"

#include "base/banned.h"

enum { GUESS_BYTES_MAX = 40 };

static size_t
guess_least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Insertions, deletions, changes and swaps of neighbours between a and b;
 * both are at most GUESS_BYTES_MAX long. */
static size_t
edit_distance(struct slice a, struct slice b)
{
	size_t rows[3][GUESS_BYTES_MAX + 1];
	size_t *before = rows[0], *above = rows[1], *here = rows[2], *oldest;

	for (size_t j = 0; j <= b.n; j++)
		above[j] = j;
	memset(before, 0, sizeof(rows[0]));
	for (size_t i = 1; i <= a.n; i++) {
		here[0] = i;
		for (size_t j = 1; j <= b.n; j++) {
			size_t change = ascii_lower(a.p[i - 1]) !=
			    ascii_lower(b.p[j - 1]);

			here[j] =
			    guess_least(guess_least(above[j], here[j - 1]) + 1,
				above[j - 1] + change);
			if (i > 1 && j > 1 && a.p[i - 1] == b.p[j - 2] &&
			    a.p[i - 2] == b.p[j - 1])
				here[j] = guess_least(here[j],
				    before[j - 2] + 1);
		}
		oldest = before;
		before = above;
		above = here;
		here = oldest;
	}
	return above[b.n];
}

void
guess_offer(struct guess *guess, const char *candidate)
{
	struct slice text = slice_of(candidate);
	size_t distance, allowed = 1 + guess->word.n / 4;

	if (text.n > GUESS_BYTES_MAX || guess->word.n > GUESS_BYTES_MAX ||
	    guess->word.n < 2)
		return;
	distance = edit_distance(guess->word, text);
	if (distance > allowed || distance >= text.n)
		return;
	if (guess->best != NULL && guess->distance <= distance)
		return;
	guess->best = candidate;
	guess->distance = distance;
}

const char *
guess_hint(const struct guess *guess, struct arena *arena)
{
	if (guess->best == NULL)
		return NULL;
	return arena_printf(arena, "did you mean '%s'?", guess->best);
}
