/* window_check.c - a large control file is checked, its windows are found
 *
 * In     a descriptor of a control file
 * Out    where its windows begin, and where the records of each stand
 * Holds  nothing
 * Trusts the head only when length and checksum fit
 * Spec   window.h; doc/INTERNALS.md section 1.2
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/crc32c.h"
#include "base/fd.h"
#include "base/mem.h"
#include "mail/control_file/window_internal.h"

#include "base/banned.h"

enum {
	PIECE_BYTES = 65536,	/* read at a time where nothing is parsed */
	PLACES_FEW = 16
};

/* ---- the head is checked ----------------------------------------- */

static enum control_windows_got
head_checksum(struct control_windows *windows, struct str *text,
    struct err *err)
{
	uint64_t at = CONTROL_FIRST_LINE_BYTES, head;
	uint32_t want = 0, crc = 0;

	if (window_span_read(windows->fd, 0, windows->end < at ?
	    windows->end : at, text, err) < 0)
		return CONTROL_WINDOWS_TROUBLE;
	head = control_first_line(str_slice(text), &want);
	if (head == 0) {
		err_set(err, "not a control file");
		return CONTROL_WINDOWS_DAMAGED;
	}
	if (head > windows->end) {
		err_set(err, "control file of %zu bytes, its head alone has "
		    "%zu", (size_t)windows->end, (size_t)head);
		return CONTROL_WINDOWS_DAMAGED;
	}
	windows->common.head_bytes = (size_t)head;
	while (at < head) {
		uint64_t end = head - at < PIECE_BYTES ? head :
		    at + PIECE_BYTES;

		if (window_span_read(windows->fd, at, end, text, err) < 0)
			return CONTROL_WINDOWS_TROUBLE;
		crc = crc32c(crc, text->buf, text->len);
		at = end;
	}
	if (crc == want)
		return CONTROL_WINDOWS_GOOD;
	err_set(err, "the control file's checksum is wrong");
	return CONTROL_WINDOWS_DAMAGED;
}

/* The lines before the first s line; *out_at: where that begins. */
static enum control_windows_got
head_common(struct control_windows *windows, struct str *text,
    uint64_t *out_at, struct err *err)
{
	uint64_t head = windows->common.head_bytes;
	struct control_parser parser = { .arena = windows->arena,
	    .control = &windows->common, .is_window = true,
	    .start = CONTROL_FIRST_LINE_BYTES };
	size_t want = windows->size.bytes;
	const char *end;

	do {		/* from the newline of the first line on */
		uint64_t to = head - CONTROL_FIRST_LINE_BYTES < want ? head :
		    CONTROL_FIRST_LINE_BYTES + want;

		if (window_span_read(windows->fd, CONTROL_FIRST_LINE_BYTES - 1,
		    to, text, err) < 0)
			return CONTROL_WINDOWS_TROUBLE;
		end = memmem(text->buf, text->len, "\ns ", 3);
		*out_at = to;
		want *= 2;
	} while (end == NULL && *out_at < head);
	if (end != NULL)
		*out_at = CONTROL_FIRST_LINE_BYTES + (size_t)(end - text->buf);
	parser.file = slice_copy(windows->arena, (struct slice){ text->buf + 1,
	    (size_t)(*out_at - CONTROL_FIRST_LINE_BYTES) });
	control_parser_room(&parser);
	while (parser.at < parser.file.n)
		if (control_parser_line(&parser, err) < 0) {
			err_prefix(err, "control file, before byte %zu",
			    parser.start + parser.at);
			return CONTROL_WINDOWS_DAMAGED;
		}
	windows->common.groups = NULL;
	return CONTROL_WINDOWS_GOOD;
}

enum window_cut {
	CUT_NOT,		/* the text is parsed to its end */
	CUT_FULL,		/* another window begins at parser->at */
	CUT_SHORT,		/* the text ends in the midst of something */
	CUT_BAD,		/* err */
	CUT_TROUBLE		/* err: it cannot be read */
};

/* Does the window end before this line? */
static bool
window_is_full(const struct control_windows *windows,
    const struct control_parser *parser)
{
	size_t count = parser->control->rcpt_total;

	return count > 0 && parser->open_groups > 0 &&
	    (count >= windows->size.rcpts ||
	    parser->at >= windows->size.bytes / 2) &&
	    slice_starts(slice_from(parser->file, parser->at), "r ");
}

