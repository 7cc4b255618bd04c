/* edit.c - changes that a script makes to a header
 *
 * In     a header, changes: '-' number, '=' number field, '+' - field
 * Out    the header with them
 * Holds  nothing
 * Trusts no change: a field must be one field, its number one of the header's
 * Spec   edit.h; doc/HOOKS.md
 *
 * SPDX-License-Identifier: ISC
 */
#include "router/header/edit.h"

#include "daemon/hook/frame.h"
#include "grammar/message/header.h"

#include "base/banned.h"

struct edit {
	char		what;		/* 0: no more */
	uint64_t	number;
	struct slice	text;
};

/* A field, or a line that is none (which has no number). */
static bool
edit_next_lines(struct slice *rest, struct header_field *field,
    bool *out_is_field)
{
	bool is_broken;

	if (rest->n == 0)
		return false;
	*out_is_field = header_next(rest, field, &is_broken);
	if (!*out_is_field)
		field->whole = header_junk(rest);
	return field->whole.n > 0;
}

void
header_edit_ask(struct hooks *hooks, struct slice header)
{
	struct header_field field;
	bool is_field;

	while (edit_next_lines(&header, &field, &is_field))
		if (is_field)
			hooks_add(hooks, "h", field.whole);
}

/* One whole field, nothing after it. */
static bool
edit_is_field_text(struct slice text)
{
	struct header_field field;
	bool is_broken;

	return text.n > 0 && text.p[text.n - 1] == '\n' &&
	    header_next(&text, &field, &is_broken) && text.n == 0 &&
	    !header_is(&field, "Received");
}

/* 0; -1 it is no change. */
static int
edit_take(struct slice *edits, struct edit *out, struct err *err)
{
	struct slice what, number, text;

	out->what = 0;
	if (edits->n == 0)
		return 0;
	if (!hook_field(edits, &what) || !hook_field(edits, &number) ||
	    !hook_field(edits, &text) || what.n != 1 ||
	    !slice_number(number, 0, UINT32_MAX, &out->number))
		return err_set(err, "a change of the header is broken");
	out->what = what.p[0];
	out->text = text;
	if (out->what == '-' && text.n == 0)
		return 0;
	if ((out->what == '=' || out->what == '+') && edit_is_field_text(text))
		return 0;
	return err_set(err, "a change of the header is no field");
}

static int
edit_fields(struct slice header, struct slice edits, struct str *out,
    struct err *err)
{
	struct header_field field;
	struct edit edit;
	uint64_t number = 0;
	bool is_field;

	if (edit_take(&edits, &edit, err) < 0)
		return -1;
	while (edit_next_lines(&header, &field, &is_field)) {
		bool is_meant = is_field && edit.what != 0 &&
		    edit.what != '+' && edit.number == number;

		number += is_field;
		if (!is_meant) {
			str_add_slice(out, field.whole);
			continue;
		}
		if (header_is(&field, "Received"))
			return err_set(err, "Received fields stay");
		str_add_slice(out, edit.text);
		if (edit_take(&edits, &edit, err) < 0)
			return -1;
	}
	for (; edit.what == '+';) {
		str_add_slice(out, edit.text);
		if (edit_take(&edits, &edit, err) < 0)
			return -1;
	}
	return edit.what == 0 ? 0 : err_set(err, "a change of the header "
	    "names a field that is not there");
}

int
header_edit(struct str *header, struct slice edits, struct err *err)
{
	struct str out = STR_INIT;

	if (edits.n == 0)
		return 0;
	if (edit_fields(str_slice(header), edits, &out, err) < 0) {
		str_release(&out);
		return -1;
	}
	str_release(header);
	*header = out;
	return 0;
}
