/* mime_down.c - a message for a host that takes less than its sender used
 *
 * In     header and body, twice
 * Out    what is in it; then the message with its parts encoded
 * Holds  a line, a header, the boundaries that are open, a bit a part
 * Trusts nothing: depth, parts and headers are bounded; a boundary that
 *        never comes costs nothing
 * Spec   RFC 2045, RFC 2046 section 5.1; RFC 6152 section 3; RFC 3030
 *        section 3
 *
 *   part      = header LF ( leaf / part / multipart )
 *   multipart = [ *line LF ] 1*( "--" boundary *WSP LF part LF )
 *               "--" boundary "--" *WSP LF *line
 *               ; one that is not closed ends with what holds it
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/ascii.h"
#include "grammar/message/header.h"
#include "grammar/message/mime_down.h"

#include "base/banned.h"

void
mime_down_init(struct mime_down *down, unsigned goal)
{
	memset(down, 0, sizeof(*down));
	down->goal = goal;
	down->is_utf8 = true;
	str_init(&down->head);
	str_init(&down->line);
}

void
mime_down_release(struct mime_down *down)
{
	str_release(&down->head);
	str_release(&down->line);
}

bool
mime_down_is_needed(const struct mime_down *down)
{
	return ((down->goal & MIME_TO_7BIT) && down->has_8bit) ||
	    ((down->goal & MIME_FROM_BINARY) && down->has_binary);
}

void
mime_down_again(struct mime_down *down)
{
	down->is_writing = true;
	down->where = WHERE_HEAD;
	down->part = down->depth = 0;
	down->is_mid_line = down->is_raw = false;
	down->code = CODE_NONE;
	down->held_end[0] = '\0';
	str_reset(&down->head);
	str_reset(&down->line);
}

/* ---- what a part is made of -------------------------------------------- */

static unsigned
down_part_bytes(const struct mime_down *down)
{
	return down->bytes[down->part];
}

static void
note_bytes(struct mime_down *down, unsigned bytes)
{
	if (down->where == WHERE_LEAF)
		down->bytes[down->part] |= (unsigned char)bytes;
}

static void
note_high(struct mime_down *down, struct slice text)
{
	if (mime_is_ascii(text))
		return;
	down->has_8bit = true;
	down->is_utf8 = down->is_utf8 && mime_is_utf8(text);
	note_bytes(down, PART_HIGH);
}

/* A body as its sender gave it (BINARYMIME): lines end in CR LF, and what
 * ends otherwise, or cannot stand in a line, is no text, whatever its head
 * says.  Bits of enum mime_bytes. */
static unsigned
odd_bytes(struct slice line)
{
	struct slice text = line;
	unsigned odd = 0;

	if (text.n > 0 && text.p[text.n - 1] == '\n') {
		text.n--;
		if (text.n == 0 || text.p[text.n - 1] != '\r')
			odd |= PART_BARE_LF;
		else
			text.n--;
	} else if (line.n >= MIME_LINE_HELD) {
		odd |= PART_LONG;
	}
	if (memchr(text.p, '\r', text.n) != NULL ||
	    memchr(text.p, '\0', text.n) != NULL)
		odd |= PART_ODD;
	return odd;
}

static void
note_undoable(struct mime_down *down, const char *obstacle)
{
	down->is_undoable = true;
	if (down->obstacle == NULL)
		down->obstacle = obstacle;
}

/* Text that has no encoding of its own and can be given none.  odd: what it
 * must not have where the host takes no binary content. */
static void
note_bare(struct mime_down *down, struct slice line, unsigned odd,
    const char *obstacle)
{
	if (down->is_writing || !(down->goal & MIME_FROM_BINARY) ||
	    !(odd_bytes(line) & odd))
		return;
	down->has_binary = true;
	note_undoable(down, obstacle);
}

static bool
is_binary(const struct mime_down *down, enum mime_encoding encoding)
{
	return (encoding == MIME_BINARY && down->goal != 0) ||
	    ((down->goal & MIME_FROM_BINARY) &&
	    (down_part_bytes(down) & (PART_BARE_LF | PART_ODD | PART_LONG)));
}

/* How the leaf whose head was read goes out. */
static enum mime_code
code_of(const struct mime_down *down, const struct mime_head *head)
{
	bool is_down = (down->goal & MIME_TO_7BIT) &&
	    (down_part_bytes(down) & PART_HIGH);

	if (head->encoding >= MIME_QUOTED)
		return is_down ? CODE_ESCAPE : CODE_NONE;
	if (is_binary(down, head->encoding))
		return CODE_BASE64;
	if (!is_down)
		return CODE_NONE;
	return head->kind == MIME_TEXT ? CODE_QUOTED : CODE_BASE64;
}

