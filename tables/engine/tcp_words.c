/* tcp_words.c - what a server of Postfix's tcp tables is asked and answers
 *
 * In     keys; lines of a server
 * Out    lines for it; values
 * Holds  nothing
 * Trusts nothing: what is no answer is trouble
 * Spec   tcp_table(5) of Postfix, "PROTOCOL DESCRIPTION"
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/ascii.h"
#include "tables/engine/tcp_words.h"

#include "base/banned.h"

void
tcp_words_ask(struct str *out, struct slice key)
{
	str_adds(out, "get ");
	for (size_t i = 0; i < key.n; i++)
		if (key.p[i] > ' ' && key.p[i] < 0x7f && key.p[i] != '%')
			str_addc(out, key.p[i]);
		else
			str_addf(out, "%%%02x", (unsigned char)key.p[i]);
	str_addc(out, '\n');
}

/* -1: it is no hexadecimal digit. */
static int
tcp_digit(char c)
{
	c = ascii_lower(c);
	return ascii_is_digit(c) ? c - '0' : c >= 'a' && c <= 'f' ?
	    c - 'a' + 10 : -1;
}

/* %XX as a byte.  false: a % has no two digits after it. */
static bool
tcp_text_read(struct slice text, struct str *out)
{
	for (size_t i = 0; i < text.n; i++) {
		int high, low;

		if (text.p[i] != '%') {
			str_addc(out, text.p[i]);
			continue;
		}
		if (text.n - i < 3)
			return false;
		high = tcp_digit(text.p[i + 1]);
		low = tcp_digit(text.p[i + 2]);
		if (high < 0 || low < 0)
			return false;
		str_addc(out, (char)(high * 16 + low));
		i += 2;
	}
	return true;
}

enum engine_answer
tcp_words_read(struct slice line, struct str *out, struct err *err)
{
	struct str text = STR_INIT;
	enum engine_answer answer = ENGINE_TROUBLE;

	if (line.n < 4 || line.p[3] != ' ' || line.n > TCP_LINE_BYTES_MAX ||
	    !tcp_text_read(slice_from(line, 4), &text))
		err_set(err, "what it answers is none of 200, 400 and 500");
	else if (slice_starts(line, "200 "))
		answer = engine_add_row(out, str_slice(&text), 0, err) ?
		    ENGINE_FOUND : ENGINE_TROUBLE;
	else if (slice_starts(line, "500 "))
		answer = ENGINE_NONE;
	else if (slice_starts(line, "400 "))
		err_set(err, "it says 400 " SLICE_FMT, SLICE_ARG(
		    slice_first(str_slice(&text), 200)));
	else
		err_set(err, "what it answers is none of 200, 400 and 500");
	str_release(&text);
	return answer;
}
