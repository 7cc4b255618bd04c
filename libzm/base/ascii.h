/* ascii.h - kinds of characters, whatever the locale
 *
 * ctype(3) asks the locale and must not be given a plain char.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_BASE_ASCII_H
#define ZM_BASE_ASCII_H

#include <stdbool.h>
#include <string.h>

static inline bool
ascii_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static inline bool
ascii_is_upper(char c)
{
	return c >= 'A' && c <= 'Z';
}

static inline bool
ascii_is_lower(char c)
{
	return c >= 'a' && c <= 'z';
}

static inline bool
ascii_is_alpha(char c)
{
	return ascii_is_upper(c) || ascii_is_lower(c);
}

static inline bool
ascii_is_alnum(char c)
{
	return ascii_is_alpha(c) || ascii_is_digit(c);
}

/* A blank or a tab. */
static inline bool
ascii_is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* A blank, a tab, CR or LF. */
static inline bool
ascii_is_space(char c)
{
	return ascii_is_blank(c) || c == '\r' || c == '\n';
}

/* Is c one of the characters in set?  NUL never is, though strchr(3) finds
 * it. */
static inline bool
ascii_is_among(char c, const char *set)
{
	return c != '\0' && strchr(set, c) != NULL;
}

static inline char
ascii_lower(char c)
{
	return ascii_is_upper(c) ? (char)(c - 'A' + 'a') : c;
}

static inline char
ascii_upper(char c)
{
	return ascii_is_lower(c) ? (char)(c - 'a' + 'A') : c;
}

/* A visible character, or a blank. */
static inline bool
ascii_is_print(char c)
{
	return c >= ' ' && c <= '~';
}

/* The value of a hexadecimal digit of either case; -1: it is not one. */
static inline int
ascii_hex(char c)
{
	if (ascii_is_digit(c))
		return c - '0';
	c = ascii_lower(c);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The same where only lower case is allowed. */
static inline int
ascii_hex_small(char c)
{
	return ascii_is_upper(c) ? -1 : ascii_hex(c);
}

#endif
