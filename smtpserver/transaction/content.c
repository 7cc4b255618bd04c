/* content.c - the bytes of a message
 *
 * In     wire bytes in pieces of any size
 * Out    stored form (LF, dots undone) into a draft; the fault, if any
 * Holds  a few counters a message; the scratch buffer is common to all
 * Trusts nothing: what ends a message is decided in grammar/smtp/dot.c alone;
 *        size, header, hops and line length are bounded here
 * Spec   RFC 3030 sections 2, 3; RFC 5321 sections 2.3.8, 4.1.1.4,
 *        4.5.3.1, 6.3; RFC 5322 section 2.2
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "smtpserver/transaction/content.h"

#include "base/banned.h"

enum { PIECE_BYTES = 65536 };

enum header_at { AT_FIRST_LINE, AT_LINE, AT_NAME, AT_BLANK, AT_VALUE, AT_BODY };

void
content_begin(struct content *content, enum content_form form,
    bool bare_lf_ok)
{
	memset(content, 0, sizeof(*content));
	content->form = form;
	content->crlf.bare_ok = bare_lf_ok && form == CONTENT_TEXT;
	content->bare_lf_ok = bare_lf_ok;
	dot_reader_init(&content->dot, bare_lf_ok);
}

/* Note a failure to store: from errno. */
static void
content_fail(struct content *content, int error)
{
	if (content->storing == CONTENT_GOOD)
		content->storing = error == ENOSPC || error == EDQUOT ||
		    error == EFBIG ? CONTENT_NO_SPACE : CONTENT_IO;
}

static bool
watch_name_is(const struct header_watch *watch, const char *name)
{
	return watch->name_bytes == strlen(name) &&
	    strncasecmp(watch->name, name, watch->name_bytes) == 0;
}

/* A byte of a field's name.  What cannot be a field ends the header. */
static void
watch_name(struct header_watch *watch, char c)
{
	unsigned char u = (unsigned char)c;

	if (c == ':') {
		watch->received += watch_name_is(watch, "received");
		watch->results += watch_name_is(watch,
		    "authentication-results");
		watch->at = AT_VALUE;
	} else if (c == ' ' || c == '\t') {
		watch->at = AT_BLANK;
	} else if (u <= 32 || u >= 127 || watch->at == AT_BLANK) {
		watch->at = AT_BODY;
	} else {
		if (watch->name_bytes < sizeof(watch->name))
			watch->name[watch->name_bytes] = c;
		if (watch->name_bytes <= sizeof(watch->name))
			watch->name_bytes++;
	}
}

static void
watch_line_start(struct header_watch *watch, char c)
{
	bool is_first = watch->at == AT_FIRST_LINE;

	watch->name_bytes = 0;
	if ((c == ' ' || c == '\t') && !is_first) {
		watch->at = AT_VALUE;	/* a folded line */
	} else if (c == '\n' || c == ':') {
		watch->at = AT_BODY;
	} else {
		watch->at = AT_NAME;
		watch_name(watch, c);
	}
}

/* Follow the header through one piece of content. */
static void
header_watch(struct header_watch *watch, struct slice in)
{
	size_t i = 0;

	while (i < in.n && watch->at != AT_BODY) {
		const char *end;

		switch ((enum header_at)watch->at) {
		case AT_FIRST_LINE:
		case AT_LINE:
			watch_line_start(watch, in.p[i++]);
			break;
		case AT_NAME:
		case AT_BLANK:
			watch_name(watch, in.p[i++]);
			break;
		case AT_VALUE:
			end = memchr(in.p + i, '\n', in.n - i);
			i = end == NULL ? in.n : (size_t)(end - in.p) + 1;
			if (end != NULL)
				watch->at = AT_LINE;
			break;
		case AT_BODY:
			break;
		}
	}
	watch->bytes += i;
}

/* In a fixed order: what is answered must not depend on how the bytes were
 * cut into packets. */
