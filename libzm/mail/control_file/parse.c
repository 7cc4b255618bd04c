/* parse.c - a whole control file: its head; replay.c goes on
 *
 * In     the bytes of a control file, perhaps torn at the end
 * Out    a struct control_file with the state of every recipient
 * Holds  nothing
 * Trusts the head only when length and checksum fit
 * Spec   doc/INTERNALS.md section 1.2
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "base/fd.h"
#include "base/mem.h"
#include "mail/control_file/internal.h"

#include "base/banned.h"

enum { FRONT_BYTES = 16384 };	/* all of most control files */

struct slice
control_group_errors(const struct control_file *control,
    const struct control_group *group)
{
	if (group->errors_to.n > 0)
		return group->errors_to;
	return control->errors_to.n > 0 && group->sender.n > 0 ? group->sender :
	    control->errors_to;
}

size_t
control_file_head_bytes(struct slice file)
{
	uint32_t crc;

	return control_first_line(file, &crc);
}

int
control_read_quad(struct slice value, struct control_rcpt *out, struct err *err)
{
	struct slice digits;
	uint64_t uid;
	size_t cut;

	if (!slice_cut(&value, ' ', &out->channel) ||
	    !slice_cut(&value, ' ', &out->host))
		return err_set(err, "recipient line without four fields");
	/* the user may hold blanks: the number is looked for from the right */
	for (cut = value.n; cut > 0 && value.p[cut - 1] != ' ';)
		cut--;
	if (cut < 2)
		return err_set(err, "recipient line without four fields");
	out->user = slice_first(value, cut - 1);
	digits = slice_from(value, cut);
	if (slice_starts(digits, "-"))
		digits = slice_from(digits, 1);
	if (!slice_number(digits, 0, UINT32_MAX, &uid))
		return err_set(err, "recipient line without a privilege");
	out->uid = slice_starts(slice_from(value, cut), "-") ?
	    -(int64_t)uid : (int64_t)uid;
	if (slice_is(out->channel, "-"))
		out->channel = slice_first(out->channel, 0);
	if (slice_is(out->host, "-"))
		out->host = slice_first(out->host, 0);
	if (slice_is(out->user, "-"))
		out->user = slice_first(out->user, 0);
	return 0;
}

int
control_read_notify(struct slice value, struct control_rcpt *rcpt,
    struct err *err)
{
	struct slice word;

	while (slice_word(&value, &word)) {
		if (slice_starts(word, "NOTIFY=")) {
			if (dsn_notify_parse(slice_from(word, 7),
				&rcpt->notify, err) != 0)
				return -1;
		} else if (slice_starts(word, "ORCPT=")) {
			rcpt->orcpt = slice_from(word, 6);
		} else if (slice_starts(word, "ZONE=")) {
			rcpt->zone = slice_from(word, 5);
		} else if (slice_starts(word, "GIVEN=")) {
			rcpt->given = slice_from(word, 6);
		}
	}
	return 0;
}

/* "AFTER=..." among the words after "N ": seconds, 0 without. */
static int64_t
control_read_after(struct slice value)
{
	struct slice word;
	uint64_t number = 0;

	while (slice_word(&value, &word))
		if (slice_starts(word, "AFTER=") && !slice_number(
		    slice_from(word, 6), 0, UINT32_MAX, &number))
			return 0;
	return (int64_t)number;
}

static int
read_number(struct slice value, uint64_t *out, struct err *err)
{
	return slice_number(value, 0, UINT64_MAX, out) ? 0 :
	    err_set(err, "not a number");
}

int
control_read_common(struct control_file *control, char tag, struct slice value,
    struct err *err)
{
	uint64_t number;

	switch (tag) {
	case 'I':
		if (!spool_id_is(value) || value.n >= sizeof(control->id))
			return err_set(err, "not a spool id");
		memcpy(control->id, value.p, value.n);
		control->id[value.n] = '\0';
		return 0;
	case 'i':
		if (read_number(value, &number, err) < 0)
			return -1;
		control->inode = (ino_t)number;
		return 0;
	case 'o':
		return read_number(value, &control->body_offset, err);
	case 'z':
		return read_number(value, &control->size_bytes, err);
	case 'l':
		control->msgid = value;
		return 0;
	case 'e':
		control->errors_to = value;
		return 0;
	case 'u':
		control->user = value;
		return 0;
	case 'f':
		control->source = value;
		return 0;
	case 'T':
		return terms_parse(value, &control->terms, err);
	case 'B':
		control->bodytype = value;
		return 0;
	case 'R':
		return dsn_ret_parse(value, &control->ret, err);
	case 'n':
		control->envid = value;
		return 0;
	default:
		return err_set(err, "unknown tag");
	}
}

