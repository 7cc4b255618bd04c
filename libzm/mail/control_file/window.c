/* window.c - a large control file, some of its recipients at a time
 *
 * In     a descriptor of a control file
 * Out    where its windows begin; a struct control_file of each
 * Holds  of a window where it begins, of a record where it stands
 * Trusts the head only when length and checksum fit, and each window only as
 *        long as its bytes are those that were checked
 * Spec   window.h; doc/INTERNALS.md section 1.2
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>
#include <sys/stat.h>

#include "base/crc32c.h"
#include "base/fd.h"
#include "base/mem.h"
#include "mail/control_file/internal.h"
#include "mail/control_file/window.h"

#include "base/banned.h"

enum {
	PIECE_BYTES = 65536,	/* read at a time where nothing is parsed */
	PLACES_FEW = 16
};

struct mark {			/* a window */
	uint32_t	 at;		/* of its first line, s or r */
	uint32_t	 sender_at;	/* it begins in the midst of a group:
					 * of its s line; else 0 */
	uint32_t	 errors_at;	/* and of its e line; 0: it has none */
	uint32_t	 header_offset;	/* of the group that goes on after it */
	uint32_t	 crc;		/* of its text */
	uint32_t	*places;	/* its records in the file, in order */
	size_t		 place_count;
};

struct control_windows {
	int		 fd;
	struct control_window_size size;
	struct arena	*arena;
	struct control_file	common;
	struct mark	*marks;
	size_t		 count;
	uint64_t	 end;		/* of the file as it was checked */
	bool		 have_reports;
};

/* The part of the file that was read last. */
struct piece {
	struct str	 read;
	uint64_t	 start;		/* in the file */
};

/* ---- bytes ------------------------------------------------------- */

/* Bytes [at, end) of the file. */
static int
span_read(int fd, uint64_t at, uint64_t end, struct str *out, struct err *err)
{
	size_t n = (size_t)(end - at);

	str_reset(out);
	if (fd_read_whole_at(fd, str_room(out, n), n, at) != 0)
		return err_sys(err, "read control file");
	out->len = n;
	out->buf[n] = '\0';
	return 0;
}

/* The line that begins at a place, read on until its end. */
static int
piece_line(struct piece *piece, int fd, uint64_t at, uint64_t end,
    struct slice *out, struct err *err)
{
	size_t want = CONTROL_PAGE_BYTES * 2;

	for (;;) {
		if (at >= piece->start && at < piece->start + piece->read.len) {
			struct slice rest = slice_from(str_slice(&piece->read),
			    (size_t)(at - piece->start));
			size_t n = slice_find(rest, '\n');

			if (n < rest.n ||
			    piece->start + piece->read.len == end) {
				*out = slice_first(rest, n);
				return 0;
			}
		}
		piece->start = at / CONTROL_PAGE_BYTES * CONTROL_PAGE_BYTES;
		if (span_read(fd, piece->start, end - piece->start < want ?
		    end : piece->start + want, &piece->read, err) < 0) {
			piece->read.len = 0;
			return -1;
		}
		want *= 2;
	}
}

/* ---- the head is checked ----------------------------------------- */

static enum control_windows_got
head_checksum(struct control_windows *windows, struct str *text,
    struct err *err)
{
	uint64_t at = CONTROL_FIRST_LINE_BYTES, head;
	uint32_t want = 0, crc = 0;

	if (span_read(windows->fd, 0, windows->end < at ? windows->end : at,
	    text, err) < 0)
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

		if (span_read(windows->fd, at, end, text, err) < 0)
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

		if (span_read(windows->fd, CONTROL_FIRST_LINE_BYTES - 1, to,
		    text, err) < 0)
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

/* What belongs to all, for a parser of some. */
static void
parser_begin(struct control_parser *parser, struct arena *arena,
    const struct control_windows *windows, struct control_file *out)
{
	*out = windows->common;
	out->rcpt_total = 0;
	*parser = (struct control_parser){ .arena = arena, .control = out,
	    .is_window = true, .rcpts_most = windows->size.rcpts };
}

/* The group that a window begins in the midst of. */
static int
window_carry(const struct control_windows *windows, const struct mark *mark,
    struct control_parser *parser, struct err *err)
{
	struct control_group *group = &parser->control->groups[0];
	struct piece piece = { STR_INIT, 0 };
	uint64_t end = windows->common.head_bytes;
	struct control_rcpt quad;
	struct slice line;
	int result = -1;

