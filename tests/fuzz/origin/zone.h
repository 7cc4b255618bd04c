/* zone.h - an input of two parts: answers of the DNS, and what is judged
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TESTS_FUZZ_ORIGIN_ZONE_H
#define ZM_TESTS_FUZZ_ORIGIN_ZONE_H

#include "base/str.h"

/* What stands before the first empty line; *rest moves after it. */
static inline struct slice
zone_cut(struct slice *rest)
{
	struct slice zone = *rest;

	for (size_t i = 0; i + 1 < rest->n; i++)
		if (rest->p[i] == '\n' && rest->p[i + 1] == '\n') {
			zone = slice_first(*rest, i + 1);
			*rest = slice_from(*rest, i + 2);
			return zone;
		}
	*rest = slice_from(*rest, rest->n);
	return zone;
}

#endif