static int
read_sender(struct control_parser *parser, size_t offset, struct slice value,
    struct err *err)
{
	struct control_file *control = parser->control;
	struct control_group *group;
	struct control_rcpt quad;

	if (control->group_count == parser->groups_room)
		return err_set(err, "sender where none was counted");
	if (control_read_quad(value, &quad, err) < 0)
		return -1;
	group = &control->groups[control->group_count++];
	group->sender = quad.user;
	group->sender_offset = (uint32_t)offset;
	group->rcpts = parser->rcpts + control->rcpt_total;
	parser->open_groups++;
	return 0;
}

static int
head_read_rcpt(struct control_parser *parser, size_t offset, struct slice value,
    struct err *err)
{
	struct control_file *control = parser->control;
	struct control_rcpt *rcpt = parser->rcpts + control->rcpt_total;

	if (control->rcpt_total == parser->rcpts_room)
		return err_set(err, "recipient where none was counted");
	if (parser->open_groups == 0)
		return err_set(err, "recipient without a sender before it");
	rcpt->offset = rcpt->first_offset = (uint32_t)offset;
	rcpt->tries = control->terms.tried;
	if (control_read_quad(value, rcpt, err) < 0)
		return -1;
	control->rcpt_total++;
	control->groups[control->group_count - 1].rcpt_count++;
	return 0;
}

/* An X line: another way to the recipient before it. */
static int
read_way(struct control_parser *parser, size_t offset, struct slice value,
    struct err *err)
{
	struct control_file *control = parser->control;
	struct control_rcpt *rcpt, quad;
	struct control_way *way;

	if (parser->open_groups == 0 ||
	    control->groups[control->group_count - 1].rcpt_count == 0)
		return err_set(err, "another way without a recipient");
	rcpt = parser->rcpts + control->rcpt_total - 1;
	way = parser->ways + parser->way_count;
	if (parser->way_count == parser->ways_room ||
	    rcpt->way_count + 1 == CONTROL_WAYS_MAX)
		return err_set(err, "more than %d ways", CONTROL_WAYS_MAX);
	if (control_read_quad(value, &quad, err) < 0)
		return -1;
	if (quad.channel.n == 0)
		return err_set(err, "another way without a channel");
	*way = (struct control_way){ (uint32_t)offset, quad.channel, quad.host,
	    quad.user, quad.uid, 0 };
	if (rcpt->way_count++ == 0)
		rcpt->ways = way;
	parser->way_count++;
	return 0;
}

/* An N line: of a recipient, or of another way to it. */
static int
read_parameters(struct control_parser *parser, struct slice value,
    struct err *err)
{
	size_t total = parser->control->rcpt_total;
	struct control_rcpt *rcpt;

	if (total == 0)
		return err_set(err, "N line without a recipient");
	rcpt = parser->rcpts + total - 1;
	if (rcpt->way_count > 0)
		parser->ways[parser->way_count - 1].after_s =
		    control_read_after(value);
	return control_read_notify(value, rcpt, err);
}

/* What may stand after an s line, before its recipients. */
static int
read_group(struct control_parser *parser, char tag, struct slice value,
    struct err *err)
{
	struct control_file *control = parser->control;
	struct control_group *group = &control->groups[control->group_count -
	    1];

	if (tag != 'e' || parser->open_groups == 0 || group->rcpt_count > 0)
		return err_set(err, "unknown tag");
	group->errors_to = value;
	return 0;
}

/* The open groups get this header. */
static void
close_groups(struct control_parser *parser, struct slice header, size_t offset)
{
	struct control_file *control = parser->control;

	for (size_t i = control->group_count - parser->open_groups;
	    i < control->group_count; i++) {
		control->groups[i].header = header;
		control->groups[i].header_offset = (uint32_t)offset;
	}
	parser->open_groups = 0;
	parser->headers[offset % CONTROL_HEADERS_KEPT] = header;
}

