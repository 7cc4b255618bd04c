/* str.c - slices and strings
 *
 * In     bytes
 * Out    views of them, copies of them
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/ascii.h"
#include "base/err.h"
#include "base/str.h"

#include "base/banned.h"

char str_empty[1];

struct slice
slice_of(const char *text)
{
	return (struct slice){ text, text == NULL ? 0 : strlen(text) };
}

bool
slice_equal(struct slice a, struct slice b)
{
	return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

bool
slice_equal_nocase(struct slice a, struct slice b)
{
	if (a.n != b.n)
		return false;
	for (size_t i = 0; i < a.n; i++)
		if (ascii_lower(a.p[i]) != ascii_lower(b.p[i]))
			return false;
	return true;
}

bool
slice_is(struct slice s, const char *text)
{
	size_t i = 0;

	if (text == NULL)	/* as slice_of has it */
		return s.n == 0;
	/* most words differ in the first byte: no call for the rest */
	while (i < s.n && text[i] != '\0' && text[i] == s.p[i])
		i++;
	return i == s.n && text[i] == '\0';
}

bool
slice_is_nocase(struct slice s, const char *text)
{
	return slice_equal_nocase(s, slice_of(text));
}

bool
slice_starts(struct slice s, const char *prefix)
{
	size_t n = strlen(prefix);

	return s.n >= n && (n == 0 || memcmp(s.p, prefix, n) == 0);
}

bool
slice_ends(struct slice s, const char *suffix)
{
	size_t n = strlen(suffix);

	return s.n >= n &&
	    (n == 0 || memcmp(s.p + s.n - n, suffix, n) == 0);
}

struct slice
slice_from(struct slice s, size_t offset)
{
	if (offset > s.n)
		offset = s.n;
	if (offset == 0)	/* p may be NULL */
		return s;
	return (struct slice){ s.p + offset, s.n - offset };
}

struct slice
slice_first(struct slice s, size_t n)
{
	return (struct slice){ s.p, n < s.n ? n : s.n };
}

struct slice
slice_trim(struct slice s)
{
	while (s.n > 0 && ascii_is_space(s.p[0]))
		s = slice_from(s, 1);
	while (s.n > 0 && ascii_is_space(s.p[s.n - 1]))
		s.n--;
	return s;
}

size_t
slice_find(struct slice s, char c)
{
	const char *at = s.n ? memchr(s.p, c, s.n) : NULL;

	return at == NULL ? s.n : (size_t)(at - s.p);
}

size_t
slice_find_text(struct slice s, struct slice text)
{
	const char *at = s.n ? memmem(s.p, s.n, text.p, text.n) : NULL;

	return at == NULL ? s.n : (size_t)(at - s.p);
}

/* By the line: memmem goes by the byte. */
size_t
slice_find_blank_line(struct slice s)
{
	size_t at = 0, n;

	while ((n = slice_find(slice_from(s, at), '\n')) > 0 && at + n < s.n)
		at += n + 1;
	return at + n;
}

size_t
slice_utf8(struct slice s)
{
	static const struct { unsigned char lo, hi, lo2, hi2, len; } rows[] = {
		{ 0xc2, 0xdf, 0x80, 0xbf, 2 }, { 0xe0, 0xe0, 0xa0, 0xbf, 3 },
		{ 0xe1, 0xec, 0x80, 0xbf, 3 }, { 0xed, 0xed, 0x80, 0x9f, 3 },
		{ 0xee, 0xef, 0x80, 0xbf, 3 }, { 0xf0, 0xf0, 0x90, 0xbf, 4 },
		{ 0xf1, 0xf3, 0x80, 0xbf, 4 }, { 0xf4, 0xf4, 0x80, 0x8f, 4 },
	};
	const unsigned char *p = (const unsigned char *)s.p;

	for (size_t i = 0; s.n > 1 && i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (p[0] < rows[i].lo || p[0] > rows[i].hi)
			continue;
		if (s.n < rows[i].len || p[1] < rows[i].lo2 ||
		    p[1] > rows[i].hi2)
			return 0;
		for (size_t k = 2; k < rows[i].len; k++)
			if ((p[k] & 0xc0) != 0x80)
				return 0;
		return rows[i].len;
	}
	return 0;
}

bool
slice_is_obeyed(struct slice c)
{
	const unsigned char *p = (const unsigned char *)c.p;

	if (c.n == 1)
		return p[0] < 32 || p[0] == 127;
	if (c.n == 2)
		return p[0] == 0xc2 && p[1] < 0xa0;
	if (c.n != 3 || p[0] != 0xe2)
		return false;
	return (p[1] == 0x80 && (p[2] == 0x8e || p[2] == 0x8f ||
	    (p[2] >= 0xa8 && p[2] <= 0xae))) ||
	    (p[1] == 0x81 && p[2] >= 0xa6 && p[2] <= 0xa9);
}

