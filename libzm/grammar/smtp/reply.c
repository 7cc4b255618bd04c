/* reply.c - replies of an SMTP or LMTP server
 *
 * In     unread bytes of the connection
 * Out    code, status, slices of the text
 * Trusts nothing: lines, their number and the whole are bounded
 * Spec   RFC 5321 section 4.2 and 4.2.1; RFC 2034 section 4
 *
 *   Reply-line = *( Reply-code "-" [ text ] CRLF ) Reply-code [ SP text ]
 *                CRLF                  ; a bare LF ends a line, too
 *   Reply-code = %x32-35 2DIGIT        ; the same on every line
 *   status     = ( "2" / "4" / "5" ) "." 1*3DIGIT "." 1*3DIGIT ( SP / end )
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>

#include "base/ascii.h"
#include "grammar/smtp/reply.h"

#include "base/banned.h"

enum { TEXT_BYTES_MAX = 500 };	/* of reply_add_text */

/* The line in front, without its end; false when its LF is not there yet.
 * *out_bytes is its length with the end. */
static bool
line_cut(struct slice in, struct slice *out_line, size_t *out_bytes)
{
	size_t n = slice_find(in, '\n');

	*out_bytes = n + 1;
	*out_line = slice_first(in, n);
	if (n == in.n)
		return false;
	if (n > 0 && in.p[n - 1] == '\r')
		out_line->n--;
	return true;
}

/* Code of one line, or -1. */
static int
line_code(struct slice line)
{
	if (line.n < 3 || line.p[0] < '2' || line.p[0] > '5' ||
	    !ascii_is_digit(line.p[1]) || !ascii_is_digit(line.p[2]))
		return -1;
	if (line.n > 3 && line.p[3] != ' ' && line.p[3] != '-')
		return -1;
	return (line.p[0] - '0') * 100 + (line.p[1] - '0') * 10 +
	    (line.p[2] - '0');
}

static struct slice
line_text(struct slice line)
{
	return slice_from(line, 4);
}

/* Bytes of "4.2.1" at the front of text, or 0. */
static size_t
status_bytes(int code, struct slice text)
{
	size_t at = 1, dots = 0;

	if (text.n == 0 || text.p[0] != '0' + code / 100 || text.p[0] == '3')
		return 0;
	for (; dots < 2; dots++) {
		size_t digits = 0;

		if (at >= text.n || text.p[at] != '.')
			return 0;
		at++;
		while (at + digits < text.n && ascii_is_digit(text.p[at +
		    digits]))
			digits++;
		if (digits == 0 || digits > 3)
			return 0;
		at += digits;
	}
	return at == text.n || text.p[at] == ' ' ? at : 0;
}

static void
status_copy(char out_status[12], struct slice text, size_t n)
{
	if (n > 0)
		memcpy(out_status, text.p, n);
	out_status[n] = '\0';
}

static int
reply_line_check(struct slice line, size_t bytes, size_t at, unsigned lines,
    struct err *err)
{
	if (bytes > REPLY_LINE_BYTES_MAX)
		return err_set(err, "a line of the reply is longer than %d "
		    "bytes", REPLY_LINE_BYTES_MAX);
	if (at + bytes > REPLY_BYTES_MAX)
		return err_set(err, "the reply is longer than %d bytes",
		    REPLY_BYTES_MAX);
	if (lines >= REPLY_LINES_MAX)
		return err_set(err, "the reply has more than %d lines",
		    REPLY_LINES_MAX);
	return 1;
}

static int
not_a_reply(struct slice line, struct err *err)
{
	struct str words = STR_INIT;

	str_add_escaped(&words, slice_first(line, 80));
	err_set(err, "not a reply: %s", words.buf);
	str_release(&words);
	return -1;
}

enum reply_answer
reply_parse(struct slice in, struct reply *out, struct err *err)
{
	size_t at = 0, bytes;
	unsigned lines = 0;
	struct slice line;

	*out = (struct reply){ .code = 0, .text = { in.p, 0 } };
	for (;; lines++, at += bytes) {
		bool is_whole = line_cut(slice_from(in, at), &line, &bytes);
		int code;

		if (reply_line_check(line, bytes, at, lines, err) < 0)
			return REPLY_BAD;
		if (!is_whole)
			return REPLY_MORE;
		code = line_code(line);
		if (code < 0)
			return not_a_reply(line, err);
		if (lines > 0 && code != out->code)
			return err_set(err, "the code changes from %d to %d "
			    "inside the reply", out->code, code);
		out->code = code;
		if (lines == 0)
			status_copy(out->status, line_text(line),
			    status_bytes(code, line_text(line)));
		if (line.n == 3 || line.p[3] == ' ')
			break;
	}
	out->text = (struct slice){ in.p, at + line.n };
	out->bytes = at + bytes;
	return REPLY_DONE;
}

bool
reply_line(const struct reply *reply, size_t *cursor, struct slice *out_text)
{
	struct slice line;
	size_t bytes;

	if (*cursor >= reply->text.n)
		return false;
	line_cut(slice_from(reply->text, *cursor), &line, &bytes);
	*cursor += bytes;
	*out_text = line_text(line);
	return true;
}

/* Append text, controls as \xHH, at most until *left is used up.  What is
 * not UTF-8 is escaped as well; a character is not cut in two. */
static void
reply_add_words(struct str *out, struct slice text, size_t *left)
{
	size_t i = 0;

	while (i < text.n) {
		unsigned char c = (unsigned char)text.p[i];
		size_t n = c < 128 ? 1 : slice_utf8(slice_from(text, i));
		bool is_escaped = n == 0 || c < 32 || c == 127;
		size_t need = is_escaped ? 4 : n;

		if (need > *left) {
			*left = 0;
			return;
		}
		if (is_escaped)
			str_addf(out, "\\x%02X", c);
		else
			str_add(out, text.p + i, n);
		*left -= need;
		i += is_escaped ? 1 : n;
	}
}

void
reply_add_text(struct str *out, const struct reply *reply)
{
	size_t cursor = 0, left = TEXT_BYTES_MAX - 3;
	struct slice text;

	str_addf(out, "%03d", reply->code % 1000);
	while (reply_line(reply, &cursor, &text)) {
		text = slice_trim(text);
		if (text.n == 0)
			continue;
		reply_add_words(out, SLICE(" "), &left);
		reply_add_words(out, text, &left);
	}
}

void
reply_status(int code, struct slice text, char out_status[12])
{
	size_t n = status_bytes(code, text);
	int class = code / 100;

	if (n > 0)
		status_copy(out_status, text, n);
	else
		snprintf(out_status, 12, "%d.0.0",
		    class == 2 || class == 5 ? class : 4);
}
