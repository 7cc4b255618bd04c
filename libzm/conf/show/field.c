/* field.c - one field of the settings as a word of its type
 *
 * In     a field, and the type that its row has
 * Out    what a person would write
 * Holds  nothing
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "conf/read/read.h"
#include "conf/show/show.h"
#include "grammar/message/date.h"
#include "grammar/units.h"

#include "base/banned.h"

static uint64_t
field_number(const void *field, size_t width)
{
	unsigned number;
	uint64_t wide;

	if (width == sizeof(bool))
		return *(const bool *)field;
	if (width == sizeof(unsigned)) {
		memcpy(&number, field, sizeof(number));
		return number;
	}
	memcpy(&wide, field, sizeof(wide));
	return wide;
}

static void
field_choice_add(struct str *out, const char *type, uint64_t index)
{
	struct slice rest = slice_from(slice_of(type), strlen("choice:")),
	    one = { NULL, 0 };

	for (uint64_t i = 0; i <= index; i++)
		slice_cut(&rest, ',', &one);
	str_add_slice(out, one);
}

static void
rate_add(struct str *out, const void *field)
{
	uint64_t count;
	int64_t span_ms;

	memcpy(&count, field, sizeof(count));
	memcpy(&span_ms, (const char *)field + sizeof(count),
	    sizeof(span_ms));
	str_addf(out, count > 0 ? "%llu/" : "0", (unsigned long long)count);
	if (count > 0)
		units_add_span(out, span_ms);
}

static void
text_add(struct str *out, const void *field)
{
	const char *text;

	memcpy(&text, field, sizeof(text));
	if (text != NULL)
		conf_add_word(out, text);
}

void
conf_show_field(struct str *out, const char *type, const void *field,
    size_t width)
{
	struct slice name = slice_of(type);
	uint64_t number;

	if (slice_starts(name, "rate")) {
		rate_add(out, field);
		return;
	}
	number = field_number(field, width);
	if (slice_starts(name, "choice:"))
		field_choice_add(out, type, number);
	else if (slice_starts(name, "span"))
		units_add_span(out, (int64_t)number);
	else if (slice_starts(name, "size"))
		units_add_bytes(out, number);
	else if (slice_starts(name, "number"))
		str_addf(out, "%llu", (unsigned long long)number);
	else if (slice_starts(name, "percent"))
		str_addf(out, "%llu%%", (unsigned long long)number);
	else if (!slice_starts(name, "moment"))
		text_add(out, field);
	else if (number != 0)
		date_add(out, (int64_t)number);
}
