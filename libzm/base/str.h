/* str.h - a slice borrows bytes, a str owns them
 *
 * A struct slice points into memory that something else owns; it is not
 * NUL-terminated and may hold any byte.  Parsers take slices.
 * A struct str owns a buffer that is always NUL-terminated and never NULL
 * after str_init or STR_INIT; str_release frees it.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_BASE_STR_H
#define ZM_BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mem.h"

struct slice {
	const char	*p;	/* may be NULL only when n is 0 */
	size_t		 n;
};

#define SLICE(literal)	((struct slice){ (literal), sizeof(literal) - 1 })
#define SLICE_FMT	"%.*s"
#define SLICE_ARG(s)	(int)(s).n, (s).p ? (s).p : ""

/* A slice over a C string (NULL gives an empty one). */
struct slice slice_of(const char *text);

/* Compare byte for byte; _nocase ignores the case of ASCII letters. */
bool slice_equal(struct slice a, struct slice b);
bool slice_equal_nocase(struct slice a, struct slice b);
bool slice_is(struct slice s, const char *text);
bool slice_is_nocase(struct slice s, const char *text);
bool slice_starts(struct slice s, const char *prefix);
bool slice_ends(struct slice s, const char *suffix);

/* The bytes from offset on / the first n bytes, as far as s has them. */
struct slice slice_from(struct slice s, size_t offset);
struct slice slice_first(struct slice s, size_t n);

/* Without blanks and tabs (and CR, LF) at both ends. */
struct slice slice_trim(struct slice s);

/* Index of byte c, or s.n when there is none. */
size_t slice_find(struct slice s, char c);
/* The same of a text. */
size_t slice_find_text(struct slice s, struct slice text);
/* Index of the first blank line, whose end is there; s.n if there is none. */
size_t slice_find_blank_line(struct slice s);

/* The length (2 to 4) of the valid UTF-8 sequence of a non-ASCII character at
 * the front (RFC 3629 section 4); 0 when there is none. */
size_t slice_utf8(struct slice s);

/* Would a terminal obey this character (c is one, in ASCII or UTF-8) instead of
 * showing it?  It is a control (C0, DEL; C1: U+009B is ESC [), an end of line
 * or a direction. */
bool slice_is_obeyed(struct slice c);

/* Cut at the first byte c: *out_head is what precedes it, *rest what follows.
 * Returns false when *rest is exhausted (p == NULL).
 * "a,b" gives a, b; "" gives one empty piece. */
bool slice_cut(struct slice *rest, char c, struct slice *out_head);

/* Next word separated by blanks or tabs; false when none is left. */
bool slice_word(struct slice *rest, struct slice *out_word);

/* Read decimal digits without sign or blanks.  false: s is something else, or
 * not min <= value <= max. */
bool slice_number(struct slice s, uint64_t min, uint64_t max,
    uint64_t *out_value);

enum { DECIMAL_BYTES = 20 };
/* The decimal digits of a number, at the end of room: printf takes ten times
 * as long. */
struct slice slice_decimal(uint64_t number, char room[DECIMAL_BYTES]);

/* Copies in an arena: as a C string / as a slice / in lower case. */
char *slice_dup(struct arena *arena, struct slice s);
struct slice slice_copy(struct arena *arena, struct slice s);
struct slice slice_lower(struct arena *arena, struct slice s);

struct str {
	char	*buf;		/* never NULL, NUL after len bytes */
	size_t	 len;
	size_t	 cap;		/* 0 while buf is the shared empty string */
};

extern char str_empty[1];
#define STR_INIT { str_empty, 0, 0 }

/* Make it an empty string, as STR_INIT does. */
void str_init(struct str *s);
/* Free the buffer; s is empty and usable again. */
void str_release(struct str *s);
/* Empty it and keep the buffer. */
void str_reset(struct str *s);
/* Make room for n more bytes after len; returns where they go. */
char *str_room(struct str *s, size_t n);
void str_add(struct str *s, const void *bytes, size_t n);
void str_adds(struct str *s, const char *text);
void str_addc(struct str *s, char c);
void str_add_slice(struct str *s, struct slice piece);
void str_addf(struct str *s, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Keep only the first n bytes. */
void str_truncate(struct str *s, size_t n);
/* Drop the first n bytes. */
void str_consume(struct str *s, size_t n);
struct slice str_slice(const struct str *s);

/* Append remote text so that it is safe on one line of a log or terminal:
 * controls and bytes over 126 become \xHH, backslash becomes \\. */
void str_add_escaped(struct str *s, struct slice text);

#endif