	if (mark->sender_at == 0)
		return 0;
	if (piece_line(&piece, windows->fd, mark->sender_at, end, &line,
	    err) == 0 && slice_starts(line, "s ") &&
	    control_read_quad(slice_from(line, 2), &quad, err) == 0) {
		group->sender = slice_copy(parser->arena, quad.user);
		result = 0;
	}
	if (result == 0 && mark->errors_at > 0)
		result = piece_line(&piece, windows->fd, mark->errors_at, end,
		    &line, err);
	if (result == 0 && mark->errors_at > 0)
		group->errors_to = slice_copy(parser->arena,
		    slice_from(line, 2));
	str_release(&piece.read);
	group->sender_offset = mark->sender_at;
	group->rcpts = parser->rcpts;
	parser->control->group_count = parser->open_groups = 1;
	return result;
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
mark_next(const struct mark *mark, const struct control_parser *parser,
    struct mark *out)
{
	const struct control_file *control = parser->control;
	const struct control_group *group =
	    &control->groups[control->group_count - 1];

	*out = (struct mark){ .at = (uint32_t)(parser->start + parser->at),
	    .sender_at = group->sender_offset };
	if (group->sender_offset == mark->sender_at)
		out->errors_at = mark->errors_at;
	else if (group->errors_to.p != NULL)
		out->errors_at = (uint32_t)(parser->start +
		    (size_t)(group->errors_to.p - parser->file.p) - 2);
}

static struct mark *
mark_add(struct control_windows *windows)
{
	size_t n = windows->count++;

	if ((n & (n - 1)) == 0)
		windows->marks = mem_grow(windows->marks, n == 0 ? 1 : n * 2,
		    sizeof(*windows->marks));
	windows->marks[n] = (struct mark){ .at = 0 };
	return &windows->marks[n];
}

/* The head from at on, so many bytes of it, up to where the window is full.
 * parser->control is whatever is found. */
static enum window_cut
window_try(const struct control_windows *windows, const struct mark *mark,
    size_t want, struct control_parser *parser, struct str *text,
    struct err *err)
{
	uint64_t head = windows->common.head_bytes;
	uint64_t end = head - mark->at < want ? head : mark->at + want;

	if (span_read(windows->fd, mark->at, end, text, err) < 0)
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
	struct mark *mark = &windows->marks[windows->count - 1];
	const struct control_file *control = parser->control;
	struct mark next;

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
		mark_next(mark, parser, &next);
		*mark_add(windows) = next;
	} else if (control_parser_end(parser, windows->common.rcpt_total,
	    err) < 0) {
		return CUT_BAD;
	}
	return cut;
}

/* Check the window that begins at the last mark; if another one follows, its
 * mark is made.  *headers are those before it. */
static enum window_cut
window_check(struct control_windows *windows, struct control_headers *headers,
    size_t *waiting, struct str *text, struct err *err)
{
	const struct mark mark = windows->marks[windows->count - 1];
	size_t want = windows->size.bytes, known = headers->count;
	struct arena *arena = arena_new();
	struct control_parser parser;
	struct control_file control;
	enum window_cut cut;

	do {
		arena_reset(arena);
		headers->count = known;
		parser_begin(&parser, arena, windows, &control);
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
	struct control_headers headers = { NULL, 0 };
	enum window_cut cut;
	size_t waiting = 0;

	mark_add(windows)->at = (uint32_t)at;
	do
		cut = window_check(windows, &headers, &waiting, text, err);
	while (cut == CUT_FULL);
	mem_free(&headers.offsets);
	return cut == CUT_NOT ? CONTROL_WINDOWS_GOOD : cut == CUT_TROUBLE ?
	    CONTROL_WINDOWS_TROUBLE : CONTROL_WINDOWS_DAMAGED;
}

/* ---- records ----------------------------------------------------- */

/* The window that an r line at offset is in; NULL: it is before all. */
static struct mark *
mark_find(const struct control_windows *windows, uint32_t offset)
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
mark_note(struct mark *mark, uint64_t place)
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
	struct mark *mark;

	if (line.n == 0 || line.p[0] != 'd' ||
	    !control_record_check(line, id_crc, &record, &rest) ||
	    record.kind == RECORD_STEP)
		return;
	windows->have_reports |= record.kind == RECORD_REPORTED ||
	    record.kind == RECORD_DELAY_NOTICE;
	mark = mark_find(windows, record.rcpt_offset);
	if (mark != NULL)
		mark_note(mark, place);
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

		if (span_read(windows->fd, at, end, text, err) < 0)
			return CONTROL_WINDOWS_TROUBLE;
		done = records_note(windows, id_crc, str_slice(text), at,
		    end == windows->end);
		want = done == 0 ? want * 2 : PIECE_BYTES;
		at += done;
	}
	return CONTROL_WINDOWS_GOOD;
}

/* ---- the windows ------------------------------------------------- */

static enum control_windows_got
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

enum control_windows_got
control_windows_open(int fd, const struct control_window_size *size,
    struct control_windows **out, struct err *err)
{
	struct control_windows *windows;
	enum control_windows_got got;
	struct str text = STR_INIT;
	struct stat st;