/* First pass, the leaf is over: can it be done?  What is encoded already has
 * no other encoding, but that raw bytes in quoted-printable can be quoted;
 * what has parts must not be encoded (RFC 2045 section 6.4). */
static void
leaf_judge(struct mime_down *down)
{
	static const char wrong[] = "a part's encoding is not what it says, or "
	    "its boundary cannot be read";
	unsigned bytes = down_part_bytes(down);
	bool is_down = (down->goal & MIME_TO_7BIT) && (bytes & PART_HIGH);

	if (down->is_writing || down->where != WHERE_LEAF)
		return;
	if (down->encoding < MIME_QUOTED && is_binary(down, down->encoding)) {
		down->has_binary = true;
		is_down = true;
	} else if ((down->goal & MIME_FROM_BINARY) &&
	    (bytes & (PART_ODD | PART_LONG))) {
		down->has_binary = true;
		note_undoable(down, wrong);
	}
	if (is_down && (down->is_opaque || down->encoding > MIME_QUOTED))
		note_undoable(down, wrong);
}

static const char *
encoding_line(const struct mime_down *down, const struct mime_head *head,
    enum mime_code code)
{
	if (code == CODE_QUOTED)
		return "Content-Transfer-Encoding: quoted-printable\n";
	if (code == CODE_BASE64)
		return "Content-Transfer-Encoding: base64\n";
	if (!head->has_encoding || (head->encoding != MIME_BINARY &&
	    (head->encoding != MIME_8BIT || !(down->goal & MIME_TO_7BIT))))
		return NULL;
	return down->goal & MIME_TO_7BIT ?
	    "Content-Transfer-Encoding: 7bit\n" :
	    "Content-Transfer-Encoding: 8bit\n";
}

static void
head_write(struct mime_down *down, const struct mime_head *head,
    struct str *out)
{
	const char *line = encoding_line(down, head, down->code);
	bool is_coded = down->code == CODE_QUOTED ||
	    down->code == CODE_BASE64;

	mime_header_add(out, str_slice(&down->head),
	    down->goal & MIME_TO_7BIT, line != NULL);
	if (is_coded && down->is_top && !head->has_version)
		str_adds(out, "MIME-Version: 1.0\n");
	if (is_coded && !head->has_type)
		str_addf(out, "Content-Type: text/plain; charset=%s\n",
		    !(down_part_bytes(down) & PART_HIGH) ? "us-ascii" :
		    down->is_utf8 ? "utf-8" :
		    "unknown-8bit");
	if (line != NULL)
		str_adds(out, line);
	str_addc(out, '\n');
}

static bool
is_too_much(struct mime_down *down)
{
	down->is_too_much = down->is_too_much ||
	    down->depth >= MIME_DEPTH_MAX ||
	    down->part + 1 >= MIME_PARTS_MAX ||
	    down->head.len > MIME_HEAD_BYTES_MAX;
	return down->is_too_much;
}

static void
frame_open(struct mime_down *down, const struct mime_head *head)
{
	struct mime_frame *frame = &down->frames[down->depth++];

	memcpy(frame->boundary, head->boundary, sizeof(frame->boundary));
	frame->boundary_bytes = strlen(frame->boundary);
	frame->is_digest = head->is_digest;
}

/* The head of the message or of a part is complete. */
static void
head_done(struct mime_down *down, struct str *out)
{
	bool in_digest = !down->is_top && down->depth > 0 &&
	    down->frames[down->depth - 1].is_digest;
	struct mime_head head;

	mime_head_read(str_slice(&down->head), in_digest, &head);
	down->code = CODE_NONE;
	down->is_raw = false;
	down->has_binary |= head.encoding == MIME_BINARY;
	down->is_sealed |= head.is_sealed;
	if (is_too_much(down))
		head.kind = MIME_DATA;
	if (head.kind == MIME_MULTIPART) {
		frame_open(down, &head);
		down->where = WHERE_BETWEEN;
	} else if (head.kind == MIME_MESSAGE) {
		down->where = WHERE_HEAD;
	} else {
		down->where = WHERE_LEAF;
		down->part += !is_too_much(down);
		down->code = code_of(down, &head);
		down->is_raw = (down->goal & MIME_FROM_BINARY) &&
		    is_binary(down, head.encoding);
		down->encoding = head.encoding;
		down->is_opaque = head.is_opaque;
		down->quoter = (struct mime_quoter){ 0 };
		down->sixer = (struct mime_sixer){ { 0 }, 0, 0 };
	}
	if (down->is_writing)
		head_write(down, &head, out);
	/* a message in a message needs what a message needs */
	down->is_top = head.kind == MIME_MESSAGE;
	str_reset(&down->head);
}

