/* tags.c - lists of tags
 *
 * In     the value of a signature field, or a key record
 * Out    names and values
 * Trusts nobody
 * Spec   RFC 6376 section 3.2
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/ascii.h"
#include "origin/dkim/internal.h"

#include "base/banned.h"

bool
dkim_tag_name_fits(struct slice name)
{
	for (size_t i = 0; i < name.n; i++)
		if (!ascii_is_alnum(name.p[i]) && name.p[i] != '_')
			return false;
	return name.n > 0 && ascii_is_alpha(name.p[0]);
}

static bool
tag_value_fits(struct slice value)
{
	for (size_t i = 0; i < value.n; i++)
		if ((unsigned char)value.p[i] < ' ' &&
		    !ascii_is_space(value.p[i]))
			return false;
	return true;
}

bool
dkim_tags_read(struct slice text, struct dkim_tags *out)
{
	struct slice tag, name;

	out->count = 0;
	while (slice_cut(&text, ';', &tag)) {
		tag = slice_trim(tag);
		if (tag.n == 0 && text.p == NULL)
			break;			/* after the last sign */
		if (slice_find(tag, '=') == tag.n ||
		    !slice_cut(&tag, '=', &name))
			return false;
		name = slice_trim(name);
		tag = slice_trim(tag);
		if (!dkim_tag_name_fits(name) || !tag_value_fits(tag) ||
		    out->count == DKIM_TAGS_MAX)
			return false;
		for (size_t i = 0; i < out->count; i++)
			if (slice_equal(out->rows[i].name, name))
				return false;
		out->rows[out->count++] = (struct dkim_tag){ name, tag };
	}
	return out->count > 0;
}

struct slice
dkim_tag(const struct dkim_tags *tags, const char *name)
{
	for (size_t i = 0; i < tags->count; i++)
		if (slice_is(tags->rows[i].name, name))
			return tags->rows[i].value.p != NULL ?
			    tags->rows[i].value : SLICE("");
	return (struct slice){ NULL, 0 };
}

struct slice
dkim_squeeze(struct arena *arena, struct slice value)
{
	char *to = arena_alloc(arena, value.n + 1);
	size_t n = 0;

	for (size_t i = 0; i < value.n; i++)
		if (!ascii_is_space(value.p[i]))
			to[n++] = value.p[i];
	return (struct slice){ to, n };
}

bool
dkim_list_has(struct slice list, const char *word)
{
	struct slice one;

	while (slice_cut(&list, ':', &one))
		if (slice_is_nocase(slice_trim(one), word))
			return true;
	return false;
}