	*out = NULL;
	if (fstat(fd, &st) != 0) {
		err_sys(err, "read control file");
		return CONTROL_WINDOWS_TROUBLE;
	}
	if (st.st_size > CONTROL_BYTES_MAX) {
		err_set(err, "file of more than %zu bytes",
		    (size_t)CONTROL_BYTES_MAX);
		return CONTROL_WINDOWS_TROUBLE;
	}
	windows = mem_alloc(1, sizeof(*windows));
	windows->fd = fd;
	windows->size = size != NULL ? *size : (struct control_window_size){
	    CONTROL_WINDOW_RCPTS, CONTROL_WINDOW_BYTES };
	windows->arena = arena_new();
	windows->end = (uint64_t)st.st_size;
	got = windows_check(windows, &text, err);
	str_release(&text);
	if (got == CONTROL_WINDOWS_GOOD)
		*out = windows;
	else
		control_windows_free(&windows);
	return got;
}

void
control_windows_free(struct control_windows **windows)
{
	if (*windows == NULL)
		return;
	for (size_t i = 0; i < (*windows)->count; i++)
		mem_free(&(*windows)->marks[i].places);
	mem_free(&(*windows)->marks);
	arena_free(&(*windows)->arena);
	mem_free(windows);
}

struct control_file *
control_windows_common(struct control_windows *windows)
{
	return &windows->common;
}

size_t
control_windows_count(const struct control_windows *windows)
{
	return windows->count;
}

bool
control_windows_have_reports(const struct control_windows *windows)
{
	return windows->have_reports;
}

static uint32_t
window_end(const struct control_windows *windows, size_t index)
{
	return index + 1 < windows->count ? windows->marks[index + 1].at :
	    (uint32_t)windows->common.head_bytes;
}

bool
control_windows_has(const struct control_windows *windows, size_t index,
    uint32_t offset)
{
	return (index == 0 || offset >= windows->marks[index].at) &&
	    (index + 1 == windows->count ||
	    offset < windows->marks[index + 1].at);
}

static int
window_parse(const struct control_windows *windows, const struct mark *mark,
    struct control_parser *parser, struct err *err)
{
	struct control_file *control = parser->control;

	if (crc32c(0, parser->file.p, parser->file.n) != mark->crc)
		return err_set(err, "the control file has changed");
	control_parser_room(parser);
	if (window_carry(windows, mark, parser, err) < 0)
		return -1;
	while (parser->at < parser->file.n)
		if (control_parser_line(parser, err) < 0)
			return -1;
	for (size_t i = control->group_count - parser->open_groups;
	    i < control->group_count; i++)
		control->groups[i].header_offset = mark->header_offset;
	return 0;
}

static int
window_replay(const struct control_windows *windows, const struct mark *mark,
    struct arena *arena, struct control_file *control, struct err *err)
{
	struct piece piece = { STR_INIT, 0 };
	struct control_replay replay;
	struct slice line;
	int result = 0;

	if (mark->place_count == 0)
		return 0;
	control_replay_begin(&replay, arena, control, true);
	for (size_t i = 0; result == 0 && i < mark->place_count; i++) {
		result = piece_line(&piece, windows->fd, mark->places[i],
		    windows->end, &line, err);
		if (result == 0)
			control_replay_line(&replay, line);
	}
	control_replay_end(&replay);
	str_release(&piece.read);
	return result;
}

int
control_windows_read(struct control_windows *windows, size_t index,
    struct arena *arena, struct str *text, struct control_file *out,
    struct err *err)
{
	const struct mark *mark = &windows->marks[index];
	struct control_parser parser;

	parser_begin(&parser, arena, windows, out);
	if (span_read(windows->fd, mark->at, window_end(windows, index), text,
	    err) < 0)
		return -1;
	parser.file = str_slice(text);
	parser.start = mark->at;
	if (window_parse(windows, mark, &parser, err) < 0)
		return -1;
	return window_replay(windows, mark, arena, out, err);
}

/* The header block that text begins with; false: it does not end there. */
static bool
header_end(struct slice text, struct slice *out)
{
	const char *end;

	if (slice_starts(text, "\n")) {
		*out = slice_first(text, 0);
		return true;
	}
	end = memmem(text.p, text.n, "\n\n", 2);
	if (end == NULL)
		return false;
	*out = slice_first(text, (size_t)(end - text.p) + 1);
	return true;
}

int
control_header_read(int fd, uint32_t offset, struct arena *arena,
    struct slice *out, struct err *err)
{
	struct str text = STR_INIT;
	struct slice header;
	int result = -1;

	for (size_t want = PIECE_BYTES / 4; want <= CONTROL_HEAD_BYTES_MAX;
	    want *= 4) {
		ssize_t n;

		str_reset(&text);
		n = fd_read_at(fd, str_room(&text, want), want, offset);
		if (n < 0) {
			err_sys(err, "read control file");
			break;
		}
		if (header_end((struct slice){ text.buf, (size_t)n },
		    &header)) {
			*out = slice_copy(arena, header);
			result = 0;
			break;
		}
		if ((size_t)n < want) {
			err_set(err, "no header at byte %lu of the control "
			    "file", (unsigned long)offset);
			break;
		}
	}
	str_release(&text);
	return result;
}
