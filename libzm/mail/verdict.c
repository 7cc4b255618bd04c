/* verdict.c - what came of one recipient, in the words of who said it
 *
 * In     a kind, a status, who spoke, the words
 * Out    a struct verdict: one line each, no control characters
 * Trusts nothing: remote words are cut to size and made printable
 * Spec   RFC 3464 section 2.3.3, RFC 3463 section 2
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "mail/verdict.h"

#include "base/banned.h"

const char *const verdict_names[VERDICT_KINDS] = {
	[VERDICT_DELIVERED] = "delivered",
	[VERDICT_RELAYED] = "relayed",
	[VERDICT_EXPANDED] = "expanded",
	[VERDICT_DEFERRED] = "deferred",
	[VERDICT_FAILED] = "failed",
};

static const char *
default_status(enum verdict_kind kind)
{
	if (kind == VERDICT_DEFERRED)
		return "4.0.0";
	return kind == VERDICT_FAILED ? "5.0.0" : "2.0.0";
}

/* Printable ASCII stays as it was said; the rest becomes \xHH.  A piece that
 * does not fit whole is left out. */
static void
copy_line(char *out, size_t size, const char *text)
{
	static const char digits[] = "0123456789abcdef";
	size_t at = 0;

	for (; *text != '\0'; text++) {
		unsigned char c = (unsigned char)*text;

		if (c >= ' ' && c <= '~') {
			if (at + 1 >= size)
				break;
			out[at++] = (char)c;
			continue;
		}
		if (at + 4 >= size)
			break;
		out[at++] = '\\';
		out[at++] = 'x';
		out[at++] = digits[c >> 4];
		out[at++] = digits[c & 15];
	}
	while (at > 0 && out[at - 1] == ' ')
		at--;
	out[at] = '\0';
}

void
verdict_set(struct verdict *verdict, enum verdict_kind kind,
    const char *status, const char *who, const char *format, ...)
{
	char text[2 * VERDICT_TEXT_BYTES];
	va_list ap;

	memset(verdict, 0, sizeof(*verdict));
	verdict->kind = kind;
	copy_line(verdict->status, sizeof(verdict->status),
	    status != NULL && *status != '\0' ? status : default_status(kind));
	copy_line(verdict->who, sizeof(verdict->who), who ? who : "");
	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	/* a line end after the peer's words is no part of them */
	for (size_t n = strlen(text); n > 0 &&
	    (text[n - 1] == '\r' || text[n - 1] == '\n'); n--)
		text[n - 1] = '\0';
	copy_line(verdict->text, sizeof(verdict->text), text);
}

int
verdict_kind_parse(struct slice name)
{
	for (int i = 0; i < VERDICT_KINDS; i++)
		if (slice_is(name, verdict_names[i]))
			return i;
	return -1;
}

bool
verdict_is_final(enum verdict_kind kind)
{
	return kind != VERDICT_DEFERRED;
}
