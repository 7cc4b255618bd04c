/* json.c - flat JSON objects, a line each
 *
 * In     keys and values; or one line of text
 * Out    the line; or one value of it
 * Trusts nothing it reads: every index is checked against the line
 * Spec   RFC 8259
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/ascii.h"
#include "base/json.h"

#include "base/banned.h"

void
json_open(struct str *out)
{
	str_addc(out, '{');
}

void
json_open_answer(struct str *out)
{
	json_open(out);
	json_number(out, "v", 1);
}

void
json_add_answer(struct str *out, struct slice object)
{
	if (object.n > 1 && object.p[0] == '{' &&
	    !slice_starts(object, "{\"v\":")) {
		str_adds(out, object.n > 2 ? "{\"v\":1," : "{\"v\":1");
		object = slice_from(object, 1);
	}
	str_add_slice(out, object);
	str_addc(out, '\n');
}

void
json_close(struct str *out)
{
	str_adds(out, "}\n");
}

static void
add_beyond_ascii(struct str *out, const unsigned char *p, size_t len)
{
	if (!slice_is_obeyed((struct slice){ (const char *)p, len }))
		str_add(out, p, len);
	else if (len == 2)
		str_addf(out, "\\u%04x", (p[0] & 31u) << 6 | (p[1] & 63u));
	else
		str_addf(out, "\\u%04x", (p[0] & 15u) << 12 |
		    (p[1] & 63u) << 6 | (p[2] & 63u));
}

static void
add_string(struct str *out, struct slice text)
{
	const unsigned char *p = (const unsigned char *)text.p;
	size_t i = 0, len;

	str_addc(out, '"');
	while (i < text.n) {
		unsigned char c = p[i];

		if (c == '"' || c == '\\') {
			str_addc(out, '\\');
			str_addc(out, (char)c);
			i++;
		} else if (c < 32 || c == 127) {
			str_addf(out, "\\u%04x", c);
			i++;
		} else if (c < 127) {
			size_t run = 1;

			while (i + run < text.n && p[i + run] >= 32 &&
			    p[i + run] < 127 && p[i + run] != '"' &&
			    p[i + run] != '\\')
				run++;
			str_add(out, p + i, run);
			i += run;
		} else if ((len = slice_utf8(slice_from(text, i))) > 0) {
			add_beyond_ascii(out, p + i, len);
			i += len;
		} else {
			str_adds(out, "\xef\xbf\xbd");
			i++;
		}
	}
	str_addc(out, '"');
}

static void
add_key(struct str *out, const char *key)
{
	if (out->len > 0 && out->buf[out->len - 1] != '{')
		str_addc(out, ',');
	add_string(out, slice_of(key));
	str_addc(out, ':');
}

void
json_begin(struct str *out, const char *key)
{
	if (key != NULL)
		add_key(out, key);
	else if (out->buf[out->len - 1] != '[')
		str_addc(out, ',');
	str_addc(out, '{');
}

void
json_end(struct str *out)
{
	str_addc(out, '}');
}

void
json_begin_list(struct str *out, const char *key)
{
	add_key(out, key);
	str_addc(out, '[');
}

void
json_end_list(struct str *out)
{
	str_addc(out, ']');
}

void
json_text(struct str *out, const char *key, struct slice value)
{
	add_key(out, key);
	add_string(out, value);
}

void
json_number(struct str *out, const char *key, int64_t value)
{
	char room[DECIMAL_BYTES];

	add_key(out, key);
	if (value < 0)
		str_addc(out, '-');
	str_add_slice(out, slice_decimal(value < 0 ? -(uint64_t)value :
	    (uint64_t)value, room));
}

void
json_bool(struct str *out, const char *key, bool value)
{
	add_key(out, key);
	str_adds(out, value ? "true" : "false");
}

void
json_list(struct str *out, const char *key, const struct slice *values,
    size_t count)
{
	add_key(out, key);
	str_addc(out, '[');
	for (size_t i = 0; i < count; i++) {
		if (i > 0)
			str_addc(out, ',');
		add_string(out, values[i]);
	}
	str_addc(out, ']');
}

/* ---- reading ------------------------------------------------------- */

static bool
skip_blank(struct slice line, size_t *at)
{
	while (*at < line.n && (line.p[*at] == ' ' || line.p[*at] == '\t' ||
	    line.p[*at] == '\n' || line.p[*at] == '\r'))
		(*at)++;
	return *at < line.n;
}

static bool
json_hex4(struct slice line, size_t at, unsigned *out_code)
{
	unsigned code = 0;

	if (at + 4 > line.n)
		return false;
	for (size_t i = at; i < at + 4; i++) {
		int digit = ascii_hex(line.p[i]);

		if (digit < 0)
			return false;
		code = code << 4 | (unsigned)digit;
	}
	*out_code = code;
	return true;
}