bool
slice_cut(struct slice *rest, char c, struct slice *out_head)
{
	size_t at;

	if (rest->p == NULL)
		return false;
	at = slice_find(*rest, c);
	*out_head = slice_first(*rest, at);
	if (at == rest->n)
		*rest = (struct slice){ NULL, 0 };
	else
		*rest = slice_from(*rest, at + 1);
	return true;
}

bool
slice_word(struct slice *rest, struct slice *out_word)
{
	size_t n = 0;

	while (rest->n > 0 && (rest->p[0] == ' ' || rest->p[0] == '\t'))
		*rest = slice_from(*rest, 1);
	if (rest->n == 0)
		return false;
	while (n < rest->n && rest->p[n] != ' ' && rest->p[n] != '\t')
		n++;
	*out_word = slice_first(*rest, n);
	*rest = slice_from(*rest, n);
	return true;
}

bool
slice_number(struct slice s, uint64_t min, uint64_t max, uint64_t *out_value)
{
	uint64_t value = 0;

	if (s.n == 0)
		return false;
	for (size_t i = 0; i < s.n; i++) {
		unsigned digit = (unsigned char)s.p[i] - (unsigned)'0';

		if (digit > 9 || value > (UINT64_MAX - digit) / 10)
			return false;
		value = value * 10 + digit;
	}
	if (value < min || value > max)
		return false;
	*out_value = value;
	return true;
}

struct slice
slice_decimal(uint64_t number, char room[DECIMAL_BYTES])
{
	char *end = room + DECIMAL_BYTES, *at = end;

	do
		*--at = (char)('0' + number % 10);
	while ((number /= 10) > 0);
	return (struct slice){ at, (size_t)(end - at) };
}

char *
slice_dup(struct arena *arena, struct slice s)
{
	return arena_dup(arena, s.p, s.n);
}

struct slice
slice_copy(struct arena *arena, struct slice s)
{
	return (struct slice){ arena_dup(arena, s.p, s.n), s.n };
}

struct slice
slice_lower(struct arena *arena, struct slice s)
{
	char *copy = arena_dup(arena, s.p, s.n);

	for (size_t i = 0; i < s.n; i++)
		copy[i] = ascii_lower(copy[i]);
	return (struct slice){ copy, s.n };
}

void
str_init(struct str *s)
{
	*s = (struct str)STR_INIT;
}

void
str_release(struct str *s)
{
	if (s->cap > 0)
		mem_release(s->buf);
	str_init(s);
}

void
str_reset(struct str *s)
{
	s->len = 0;
	if (s->cap > 0)
		s->buf[0] = '\0';
}

void
str_truncate(struct str *s, size_t n)
{
	if (n >= s->len)
		return;
	s->len = n;
	s->buf[n] = '\0';
}

char *
str_room(struct str *s, size_t n)
{
	if (n > SIZE_MAX / 4 || s->len > SIZE_MAX / 4)
		panic("str_room: %zu bytes", n);
	if (s->len + n + 1 > s->cap) {
		size_t cap = s->cap ? s->cap : 64;

		while (cap < s->len + n + 1)
			cap *= 2;
		s->buf = mem_grow(s->cap ? s->buf : NULL, 1, cap);
		s->cap = cap;
		s->buf[s->len] = '\0';
	}
	return s->buf + s->len;
}

void
str_add(struct str *s, const void *bytes, size_t n)
{
	if (n == 0)
		return;
	memcpy(str_room(s, n), bytes, n);
	s->len += n;
	s->buf[s->len] = '\0';
}

void
str_adds(struct str *s, const char *text)
{
	str_add(s, text, strlen(text));
}

void
str_addc(struct str *s, char c)
{
	str_add(s, &c, 1);
}

void
str_add_slice(struct str *s, struct slice piece)
{
	str_add(s, piece.p, piece.n);
}

void
str_addf(struct str *s, const char *format, ...)
{
	va_list ap;
	int n;

	str_room(s, 128);
	va_start(ap, format);
	n = vsnprintf(s->buf + s->len, s->cap - s->len, format, ap);
	va_end(ap);
	if (n < 0)
		panic("str_addf: bad format");
	if ((size_t)n >= s->cap - s->len) {
		str_room(s, (size_t)n);
		va_start(ap, format);
		vsnprintf(s->buf + s->len, s->cap - s->len, format, ap);
		va_end(ap);
	}
	s->len += (size_t)n;
}

void
str_consume(struct str *s, size_t n)
{
	if (n >= s->len) {
		str_reset(s);
		return;
	}
	memmove(s->buf, s->buf + n, s->len - n + 1);
	s->len -= n;
}

struct slice
str_slice(const struct str *s)
{
	return (struct slice){ s->buf, s->len };
}

void
str_add_escaped(struct str *s, struct slice text)
{
	for (size_t i = 0; i < text.n; i++) {
		unsigned char c = (unsigned char)text.p[i];

		if (c == '\\')
			str_adds(s, "\\\\");
		else if (c < 32 || c > 126)
			str_addf(s, "\\x%02X", c);
		else
			str_addc(s, (char)c);
	}
}
