/* dot.c - where a message ends, decided once for server and client
 *
 * In     wire bytes, in pieces of any size; or content
 * Out    content; or wire bytes
 * Holds  where in a line the reader stands: one byte of state
 * Trusts nothing: only CR LF "." CR LF ends a message
 * Spec   RFC 5321 section 2.3.8, 4.1.1.4 and 4.5.2
 *
 *   message = *( line CRLF ) "." CRLF   ; the start counts as after CRLF
 *   line    = [ "." ] *octet            ; a "." in front of more is dropped
 *
 * Whole runs between CRs are copied; only bytes next to a line end go
 * through the switch.
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "grammar/smtp/dot.h"

#include "base/banned.h"

enum dot_state {
	DOT_START,		/* after CR LF, or at the very start */
	DOT_DOT,		/* CR LF "." */
	DOT_DOT_CR,		/* CR LF "." CR */
	DOT_IN_LINE,
	DOT_CR,			/* a CR, not yet passed on */
	DOT_BARE_START,		/* after a bare LF that ends a line */
	DOT_BARE_DOT,		/* LF "." */
	DOT_BARE_DOT_CR		/* LF "." CR */
};

void
dot_reader_init(struct dot_reader *reader, bool bare_lf_is_line_end)
{
	*reader = (struct dot_reader){ .state = DOT_START,
	    .bare_ok = bare_lf_is_line_end };
}

/* Output of one call. */
struct sink {
	char	*at;
};

static void
dot_put(struct dot_reader *reader, struct sink *sink, const char *bytes,
    size_t n)
{
	memcpy(sink->at, bytes, n);
	sink->at += n;
	reader->line_bytes += n;
	if (reader->line_bytes > reader->longest_bytes)
		reader->longest_bytes = reader->line_bytes;
}

static void
end_line(struct dot_reader *reader, struct sink *sink, enum dot_state next)
{
	*sink->at++ = '\n';
	reader->line_bytes = 0;
	reader->state = (unsigned char)next;
}

/* Copy from inside a line up to its CR, or a bare LF, or the end of the
 * piece.  *cr is where the next CR is known to stand: one search finds it
 * for all the bare LFs before it, so the cost stays linear. */
static size_t
copy_run(struct dot_reader *reader, struct slice in, size_t i, size_t *cr,
    struct sink *sink)
{
	struct slice run;
	size_t lf;

	if (*cr < i)
		*cr = i + slice_find(slice_from(in, i), '\r');
	run = (struct slice){ in.p + i, *cr - i };
	lf = slice_find(run, '\n');
	dot_put(reader, sink, run.p, lf);
	if (lf == run.n) {
		if (*cr < in.n)
			reader->state = DOT_CR;
		return *cr < in.n ? *cr + 1 : in.n;
	}
	reader->seen |= DOT_BARE_LF;
	if (reader->bare_ok)
		end_line(reader, sink, DOT_BARE_START);
	else
		dot_put(reader, sink, "\n", 1);
	return i + lf + 1;
}

/* A CR that no LF followed: pass it on, the next byte is in its line. */
static void
bare_cr(struct dot_reader *reader, struct sink *sink)
{
	reader->seen |= DOT_BARE_CR;
	dot_put(reader, sink, "\r", 1);
	reader->state = DOT_IN_LINE;
}

/* "." alone before a line end that cannot end the message: content. */
static void
dot_line(struct dot_reader *reader, struct sink *sink, enum dot_state next)
{
	reader->seen |= DOT_BARE_LF;
	dot_put(reader, sink, ".", 1);
	end_line(reader, sink, next);
}

/* One byte next to a line end.  Returns how many bytes were used: 0 when
 * the byte is an ordinary one of its line, and the state says so. */
static size_t
dot_step(struct dot_reader *reader, char c, struct sink *sink, bool *out_is_end)
{
	switch ((enum dot_state)reader->state) {
	case DOT_START:
	case DOT_BARE_START:
		if (c == '.') {
			reader->state = reader->state == DOT_START
			    ? DOT_DOT : DOT_BARE_DOT;
			return 1;
		}
		break;
	case DOT_DOT:
	case DOT_BARE_DOT:
		if (c == '\r') {
			reader->state = reader->state == DOT_DOT
			    ? DOT_DOT_CR : DOT_BARE_DOT_CR;
			return 1;
		}
		if (c == '\n' && reader->bare_ok) {
			dot_line(reader, sink, DOT_BARE_START);
			return 1;
		}
		break;
	case DOT_DOT_CR:
		if (c == '\n') {
			*out_is_end = true;
			return 1;
		}
		bare_cr(reader, sink);
		return 0;
	case DOT_BARE_DOT_CR:
		if (c == '\n') {
			dot_line(reader, sink, DOT_START);
			return 1;
		}
		bare_cr(reader, sink);
		return 0;
	case DOT_CR:
		if (c == '\n') {
			end_line(reader, sink, DOT_START);
			return 1;
		}
		bare_cr(reader, sink);
		return 0;
	case DOT_IN_LINE:
		break;
	}
	reader->state = DOT_IN_LINE;
	return 0;
}

bool
dot_read(struct dot_reader *reader, struct slice in, size_t *out_used,
    char *out, size_t *out_n)
{
	struct sink sink = { out };
	size_t i = 0, cr = 0;
	bool is_end = false;

	if (in.n > 0)
		cr = slice_find(in, '\r');
	while (i < in.n && !is_end) {
		if (reader->state == DOT_IN_LINE)
			i = copy_run(reader, in, i, &cr, &sink);
		else
			i += dot_step(reader, in.p[i], &sink, &is_end);
	}
	if (i > 0 && memchr(in.p, '\0', i) != NULL)
		reader->seen |= DOT_NUL;
	*out_used = i;
	*out_n = (size_t)(sink.at - out);
	return is_end;
}

/* ---- the client's side --------------------------------------------- */

/* One line, or what there is of it, in wire form. */
static void
write_line(struct str *out, struct slice line, bool has_end, bool at_start)
{
	char *to = str_room(out, line.n + 3);
	char *from = to;

	if (at_start && line.n > 0 && line.p[0] == '.')
		*to++ = '.';
	if (line.n > 0)
		memcpy(to, line.p, line.n);
	to += line.n;
	if (has_end) {
		*to++ = '\r';
		*to++ = '\n';
	}
	*to = '\0';
	out->len += (size_t)(to - from);
}

void
dot_write(struct str *out, struct slice content, struct dot_writer *writer)
{
	size_t i = 0, cr = slice_find(content, '\r');

	if (writer->after_cr && content.n > 0) {
		i = content.p[0] == '\n';
		writer->after_cr = false;
	}
	while (i < content.n) {
		struct slice line;
		size_t end;

		if (cr < i)
			cr = i + slice_find(slice_from(content, i), '\r');
		line = (struct slice){ content.p + i, cr - i };
		line.n = slice_find(line, '\n');
		end = i + line.n;
		write_line(out, line, end < content.n, writer->at_line_start);
		writer->at_line_start = end < content.n;
		writer->after_cr = end == cr && end + 1 == content.n;
		if (end == cr && end + 1 < content.n &&
		    content.p[end + 1] == '\n')
			end++;
		i = end + 1;
	}
}

void
dot_write_end(struct str *out, const struct dot_writer *writer)
{
	str_adds(out, writer->at_line_start ? ".\r\n" : "\r\n.\r\n");
}
