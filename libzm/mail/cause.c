/* cause.c - what keeps a recipient from being tried now, a row each
 *
 * In     codes
 * Out    rows; their help, filled in
 * Holds  nothing
 * Spec   doc/protocol/control.md, why
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

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

void
cause_add_help(const struct cause_row *row, struct slice mail,
    struct slice channel, struct slice host, struct str *out)
{
	const char *p = row->help != NULL ? row->help : "";

	for (; *p != '\0'; p++) {
		if (strncmp(p, "ID", 2) == 0) {
			str_add_escaped(out, mail);
			p++;
		} else if (strncmp(p, "DEST", 4) == 0) {
			str_add_escaped(out, channel);
			str_addc(out, '/');
			str_add_escaped(out, host);
			p += 3;
		} else {
			str_addc(out, *p);
		}
	}
}