/* ---- a leaf ------------------------------------------------------------ */

static void
leaf_put(struct mime_down *down, struct slice text, struct str *out)
{
	switch (down->code) {
	case CODE_QUOTED:
		mime_quote(&down->quoter, text, out);
		break;
	case CODE_BASE64:
		mime_six(&down->sixer, text, out);
		break;
	case CODE_ESCAPE:
		mime_escape(&down->quoter, text, out);
		break;
	case CODE_NONE:
		str_add_slice(out, text);
		break;
	}
}

/* The line end before this line turned out to be content. */
static void
held_put(struct mime_down *down, struct str *out)
{
	bool wants_crlf = down->code == CODE_BASE64 && !down->is_raw;

	if (down->held_end[0] != '\0')
		leaf_put(down, wants_crlf ? SLICE("\r\n") :
		    down->is_raw ? slice_of(down->held_end) : SLICE("\n"),
		    out);
	down->held_end[0] = '\0';
}

static void
leaf_line(struct mime_down *down, struct slice line, struct str *out)
{
	struct slice text = line;

	note_high(down, line);
	if (!down->is_writing) {
		if (down->goal & MIME_FROM_BINARY)
			note_bytes(down, odd_bytes(line));
		return;
	}
	held_put(down, out);
	if (text.n > 0 && text.p[text.n - 1] == '\n') {
		text.n--;
		if ((down->goal & MIME_FROM_BINARY) && text.n > 0 &&
		    text.p[text.n - 1] == '\r')
			text.n--;
		memcpy(down->held_end, line.p + text.n, line.n - text.n);
		down->held_end[line.n - text.n] = '\0';
	}
	leaf_put(down, text, out);
}

/* The leaf is over; the line end that was held belongs to the boundary. */
static void
leaf_end(struct mime_down *down, struct str *out)
{
	bool had_end = down->held_end[0] != '\0';

	if (down->code == CODE_QUOTED)
		mime_quote_end(&down->quoter, out);
	else if (down->code == CODE_BASE64)
		mime_six_end(&down->sixer, out);
	down->held_end[0] = '\0';
	if (had_end || down->code == CODE_BASE64)
		str_addc(out, '\n');
}

/* ---- lines ------------------------------------------------------------- */

/* Which open multipart has this delimiter: 1 + its index, or 0. */
static unsigned
mime_down_delimiter(const struct mime_down *down, struct slice line,
    bool *out_is_last)
{
	struct slice text = line;

	while (text.n > 0 && ascii_is_among(text.p[text.n - 1], " \t\r\n"))
		text.n--;
	if (text.n < 3 || text.p[0] != '-' || text.p[1] != '-')
		return 0;
	text = slice_from(text, 2);
	for (unsigned i = down->depth; i-- > 0;) {
		const struct mime_frame *frame = &down->frames[i];
		size_t n = frame->boundary_bytes;

		if (text.n < n || memcmp(text.p, frame->boundary, n) != 0)
			continue;
		*out_is_last = text.n == n + 2 && text.p[n] == '-' &&
		    text.p[n + 1] == '-';
		if (text.n == n || *out_is_last)
			return i + 1;
	}
	return 0;
}

static void
down_line_add(struct mime_down *down, struct slice line, struct str *out)
{
	size_t n = line.n;

	if (!down->is_writing)
		return;
	if (n > 1 && line.p[n - 1] == '\n' && line.p[n - 2] == '\r' &&
	    (down->goal & MIME_FROM_BINARY)) {
		str_add(out, line.p, n - 2);
		str_addc(out, '\n');
	} else {
		str_add(out, line.p, n);
	}
}

static void
part_begin(struct mime_down *down, unsigned depth, bool is_last,
    struct slice line, struct str *out)
{
	leaf_judge(down);
	if (down->where == WHERE_LEAF && down->is_writing)
		leaf_end(down, out);
	if (down->where == WHERE_HEAD && down->is_writing)
		mime_header_add(out, str_slice(&down->head),
		    down->goal & MIME_TO_7BIT, false);
	str_reset(&down->head);
	down->held_end[0] = '\0';
	down->is_raw = false;
	down->is_top = false;
	down->depth = is_last ? depth - 1 : depth;
	down->where = is_last ? WHERE_BETWEEN : WHERE_HEAD;
	note_high(down, line);
	if ((down->goal & MIME_TO_7BIT) && !mime_is_ascii(line))
		note_undoable(down, "a boundary has bytes over 127");
	down_line_add(down, line, out);
}

