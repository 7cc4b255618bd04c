/* form.c - the fields of a query or a form
 *
 * In     a query, a body: from anybody
 * Out    fields, decoded once
 * Trusts nothing: one bad field and all is bad
 * Spec   form.h; URL (WHATWG) 5.1
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/ascii.h"
#include "web/pages/form.h"

#include "base/banned.h"

/* One byte of a value that people may type; -1: none of those. */
static int
form_byte(unsigned char byte)
{
	if (byte == '\t' || byte == '\r' || byte == '\n')
		return ' ';
	return byte < ' ' || byte == 0x7f ? -1 : byte;
}

static bool
form_is_utf8(struct slice text)
{
	for (size_t i = 0, n; i < text.n; i += n) {
		n = (unsigned char)text.p[i] < 0x80 ? 1 :
		    slice_utf8(slice_from(text, i));
		if (n == 0)
			return false;
	}
	return true;
}

static int
form_decode(struct slice in, struct arena *arena, struct slice *out)
{
	char *to = arena_alloc(arena, in.n + 1);
	size_t n = 0;

	if (in.n > 3 * FORM_VALUE_BYTES_MAX)
		return -1;
	for (size_t i = 0; i < in.n; i++) {
		int byte = (unsigned char)in.p[i];

		if (byte == '+') {
			byte = ' ';
		} else if (byte == '%') {
			if (in.n - i < 3 || ascii_hex(in.p[i + 1]) < 0 ||
			    ascii_hex(in.p[i + 2]) < 0)
				return -1;
			byte = ascii_hex(in.p[i + 1]) << 4 |
			    ascii_hex(in.p[i + 2]);
			i += 2;
		}
		byte = form_byte((unsigned char)byte);
		if (byte < 0)
			return -1;
		to[n++] = (char)byte;
	}
	to[n] = '\0';
	*out = (struct slice){ to, n };
	return n <= FORM_VALUE_BYTES_MAX && form_is_utf8(*out) ? 0 : -1;
}

int
form_read_fields(struct slice text, struct arena *arena, struct form *out)
{
	struct slice piece;

	out->count = 0;
	while (slice_cut(&text, '&', &piece)) {
		struct form_field *field = &out->fields[out->count];
		size_t equals = slice_find(piece, '=');

		if (piece.n == 0)
			continue;
		if (out->count == FORM_FIELDS_MAX ||
		    form_decode(slice_first(piece, equals), arena,
		    &field->key) < 0 ||
		    form_decode(slice_from(piece, equals + 1), arena,
		    &field->value) < 0)
			return -1;
		out->count++;
	}
	return 0;
}

bool
form_next(const struct form *form, const char *key, size_t *at,
    struct slice *out_value)
{
	while (*at < form->count) {
		const struct form_field *field = &form->fields[(*at)++];

		if (slice_is(field->key, key)) {
			*out_value = field->value;
			return true;
		}
	}
	return false;
}

struct slice
form_get(const struct form *form, const char *key)
{
	struct slice value = SLICE("");
	size_t at = 0;

	(void)form_next(form, key, &at, &value);
	return value;
}
