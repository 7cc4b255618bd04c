/* window.c - a large control file, some of its recipients at a time
 *
 * In     a descriptor of a control file
 * Out    a struct control_file of each window
 * Holds  of a window where it begins, of a record where it stands
 * Trusts each window only as long as its bytes are those that were checked
 * Spec   window.h; doc/INTERNALS.md section 1.2
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>
#include <sys/stat.h>

#include "base/crc32c.h"
#include "base/fd.h"
#include "base/mem.h"
#include "mail/control_file/window_internal.h"

#include "base/banned.h"

/* The part of the file that was read last. */
struct window_piece {
	struct str	 read;
	uint64_t	 start;		/* in the file */
};

/* ---- bytes ------------------------------------------------------- */

int
window_span_read(int fd, uint64_t at, uint64_t end, struct str *out,
    struct err *err)
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
window_piece_line(struct window_piece *piece, int fd, uint64_t at, uint64_t end,
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
		if (end - piece->start < want)
			want = (size_t)(end - piece->start);
		if (window_span_read(fd, piece->start, piece->start + want,
		    &piece->read, err) < 0) {
			piece->read.len = 0;
			return -1;
		}
		want *= 2;
	}
}

void
window_parser_begin(struct control_parser *parser, struct arena *arena,
    const struct control_windows *windows, struct control_file *out)
{
	*out = windows->common;
	out->rcpt_total = 0;
	*parser = (struct control_parser){ .arena = arena, .control = out,
	    .is_window = true, .rcpts_most = windows->size.rcpts };
}

int
window_carry(const struct control_windows *windows,
    const struct window_mark *mark, struct control_parser *parser,
    struct err *err)
{
	struct control_group *group = &parser->control->groups[0];
	struct window_piece piece = { STR_INIT, 0 };
	uint64_t end = windows->common.head_bytes;
	struct control_rcpt quad;
	struct slice line;
	int result = -1;

	if (mark->sender_at == 0)
		return 0;
	if (window_piece_line(&piece, windows->fd, mark->sender_at, end, &line,
	    err) == 0 && slice_starts(line, "s ") &&
	    control_read_quad(slice_from(line, 2), &quad, err) == 0) {
		group->sender = slice_copy(parser->arena, quad.user);
		result = 0;
	}
	if (result == 0 && mark->errors_at > 0)
		result = window_piece_line(&piece, windows->fd,
		    mark->errors_at, end, &line, err);
	if (result == 0 && mark->errors_at > 0)
		group->errors_to = slice_copy(parser->arena,
		    slice_from(line, 2));
	str_release(&piece.read);
	group->sender_offset = mark->sender_at;
	group->rcpts = parser->rcpts;
	parser->control->group_count = parser->open_groups = 1;
	return result;
}

/* ---- the windows ------------------------------------------------- */

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
window_parse(const struct control_windows *windows,
    const struct window_mark *mark, struct control_parser *parser,
    struct err *err)
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
window_replay(const struct control_windows *windows,
    const struct window_mark *mark, struct arena *arena,
    struct control_file *control, struct err *err)
{
	struct window_piece piece = { STR_INIT, 0 };
	struct control_replay replay;
	struct slice line;
	int result = 0;

	if (mark->place_count == 0)
		return 0;
	control_replay_begin(&replay, arena, control, true);
	for (size_t i = 0; result == 0 && i < mark->place_count; i++) {
		result = window_piece_line(&piece, windows->fd, mark->places[i],
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
	const struct window_mark *mark = &windows->marks[index];
	struct control_parser parser;

	window_parser_begin(&parser, arena, windows, out);
	if (window_span_read(windows->fd, mark->at,
	    window_end(windows, index), text, err) < 0)
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
	*out = slice_first(text, slice_find_blank_line(text));
	return out->n < text.n;
}

int
control_header_read(int fd, uint32_t offset, struct arena *arena,
    struct slice *out, struct err *err)
{
	struct str text = STR_INIT;
	struct slice header;
	int result = -1;

	for (size_t want = CONTROL_PAGE_BYTES * 4;
	    want <= CONTROL_HEAD_BYTES_MAX; want *= 4) {
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
