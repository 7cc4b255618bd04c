/* origin.c - the words of judgements
 *
 * SPDX-License-Identifier: ISC
 */
#include "origin/origin.h"

#include "base/banned.h"

static const char *const origin_texts[] = {
	[ORIGIN_NONE] = "none",
	[ORIGIN_PASS] = "pass",
	[ORIGIN_FAIL] = "fail",
	[ORIGIN_SOFTFAIL] = "softfail",
	[ORIGIN_NEUTRAL] = "neutral",
	[ORIGIN_POLICY] = "policy",
	[ORIGIN_TEMPERROR] = "temperror",
	[ORIGIN_PERMERROR] = "permerror",
	[ORIGIN_SEVERAL] = "several",
	[ORIGIN_ASKS] = "asks",
};

const char *
origin_text(enum origin origin)
{
	return origin_texts[origin];
}

const char *
origin_standard_text(enum origin origin)
{
	return origin_text(origin == ORIGIN_SEVERAL ? ORIGIN_NONE : origin);
}

bool
origin_of_text(struct slice text, enum origin *out)
{
	for (enum origin i = ORIGIN_NONE; i < ORIGIN_ASKS; i++)
		if (slice_is(text, origin_texts[i])) {
			*out = i;
			return true;
		}
	return false;
}