static void
json_add_utf8(struct str *out, unsigned code)
{
	if (code < 0x80) {
		str_addc(out, (char)code);
	} else if (code < 0x800) {
		str_addc(out, (char)(0xc0 | code >> 6));
		str_addc(out, (char)(0x80 | (code & 63)));
	} else {
		str_addc(out, (char)(0xe0 | code >> 12));
		str_addc(out, (char)(0x80 | (code >> 6 & 63)));
		str_addc(out, (char)(0x80 | (code & 63)));
	}
}

/* So many bytes from there on stand for themselves. */
static size_t
plain_run(struct slice line, size_t at)
{
	size_t end = at;

	while (end < line.n && line.p[end] != '"' && line.p[end] != '\\')
		end++;
	return end - at;
}

/* *at stands on the opening quote; then after the closing one. */
static bool
read_string(struct slice line, size_t *at, struct slice *out_raw,
    struct str *out)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	size_t i = *at + 1;

	while (i < line.n && line.p[i] != '"') {
		const char *found;
		unsigned code;

		size_t run = plain_run(line, i);

		if (run > 0) {
			if (out != NULL)
				str_add(out, line.p + i, run);
			i += run;
			continue;
		}
		if (i + 1 >= line.n)
			return false;
		if (line.p[i + 1] == 'u') {
			if (!json_hex4(line, i + 2, &code))
				return false;
			if (out != NULL)
				json_add_utf8(out, code);
			i += 6;
			continue;
		}
		found = memchr(from, line.p[i + 1], sizeof(from) - 1);
		if (found == NULL)
			return false;
		if (out != NULL)
			str_addc(out, to[found - from]);
		i += 2;
	}
	if (i >= line.n)
		return false;
	if (out_raw != NULL)
		*out_raw = (struct slice){ line.p + *at + 1, i - *at - 1 };
	*at = i + 1;
	return true;
}

/* A value that is not a string: up to the next comma or brace outside. */
static bool
read_plain(struct slice line, size_t *at, struct str *out)
{
	size_t start = *at, depth = 0, i = *at;

	for (; i < line.n; i++) {
		char c = line.p[i];

		if (c == '"') {
			if (!read_string(line, &i, NULL, NULL))
				return false;
			i--;
		} else if (c == '[') {
			depth++;
		} else if (c == ']') {
			if (depth == 0)
				return false;
			depth--;
		} else if (depth == 0 && (c == ',' || c == '}')) {
			break;
		}
	}
	if (i >= line.n || i == start)
		return false;
	str_add_slice(out,
	    slice_trim((struct slice){ line.p + start, i - start }));
	*at = i;
	return true;
}

bool
json_next(struct slice line, size_t *cursor, struct slice *out_key,
    struct str *out_value)
{
	size_t at = *cursor;

	str_reset(out_value);
	if (!skip_blank(line, &at) ||
	    line.p[at] != (*cursor == 0 ? '{' : ','))
		return false;
	at++;
	if (!skip_blank(line, &at) || line.p[at] != '"' ||
	    !read_string(line, &at, out_key, NULL))
		return false;
	if (!skip_blank(line, &at) || line.p[at] != ':')
		return false;
	at++;
	if (!skip_blank(line, &at))
		return false;
	if (line.p[at] == '"') {
		if (!read_string(line, &at, NULL, out_value))
			return false;
	} else if (!read_plain(line, &at, out_value)) {
		return false;
	}
	if (!skip_blank(line, &at))
		return false;
	*cursor = at;
	return true;
}

bool
json_get(struct slice line, const char *key, struct str *out_value)
{
	struct str value = STR_INIT;
	struct slice name;
	size_t cursor = 0;
	bool found = false;

	while (!found && json_next(line, &cursor, &name, &value))
		if (slice_is(name, key)) {
			str_reset(out_value);
			str_add_slice(out_value, str_slice(&value));
			found = true;
		}
	str_release(&value);
	return found;
}

void
json_add_escaped(struct str *out, struct slice line, const char *key)
{
	struct str value = STR_INIT;

	if (json_get(line, key, &value))
		str_add_escaped(out, str_slice(&value));
	str_release(&value);
}

int64_t
json_get_number(struct slice line, const char *key)
{
	struct str value = STR_INIT;
	uint64_t number;

	if (!json_get(line, key, &value) ||
	    !slice_number(str_slice(&value), 0, INT64_MAX, &number))
		number = 0;
	str_release(&value);
	return (int64_t)number;
}

bool
json_is(struct slice line, const char *key, const char *value)
{
	struct str text = STR_INIT;
	bool is = json_get(line, key, &text) &&
	    slice_is(str_slice(&text), value);

	str_release(&text);
	return is;
}