/* Does a header begin there?  Of a window that was checked it does. */
static bool
parser_has_header(const struct control_parser *parser, uint64_t offset)
{
	const struct control_header_list *seen = parser->seen;
	size_t low = 0, high = seen == NULL ? 0 : seen->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (seen->offsets[middle] < offset)
			low = middle + 1;
		else
			high = middle;
	}
	return seen == NULL ||
	    (low < seen->count && seen->offsets[low] == offset);
}

static void
parser_note_header(struct control_parser *parser, size_t offset)
{
	struct control_header_list *seen = parser->seen;

	if (seen == NULL)
		return;
	if (seen->count == 0 || (seen->count >= 16 &&
	    (seen->count & (seen->count - 1)) == 0))
		seen->offsets = mem_grow(seen->offsets, seen->count == 0 ?
		    16 : seen->count * 2, sizeof(*seen->offsets));
	seen->offsets[seen->count++] = (uint32_t)offset;
}

/* An h line: the header that an earlier group has. */
static int
read_header_again(struct control_parser *parser, struct slice value,
    struct err *err)
{
	struct control_file *control = parser->control;
	size_t closed = control->group_count - parser->open_groups;
	struct slice kept;
	uint64_t offset;

	if (parser->open_groups == 0 ||
	    !slice_number(value, 1, UINT32_MAX, &offset))
		return err_set(err, "not the offset of a header");
	if (parser->is_window) {
		if (!parser_has_header(parser, offset))
			return err_set(err, "no header begins at that offset");
		close_groups(parser, slice_first(value, 0), (size_t)offset);
		return 0;
	}
	kept = parser->headers[offset % CONTROL_HEADERS_KEPT];
	if (kept.p == parser->file.p + offset) {
		close_groups(parser, kept, (size_t)offset);
		return 0;
	}
	for (size_t i = 0; i < closed; i++)
		if (control->groups[i].header_offset == offset) {
			close_groups(parser, control->groups[i].header,
			    (size_t)offset);
			return 0;
		}
	return err_set(err, "no header begins at that offset");
}

/* The block after an m line, up to a blank line, for all open groups. */
static int
read_header(struct control_parser *parser, struct err *err)
{
	struct slice rest = slice_from(parser->file, parser->at), header;

	if (parser->open_groups == 0)
		return err_set(err, "header without a sender before it");
	header = slice_first(rest, slice_find_blank_line(rest));
	if (header.n == rest.n)
		return err_set(err, "header without an end");
	if (parser->is_window) {
		parser_note_header(parser, parser->start + parser->at);
		close_groups(parser, slice_first(header, 0),
		    parser->start + parser->at);
	} else {
		close_groups(parser, header, parser->at);
	}
	parser->at += header.n + 1;
	return 0;
}

int
control_parser_line(struct control_parser *parser, struct err *err)
{
	struct slice rest = slice_from(parser->file, parser->at);
	struct slice line = slice_first(rest, slice_find(rest, '\n'));
	struct slice value = slice_from(line, 2);
	size_t offset = parser->start + parser->at;

	parser->at += line.n + 1;
	if (slice_is(line, "m"))
		return read_header(parser, err);
	if (line.n < 3 || line.p[1] != ' ')
		return err_set(err, "no tag and value");
	if (line.p[0] == 's')
		return read_sender(parser, offset, value, err);
	if (line.p[0] == 'r')
		return head_read_rcpt(parser, offset, value, err);
	if (line.p[0] == 'X')
		return read_way(parser, offset, value, err);
	if (line.p[0] == 'N')
		return read_parameters(parser, value, err);
	if (line.p[0] == 'h')
		return read_header_again(parser, value, err);
	if (parser->control->group_count > 0)
		return read_group(parser, line.p[0], value, err);
	return control_read_common(parser->control, line.p[0], value, err);
}

/* At most so many lines have these tags: bounds arrays before they are
 * made. */
static void
head_count_lines(struct control_parser *parser)
{
	struct slice text = parser->file;
	size_t n;

	while ((n = slice_find(text, '\n')) < text.n) {
		text = slice_from(text, n + 1);
		if (text.n < 2 || text.p[1] != ' ')
			continue;
		parser->groups_room += text.p[0] == 's';
		parser->rcpts_room += text.p[0] == 'r';
		parser->ways_room += text.p[0] == 'X';
	}
}

