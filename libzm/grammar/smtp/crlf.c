/* crlf.c - text whose length was announced: CR LF to LF, and nothing else
 *
 * In     wire bytes, in pieces of any size
 * Out    lines that end in LF
 * Holds  a CR at the end of a piece
 * Trusts nothing: what is no CR LF stays, and is told
 * Spec   RFC 3030 section 2; RFC 5321 section 2.3.8
 *
 *   text = *( CRLF / octet )      ; CRLF becomes LF, octets stay
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "grammar/smtp/crlf.h"

#include "base/banned.h"

static void
crlf_put(struct crlf_reader *reader, struct slice run, char *out, size_t *out_n)
{
	if (run.n == 0)
		return;
	memcpy(out + *out_n, run.p, run.n);
	*out_n += run.n;
	reader->line_bytes += run.n;
	if (reader->line_bytes > reader->longest_bytes)
		reader->longest_bytes = reader->line_bytes;
}

/* Up to the next CR: bare LFs stand in it. */
static void
put_run(struct crlf_reader *reader, struct slice run, char *out,
    size_t *out_n)
{
	size_t lf;

	while ((lf = slice_find(run, '\n')) < run.n) {
		reader->seen |= DOT_BARE_LF;
		crlf_put(reader, slice_first(run, lf + !reader->bare_ok), out,
		    out_n);
		if (reader->bare_ok) {
			out[(*out_n)++] = '\n';
			reader->line_bytes = 0;
		}
		run = slice_from(run, lf + 1);
	}
	crlf_put(reader, run, out, out_n);
}

/* A CR came before the byte at the front of in.  Returns how many bytes of
 * in belong to it. */
static size_t
end_cr(struct crlf_reader *reader, struct slice in, char *out, size_t *out_n)
{
	reader->has_cr = false;
	if (in.p[0] == '\n') {
		out[(*out_n)++] = '\n';
		reader->line_bytes = 0;
		return 1;
	}
	*out_n += crlf_end(reader, out + *out_n);
	return 0;
}

void
crlf_read(struct crlf_reader *reader, struct slice in, char *out,
    size_t *out_n)
{
	*out_n = 0;
	if (in.n > 0 && memchr(in.p, '\0', in.n) != NULL)
		reader->seen |= DOT_NUL;
	while (in.n > 0) {
		size_t cr;

		if (reader->has_cr)
			in = slice_from(in, end_cr(reader, in, out, out_n));
		cr = slice_find(in, '\r');
		put_run(reader, slice_first(in, cr), out, out_n);
		reader->has_cr = cr < in.n;
		in = slice_from(in, cr + 1);
	}
}

size_t
crlf_end(struct crlf_reader *reader, char *out)
{
	size_t n = 0;

	reader->has_cr = false;
	reader->seen |= DOT_BARE_CR;
	crlf_put(reader, SLICE("\r"), out, &n);
	return n;
}

void
crlf_write(struct str *out, struct slice text, bool *after_cr)
{
	while (text.n > 0) {
		size_t n = 0;

		while (n < text.n && text.p[n] != '\n' && text.p[n] != '\r')
			n++;
		str_add(out, text.p, n);
		if (n > 0)
			*after_cr = false;
		if (n == text.n)
			return;
		if (text.p[n] == '\r' || !*after_cr)
			str_add(out, "\r\n", 2);
		*after_cr = text.p[n] == '\r';
		text = slice_from(text, n + 1);
	}
}