/* Text that no reader shows, before the first part and after the last: a
 * list's footer, or all of a body whose boundary never comes.  Encodings are
 * for parts, and this is none. */
static void
between_line(struct mime_down *down, struct slice line, struct str *out)
{
	static const char around[] = "there is such text around its parts, "
	    "where no encoding can be";

	note_high(down, line);
	if ((down->goal & MIME_TO_7BIT) && !mime_is_ascii(line))
		note_undoable(down, around);
	note_bare(down, line, PART_BARE_LF | PART_ODD | PART_LONG, around);
	down_line_add(down, line, out);
}

static void
head_line(struct mime_down *down, struct slice line, bool is_whole,
    struct str *out)
{
	struct slice text = line;

	if (text.n > 0 && text.p[text.n - 1] == '\n')
		text.n--;
	if (text.n < line.n && text.n > 0 && text.p[text.n - 1] == '\r')
		text.n--;
	if (text.n == 0 && is_whole) {
		head_done(down, out);
		return;
	}
	note_high(down, line);
	note_bare(down, line, PART_ODD, "a CR alone or a NUL stands in the "
	    "header of a part");
	str_add_slice(&down->head, text);
	if (text.n < line.n)
		str_addc(&down->head, '\n');
	if (down->head.len > MIME_HEAD_BYTES_MAX)
		head_done(down, out);
}

/* A line, or a piece of one that is too long to be held. */
static void
line_done(struct mime_down *down, bool is_end, struct str *out)
{
	struct slice line = str_slice(&down->line);
	bool is_whole = !down->is_mid_line && is_end, is_last = false;
	unsigned depth = is_whole ?
	    mime_down_delimiter(down, line, &is_last) : 0;

	down->is_mid_line = !is_end;
	if (depth > 0)
		part_begin(down, depth, is_last, line, out);
	else if (down->where == WHERE_HEAD)
		head_line(down, line, is_whole, out);
	else if (down->where == WHERE_LEAF)
		leaf_line(down, line, out);
	else
		between_line(down, line, out);
	str_reset(&down->line);
}

/* A piece of a long line must not end within a character, or between CR
 * and LF. */
static bool
is_full(const struct str *line)
{
	unsigned char last = (unsigned char)line->buf[line->len - 1];

	return line->len >= MIME_LINE_HELD && ((last < 128 && last != '\r') ||
	    line->len >= MIME_LINE_HELD + 8);
}

void
mime_down_body(struct mime_down *down, struct slice bytes, struct str *out)
{
	while (bytes.n > 0) {
		size_t room = down->line.len < MIME_LINE_HELD ?
		    MIME_LINE_HELD - down->line.len : 1;
		size_t n = slice_find(slice_first(bytes, room), '\n');
		bool is_end = n < bytes.n && n < room;

		n = n + is_end;
		str_add(&down->line, bytes.p, n);
		bytes = slice_from(bytes, n);
		if (is_end || is_full(&down->line))
			line_done(down, is_end, out);
	}
}

static bool
is_signed(struct slice header)
{
	struct header_field field;
	bool is_broken = false;

	while (header_next(&header, &field, &is_broken) == 1)
		if (header_is(&field, "DKIM-Signature"))
			return true;
	return false;
}

void
mime_down_header(struct mime_down *down, struct slice header,
    struct str *out)
{
	str_add_slice(&down->head, slice_first(header,
	    MIME_HEAD_BYTES_MAX + 1));
	down->is_top = true;
	if (!down->is_writing) {
		down->has_8bit_header = !mime_is_ascii(header);
		note_high(down, header);
		down->is_signed = is_signed(header);
	}
	head_done(down, out);
}

void
mime_down_end(struct mime_down *down, struct str *out)
{
	if (down->line.len > 0)
		line_done(down, true, out);
	leaf_judge(down);
	if (!down->is_writing)
		return;
	if (down->where == WHERE_HEAD)
		mime_header_add(out, str_slice(&down->head),
		    down->goal & MIME_TO_7BIT, false);
	if (down->where != WHERE_LEAF)
		return;
	if (down->held_end[0] != '\0')
		held_put(down, out);
	if (down->code == CODE_QUOTED)
		mime_quote_end(&down->quoter, out);
	else if (down->code == CODE_BASE64)
		mime_six_end(&down->sixer, out);
}
