/* answer.c - places that mail for an address goes to
 *
 * In     words of either mailer
 * Out    a list in order, each place once
 * Holds  nothing
 * Spec   compare.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "tools/zmailer/import/compare/compare.h"

#include "base/banned.h"

void
compare_place_add(struct compare *compare, struct compare_answer *answer,
    const char *format, ...)
{
	va_list args;

	if (answer->count == COMPARE_PLACES_MAX) {
		answer->trouble = "more than 100 places";
		return;
	}
	va_start(args, format);
	answer->places[answer->count++] = import_text(compare->import, format,
	    args);
	va_end(args);
}

static int
place_order(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void
compare_answer_settle(struct compare_answer *answer)
{
	size_t kept = 0;

	if (answer->count == 0)
		return;
	qsort(answer->places, answer->count, sizeof(answer->places[0]),
	    place_order);
	for (size_t i = 0; i < answer->count; i++)
		if (kept == 0 || strcmp(answer->places[i],
		    answer->places[kept - 1]) != 0)
			answer->places[kept++] = answer->places[i];
	answer->count = kept;
}

bool
compare_answer_equal(const struct compare_answer *one,
    const struct compare_answer *other)
{
	if (one->trouble != NULL || other->trouble != NULL ||
	    one->count != other->count)
		return false;
	for (size_t i = 0; i < one->count; i++)
		if (strcmp(one->places[i], other->places[i]) != 0)
			return false;
	return true;
}
