/* cause.c - what keeps a recipient from being tried now, a row each
 *
 * In     codes
 * Out    rows
 * Holds  nothing
 * Spec   doc/protocol/control.md, why
 *
 * SPDX-License-Identifier: ISC
 */
#include "mail/cause.h"

#include "base/banned.h"

const struct cause_row cause_rows[CAUSE_COUNT] = {
#define CAUSE(name, code, text, help) [CAUSE_##name] = { code, text, help },
	CAUSE_ROWS(CAUSE)
#undef CAUSE
};

const struct cause_row *
cause_find(struct slice code)
{
	for (int i = 0; i < CAUSE_COUNT; i++)
		if (slice_is(code, cause_rows[i].code))
			return &cause_rows[i];
	return NULL;
}