void
control_parser_room(struct control_parser *parser)
{
	/* a part begins with an s or an r line, which may be of a group that
	 * began before */
	size_t more = parser->is_window ? 2 : 0;

	parser->groups_room = parser->rcpts_room = more;
	parser->ways_room = 0;
	head_count_lines(parser);
	if (parser->rcpts_most > 0 && parser->rcpts_room >
	    parser->rcpts_most + more)
		parser->rcpts_room = parser->rcpts_most + more;
	if (parser->ways_room > 0)
		parser->ways = arena_alloc(parser->arena,
		    parser->ways_room * sizeof(*parser->ways));
	parser->control->groups = arena_alloc(parser->arena,
	    parser->groups_room * sizeof(*parser->control->groups));
	parser->rcpts = arena_alloc(parser->arena,
	    parser->rcpts_room * sizeof(*parser->rcpts));
}

int
control_parser_end(const struct control_parser *parser, size_t rcpts,
    struct err *err)
{
	if (parser->control->id[0] == '\0')
		return err_set(err, "control file without a spool id");
	if (parser->open_groups > 0 || rcpts == 0)
		return err_set(err, "control file without %s",
		    rcpts == 0 ? "recipients" : "a header");
	return 0;
}

static int
parse_head(struct control_parser *parser, struct err *err)
{
	control_parser_room(parser);
	parser->at = CONTROL_FIRST_LINE_BYTES;
	while (parser->at < parser->file.n)
		if (control_parser_line(parser, err) < 0)
			return err_prefix(err, "control file, before byte %zu",
			    parser->at);
	return control_parser_end(parser, parser->control->rcpt_total, err);
}

int
control_file_parse(struct arena *arena, struct slice file,
    struct control_file *out,
    struct err *err)
{
	struct control_parser parser = { .arena = arena, .control = out };
	uint32_t crc;
	size_t head = control_first_line(file, &crc);

	memset(out, 0, sizeof(*out));
	if (head == 0)
		return err_set(err, "not a control file");
	if (head > file.n)
		return err_set(err, "control file of %zu bytes, its head "
		    "alone has %zu", file.n, head);
	if (crc32c(0, file.p + CONTROL_FIRST_LINE_BYTES,
		head - CONTROL_FIRST_LINE_BYTES) != crc)
		return err_set(err, "the control file's checksum is wrong");
	parser.file = slice_first(file, head);
	if (parse_head(&parser, err) < 0)
		return -1;
	out->head_bytes = head;
	control_replay(arena, out, slice_from(file, head));
	return 0;
}

/* One read of at most so many bytes, after those that out has. */
static int
control_file_read_more(int fd, size_t room, struct str *out, bool *out_is_all,
    struct err *err)
{
	char *into = str_room(out, room);
	ssize_t n;

	do
		n = pread(fd, into, room, (off_t)out->len);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return err_sys(err, "read control file");
	out->len += (size_t)n;
	out->buf[out->len] = '\0';
	*out_is_all = (size_t)n < room;
	return 0;
}

int
control_file_read_front(int fd, struct str *out, bool *out_is_all,
    struct err *err)
{
	str_reset(out);
	return control_file_read_more(fd, FRONT_BYTES, out, out_is_all, err);
}

int
control_file_read(int fd, size_t max_bytes, struct str *out, struct err *err)
{
	bool is_all;

	if (control_file_read_front(fd, out, &is_all, err) < 0)
		return -1;
	while (!is_all && out->len <= max_bytes)
		if (control_file_read_more(fd, out->len, out, &is_all, err) <
		    0)
			return -1;
	return out->len <= max_bytes ? 0 : err_set(err,
	    "file of more than %zu bytes", max_bytes);
}

bool
control_file_read_of(struct arena *arena, int fd, uint64_t at, size_t n,
    const char *id, uint64_t body_bytes, struct str *out)
{
	struct control_file file;
	bool is_good;

	str_reset(out);
	if (n == 0 || fd_read_whole_at(fd, str_room(out, n), n, at) != 0)
		return false;
	out->len = n;
	out->buf[n] = '\0';
	is_good = control_file_parse(arena, str_slice(out), &file, NULL) == 0 &&
	    strcmp(file.id, id) == 0 && file.body_offset <= body_bytes;
	arena_reset(arena);
	return is_good;
}