/* is_last: the text reaches the end of the head. */
static enum window_cut
window_cut(const struct control_windows *windows,
    struct control_parser *parser, bool is_last, struct err *err)
{
	while (parser->at < parser->file.n) {
		struct slice rest = slice_from(parser->file, parser->at);

		if (!is_last && slice_find(rest, '\n') == rest.n)
			return CUT_SHORT;
		if (window_is_full(windows, parser))
			return CUT_FULL;
		if (control_parser_line(parser, err) < 0)
			return is_last ? CUT_BAD : CUT_SHORT;
	}
	return is_last ? CUT_NOT : CUT_SHORT;
}

/* Those that wait get the header of the group that went on after them. */
static void
marks_header(struct control_windows *windows, size_t *waiting,
    const struct control_file *control)
{
	uint32_t offset = control->groups[0].header_offset;

	if (windows->marks[windows->count - 1].sender_at == 0 || offset == 0)
		return;
	for (; *waiting + 1 < windows->count; (*waiting)++)
		windows->marks[*waiting].header_offset = offset;
}

/* The mark of the window that begins where this one was cut. */
static void
window_mark_next(const struct window_mark *mark,
    const struct control_parser *parser, struct window_mark *out)
{
	const struct control_file *control = parser->control;
	const struct control_group *group =
	    &control->groups[control->group_count - 1];

	*out = (struct window_mark){
	    .at = (uint32_t)(parser->start + parser->at),
	    .sender_at = group->sender_offset };
	if (group->sender_offset == mark->sender_at)
		out->errors_at = mark->errors_at;
	else if (group->errors_to.p != NULL)
		out->errors_at = (uint32_t)(parser->start +
		    (size_t)(group->errors_to.p - parser->file.p) - 2);
}

static struct window_mark *
window_mark_add(struct control_windows *windows)
{
	size_t n = windows->count++;

	if ((n & (n - 1)) == 0)
		windows->marks = mem_grow(windows->marks, n == 0 ? 1 : n * 2,
		    sizeof(*windows->marks));
	windows->marks[n] = (struct window_mark){ .at = 0 };
	return &windows->marks[n];
}

/* The head from at on, so many bytes of it, up to where the window is full.
 * parser->control is whatever is found. */
static enum window_cut
window_try(const struct control_windows *windows,
    const struct window_mark *mark, size_t want,
    struct control_parser *parser, struct str *text,
    struct err *err)
{
	uint64_t head = windows->common.head_bytes;
	uint64_t end = head - mark->at < want ? head : mark->at + want;

	if (window_span_read(windows->fd, mark->at, end, text, err) < 0)
		return CUT_TROUBLE;
	parser->file = str_slice(text);
	parser->start = mark->at;
	control_parser_room(parser);
	if (window_carry(windows, mark, parser, err) < 0)
		return CUT_TROUBLE;
	return window_cut(windows, parser, end == head, err);
}

/* It was found where the window at the last mark ends, and what it has. */
static enum window_cut
window_found(struct control_windows *windows, enum window_cut cut,
    const struct control_parser *parser, size_t *waiting, struct err *err)
{
	struct window_mark *mark = &windows->marks[windows->count - 1];
	const struct control_file *control = parser->control;
	struct window_mark next;

	if (cut == CUT_BAD) {
		err_prefix(err, "control file, before byte %zu",
		    parser->start + parser->at);
		return cut;
	}
	mark->crc = crc32c(0, parser->file.p, parser->at);
	windows->common.rcpt_total += control->rcpt_total;
	if (control->group_count > 0)
		marks_header(windows, waiting, control);
	if (cut == CUT_FULL) {
		window_mark_next(mark, parser, &next);
		*window_mark_add(windows) = next;
	} else if (control_parser_end(parser, windows->common.rcpt_total,
	    err) < 0) {
		return CUT_BAD;
	}
	return cut;
}

/* Check the window that begins at the last mark; if another one follows, its
 * mark is made.  *headers are those before it. */
static enum window_cut
window_check(struct control_windows *windows,
    struct control_header_list *headers, size_t *waiting, struct str *text,
    struct err *err)
{
	const struct window_mark mark = windows->marks[windows->count - 1];
	size_t want = windows->size.bytes, known = headers->count;
	struct arena *arena = arena_new();
	struct control_parser parser;
	struct control_file control;
	enum window_cut cut;

