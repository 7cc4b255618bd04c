/* describe.c - a recipe for what was changed in a header
 *
 * In     two revisions of a message
 * Out    JSON that makes the first of the second
 * Spec   draft-ietf-dkim-dkim2-spec-04 section 5.1
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/json.h"
#include "origin/dkim/internal.h"
#include "origin/dkim2/internal.h"

#include "base/banned.h"

struct describing {
	struct arena	*arena;
	const struct dkim2_content *before, *after;
	struct str	*out;
	struct err	*err;
	size_t		 count;		/* names so far */
};

/* The values of a name in their canonical form, the last of the header
 * first.  returns how many. */
static size_t
describing_values(const struct describing *describing,
    const struct dkim2_content *content, struct slice name,
    struct slice **out)
{
	static const struct slice none = { NULL, 0 };
	struct str text = STR_INIT;
	size_t n = 0;

	for (size_t i = 0; i < content->count; i++)
		n += slice_equal_nocase(content->fields[i].name, name);
	*out = arena_alloc(describing->arena, (n + 1) * sizeof(**out));
	n = 0;
	for (size_t i = 0; i < content->count; i++) {
		if (!slice_equal_nocase(content->fields[i].name, name))
			continue;
		str_reset(&text);
		dkim_add_field(&text, &content->fields[i], none, true);
		(*out)[n++] = slice_copy(describing->arena, slice_from(
		    str_slice(&text), name.n + 1));
	}
	str_release(&text);
	return n;
}

/* JSON has no other bytes than those of characters. */
static bool
value_is_text(struct slice value)
{
	while (value.n > 0) {
		unsigned char c = (unsigned char)value.p[0];
		size_t n = c < 0x80 ? 1 : slice_utf8(value);

		if (n == 0 || c == '\r' || c == '\0')
			return false;
		value = slice_from(value, n);
	}
	return true;
}

static int
describing_texts(struct describing *describing, const struct slice *values,
    size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!value_is_text(values[i]))
			return err_set(describing->err, "a field that was "
			    "changed here had bytes that no recipe can have");
	json_begin(describing->out, NULL);
	json_list(describing->out, "d", values, count);
	json_end(describing->out);
	return 0;
}

/* What stayed at the end of the header is copied, the rest is told. */
static int
describing_name(struct describing *describing, struct slice name)
{
	struct slice *before, *after;
	size_t had = describing_values(describing, describing->before, name,
	    &before), has = describing_values(describing, describing->after,
	    name, &after), same = 0;
	int result = 0;

	while (same < had && same < has && slice_equal(before[same],
	    after[same]))
		same++;
	if (same == had && same == has)
		return 0;
	describing->count++;
	json_begin_list(describing->out, slice_dup(describing->arena,
	    slice_lower(describing->arena, name)));
	if (same > 0)	/* a list of numbers is nothing that json.h writes */
		str_addf(describing->out, "{\"c\":[1,%zu]}", same);
	if (had > same)
		result = describing_texts(describing, before + same,
		    had - same);
	json_end_list(describing->out);
	return result;
}

static bool
content_had(const struct dkim2_content *content, size_t count,
    struct slice name)
{
	for (size_t i = 0; i < count; i++)
		if (slice_equal_nocase(content->fields[i].name, name))
			return true;
	return false;
}

static int
describing_all(struct describing *describing)
{
	const struct dkim2_content *before = describing->before;
	const struct dkim2_content *after = describing->after;
	int result = 0;

	for (size_t i = 0; result == 0 && i < before->count; i++)
		if (!content_had(before, i, before->fields[i].name))
			result = describing_name(describing,
			    before->fields[i].name);
	for (size_t i = 0; result == 0 && i < after->count; i++)
		if (!content_had(after, i, after->fields[i].name) &&
		    !content_had(before, before->count,
		    after->fields[i].name))
			result = describing_name(describing,
			    after->fields[i].name);
	return result;
}

int
dkim2_describe(const struct dkim2_content *before,
    const struct dkim2_content *after, struct arena *arena, struct str *out,
    struct err *err)
{
	struct describing describing = { arena, before, after, out, err, 0 };
	int result;

	json_open(out);
	json_begin(out, "h");
	result = describing_all(&describing);
	json_end(out);
	json_close(out);
	str_truncate(out, out->len - 1);	/* its LF */
	return result == 0 && describing.count == 0 ?
	    err_set(err, "nothing was changed") : result;
}