enum content_fault
content_fault_under(const struct content *content,
    const struct conf_limits *limits)
{
	unsigned seen = content->dot.seen | content->crlf.seen;

	if (content->bare_lf_ok && content->form != CONTENT_BINARY)
		seen &= ~(unsigned)DOT_BARE_LF;
	if (seen & (DOT_BARE_CR | DOT_BARE_LF))
		return CONTENT_BARE;
	if (seen & DOT_NUL)
		return CONTENT_NUL;
	if (limits->size_bytes > 0 && content->bytes > limits->size_bytes)
		return CONTENT_TOO_BIG;
	if (limits->header_bytes > 0 &&
	    content->header.bytes > limits->header_bytes)
		return CONTENT_HEADER_TOO_BIG;
	if (limits->received > 0 &&
	    content->header.received > limits->received)
		return CONTENT_LOOP;
	if (limits->line_bytes > 0 &&
	    (content->dot.longest_bytes > limits->line_bytes ||
	    content->crlf.longest_bytes > limits->line_bytes))
		return CONTENT_LINE_TOO_LONG;
	if (content->lacks_header)
		return CONTENT_NO_HEADER;
	return content->storing;
}

/* Once there is a fault nobody will want the draft any more. */
static void
content_judge(struct content *content, const struct conf_limits *limits,
    struct draft *draft)
{
	enum content_fault fault = content_fault_under(content, limits);

	if (content->fault == CONTENT_GOOD && fault != CONTENT_GOOD)
		draft_abort(draft);	/* row S0: nothing was promised */
	content->fault = fault;
}

/* Store a piece, or give up. */
static void
content_piece_take(struct content *content, const struct conf_limits *limits,
    struct slice piece, struct draft *draft)
{
	struct err err;

	content->bytes += piece.n;
	header_watch(&content->header, piece);
	if (content->fault == CONTENT_GOOD && piece.n > 0 &&
	    draft_write(draft, piece.p, piece.n, &err) != 0)
		content_fail(content, errno);
	content_judge(content, limits, draft);
}

static char piece[PIECE_BYTES + 2];	/* each call's own, while it lasts */

bool
content_read(struct content *content, const struct conf_limits *limits,
    struct slice in, struct draft *draft, size_t *out_used)
{
	bool is_end = false;

	*out_used = 0;
	while (!is_end && *out_used < in.n) {
		struct slice wire = slice_first(slice_from(in, *out_used),
		    PIECE_BYTES);
		size_t used, n;

		is_end = dot_read(&content->dot, wire, &used, piece, &n);
		*out_used += used;
		content_piece_take(content, limits, (struct slice){ piece, n },
		    draft);
	}
	return is_end;
}

/* ---- chunks ----------------------------------------------------------- */

static void
content_take_text(struct content *content, const struct conf_limits *limits,
    struct slice wire, struct draft *draft)
{
	size_t n;

	crlf_read(&content->crlf, wire, piece, &n);
	content_piece_take(content, limits, (struct slice){ piece, n }, draft);
}

/* The header of a binary message, a line or a part of one at a time.  Its
 * end must be beyond doubt, because bytes after it are kept exactly and
 * bytes before it are not: an empty line, with fields before it and nothing
 * else.  Returns how many bytes were taken. */
static size_t
take_header_line(struct content *content, const struct conf_limits *limits,
    struct slice wire, struct draft *draft)
{
	size_t lf = slice_find(wire, '\n');
	bool is_empty;

	wire = slice_first(wire, lf + 1);
	is_empty = content->crlf.line_bytes == 0 && lf < wire.n &&
	    (lf == 0 ? content->crlf.has_cr : lf == 1 && wire.p[0] == '\r');
	content_take_text(content, limits, wire, draft);
	if (content->header.at == AT_BODY && !is_empty)
		content->lacks_header = true;
	content->is_in_body = is_empty ||
	    (content->lacks_header && lf < wire.n);
	content_judge(content, limits, draft);
	return wire.n;
}

void
content_take(struct content *content, const struct conf_limits *limits,
    struct slice in, struct draft *draft)
{
	while (in.n > 0) {
		struct slice wire = slice_first(in, PIECE_BYTES);

		if (content->form == CONTENT_TEXT)
			content_take_text(content, limits, wire, draft);
		else if (content->is_in_body)
			content_piece_take(content, limits, wire, draft);
		else
			wire.n = take_header_line(content, limits, wire,
			    draft);
		in = slice_from(in, wire.n);
	}
}

void
content_end(struct content *content, const struct conf_limits *limits,
    struct draft *draft)
{
	size_t n = content->crlf.has_cr ? crlf_end(&content->crlf, piece) : 0;

	if (content->form == CONTENT_BINARY && !content->is_in_body)
		content->lacks_header = true;
	content_piece_take(content, limits, (struct slice){ piece, n }, draft);
}