	do {
		arena_reset(arena);
		headers->count = known;
		window_parser_begin(&parser, arena, windows, &control);
		parser.seen = headers;
		cut = window_try(windows, &mark, want, &parser, text, err);
		want *= 2;
	} while (cut == CUT_SHORT);
	if (cut != CUT_TROUBLE)
		cut = window_found(windows, cut, &parser, waiting, err);
	arena_free(&arena);
	return cut;
}

static enum control_windows_got
head_windows(struct control_windows *windows, uint64_t at, struct str *text,
    struct err *err)
{
	struct control_header_list headers = { NULL, 0 };
	enum window_cut cut;
	size_t waiting = 0;

	window_mark_add(windows)->at = (uint32_t)at;
	do
		cut = window_check(windows, &headers, &waiting, text, err);
	while (cut == CUT_FULL);
	mem_free(&headers.offsets);
	return cut == CUT_NOT ? CONTROL_WINDOWS_GOOD : cut == CUT_TROUBLE ?
	    CONTROL_WINDOWS_TROUBLE : CONTROL_WINDOWS_DAMAGED;
}

/* ---- records ----------------------------------------------------- */

/* The window that an r line at offset is in; NULL: it is before all. */
static struct window_mark *
window_mark_find(const struct control_windows *windows, uint32_t offset)
{
	size_t low = 0, high = windows->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (windows->marks[middle].at <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low == 0 ? NULL : &windows->marks[low - 1];
}

static void
window_mark_note(struct window_mark *mark, uint64_t place)
{
	size_t n = mark->place_count++;

	if (n == 0 || (n >= PLACES_FEW && (n & (n - 1)) == 0))
		mark->places = mem_grow(mark->places, n == 0 ? PLACES_FEW :
		    n * 2, sizeof(*mark->places));
	mark->places[n] = (uint32_t)place;
}

static void
record_note(struct control_windows *windows, uint32_t id_crc,
    struct slice line, uint64_t place)
{
	struct control_record record;
	struct slice rest;
	struct window_mark *mark;

	if (line.n == 0 || line.p[0] != 'd' ||
	    !control_record_check(line, id_crc, &record, &rest) ||
	    record.kind == RECORD_STEP)
		return;
	windows->have_reports |= record.kind == RECORD_REPORTED ||
	    record.kind == RECORD_DELAY_NOTICE;
	mark = window_mark_find(windows, record.rcpt_offset);
	if (mark != NULL)
		window_mark_note(mark, place);
}

/* Each whole line of text, which begins at a place of the file; is_last: its
 * end ends a line, too.  Returns how many bytes are dealt with. */
static size_t
records_note(struct control_windows *windows, uint32_t id_crc,
    struct slice text, uint64_t at, bool is_last)
{
	size_t done = 0;

	while (done < text.n) {
		struct slice rest = slice_from(text, done);
		size_t n = slice_find(rest, '\n');

		if (n == rest.n && !is_last)
			break;
		record_note(windows, id_crc, slice_first(rest, n), at + done);
		done += n + (n < rest.n);
	}
	return done;
}

static enum control_windows_got
records_find(struct control_windows *windows, struct str *text,
    struct err *err)
{
	uint32_t id_crc = crc32c(0, windows->common.id,
	    strlen(windows->common.id));
	uint64_t at = windows->common.head_bytes;
	size_t want = PIECE_BYTES, done;

	while (at < windows->end) {
		uint64_t end = windows->end - at < want ? windows->end :
		    at + want;

		if (window_span_read(windows->fd, at, end, text, err) < 0)
			return CONTROL_WINDOWS_TROUBLE;
		done = records_note(windows, id_crc, str_slice(text), at,
		    end == windows->end);
		want = done == 0 ? want * 2 : PIECE_BYTES;
		at += done;
	}
	return CONTROL_WINDOWS_GOOD;
}

/* ---- all --------------------------------------------------------- */

enum control_windows_got
windows_check(struct control_windows *windows, struct str *text,
    struct err *err)
{
	enum control_windows_got got = head_checksum(windows, text, err);
	uint64_t at = 0;

	if (got == CONTROL_WINDOWS_GOOD)
		got = head_common(windows, text, &at, err);
	if (got == CONTROL_WINDOWS_GOOD)
		got = head_windows(windows, at, text, err);
	if (got == CONTROL_WINDOWS_GOOD)
		got = records_find(windows, text, err);
	return got;
}
