/* filter.c - the filter of a question to a directory
 *
 * In     the filter of a definition, checked (mail/table/definition.c)
 * Out    the filter with a key in it
 * Holds  nothing
 * Trusts no key: no byte of it is more than a value
 * Spec   RFC 4515 section 3
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/ascii.h"
#include "tables/engine/filter.h"

#include "base/banned.h"

/* Letters, digits and what addresses mostly have stay to be read. */
static bool
filter_is_plain(char c)
{
	return ascii_is_alnum(c) || ascii_is_among(c, "@.-_+");
}

static void
filter_add_value(struct str *out, struct slice value)
{
	for (size_t i = 0; i < value.n; i++)
		if (filter_is_plain(value.p[i]))
			str_addc(out, value.p[i]);
		else
			str_addf(out, "\\%02x", (unsigned char)value.p[i]);
}

void
filter_render(struct str *out, const char *filter,
    const struct slice parameters[DEFINITION_PARAMETERS])
{
	for (const char *p = filter; *p != '\0'; p++)
		if (*p == '$' && p[1] >= '1' &&
		    p[1] < '1' + DEFINITION_PARAMETERS)
			filter_add_value(out, parameters[*++p - '1']);
		else
			str_addc(out, *p);
}
