/* frame.c - what a program and its script's process say to each other
 *
 * In     bytes of the other side
 * Out    frames whose every field was looked at
 * Holds  nothing
 * Trusts no length: each is checked against what is there
 * Spec   frame.h
 *
 * SPDX-License-Identifier: ISC
 */
#include "daemon/hook/frame.h"

#include <stdio.h>
#include <string.h>

#include "base/banned.h"

enum { FIELD_DIGITS_MAX = 8 };

/* One field off the front.  1, or -1. */
static int
field_cut(struct slice *rest, struct slice *out)
{
	size_t digits = slice_find(slice_first(*rest, FIELD_DIGITS_MAX + 1),
	    ':');
	uint64_t n;

	if (digits > FIELD_DIGITS_MAX || digits >= rest->n ||
	    !slice_number(slice_first(*rest, digits), 0, HOOK_FRAME_BYTES_MAX,
	    &n) || rest->n - digits - 1 < n + 1 ||
	    rest->p[digits + 1 + n] != ',')
		return -1;
	*out = slice_first(slice_from(*rest, digits + 1), (size_t)n);
	*rest = slice_from(*rest, digits + 1 + (size_t)n + 1);
	return 1;
}

static int
fields_check(struct slice fields, struct err *err)
{
	struct slice field;

	while (fields.n > 0)
		if (field_cut(&fields, &field) != 1)
			return err_set(err, "a field does not end where it "
			    "says");
	return 1;
}

enum hook_frame_found
hook_frame_take(struct slice bytes, struct hook_frame *out, size_t *out_used,
    struct err *err)
{
	struct slice digits = slice_first(slice_from(bytes, 1),
	    HOOK_FRAME_HEAD_BYTES - 2);
	uint64_t n;

	if (bytes.n > 0 && (bytes.p[0] < 'A' || bytes.p[0] > 'Z'))
		return err_set(err, "a frame begins with a capital letter");
	if (bytes.n < HOOK_FRAME_HEAD_BYTES)
		return HOOK_FRAME_PART;
	if (!slice_number(digits, 0, HOOK_FRAME_BYTES_MAX, &n) ||
	    bytes.p[HOOK_FRAME_HEAD_BYTES - 1] != ':')
		return err_set(err, "a frame has at most %d bytes",
		    HOOK_FRAME_BYTES_MAX);
	if (bytes.n < HOOK_FRAME_HEAD_BYTES + n + 1)
		return HOOK_FRAME_PART;
	out->type = bytes.p[0];
	out->fields = slice_first(slice_from(bytes, HOOK_FRAME_HEAD_BYTES),
	    (size_t)n);
	*out_used = HOOK_FRAME_HEAD_BYTES + (size_t)n + 1;
	if (bytes.p[*out_used - 1] != '\n')
		return err_set(err, "a frame ends with a line's end");
	return fields_check(out->fields, err);
}

bool
hook_field(struct slice *fields, struct slice *out)
{
	return fields->n > 0 && field_cut(fields, out) == 1;
}

size_t
hook_frame_begin(struct str *out, char type)
{
	size_t start = out->len;

	str_addf(out, "%c%08d:", type, 0);
	return start;
}

void
hook_field_add(struct str *out, struct slice bytes)
{
	str_addf(out, "%zu:", bytes.n);
	str_add_slice(out, bytes);
	str_addc(out, ',');
}

void
hook_frame_end(struct str *out, size_t start)
{
	char digits[HOOK_FRAME_HEAD_BYTES];

	snprintf(digits, sizeof(digits), "%08zu",
	    (out->len - start - HOOK_FRAME_HEAD_BYTES) % 100000000);
	memcpy(out->buf + start + 1, digits, HOOK_FRAME_HEAD_BYTES - 2);
	str_addc(out, '\n');
}
