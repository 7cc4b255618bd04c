/* job.c - one job of a transport agent: its line, its recipients
 *
 * In     a job line, the control file's descriptor
 * Out    sender, header and the named recipients, in the arena
 * Holds  nothing; a file up to 64 KiB (for few recipients 8 KiB) is read
 *        once, of a bigger one only the ranges that the job names; the lines
 *        are copied, because the job may wait for hours
 * Trusts the scheduler's offsets only as far as a line of the right kind
 *        stands there and the spool id agrees
 * Spec   doc/protocol/agent.md
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>
#include <string.h>

#include "base/ascii.h"
#include "base/crc32c.h"
#include "base/fd.h"
#include "base/mem.h"
#include "mail/control_file/internal.h"

#include "base/banned.h"

enum {
	WINDOW_BYTES = 65536,
	WINDOW_FEW_BYTES = 8192,	/* of a job with few recipients */
	FEW = 4,
	JOB_OFFSETS_MAX = 1000000,
	CHECK_BYTES = 16384
};

/* The part of the file that lies in memory, until the next is read. */
struct window {
	struct arena	*arena;		/* of the lines that were found */
	int		 fd;
	size_t		 bytes;		/* to read at a time */
	struct str	 read;
	struct slice	 text;		/* of read */
	uint64_t	 start;		/* of text in the file */
	bool		 is_last;	/* text reaches the end of the file */
};

void
control_job_add(struct str *out, const char *name, const char *id,
    struct slice host, uint32_t sender_offset, uint32_t header_offset,
    unsigned tries, const uint32_t *rcpt_offsets, size_t count)
{
	str_adds(out, name);
	str_addc(out, '/');
	str_adds(out, id);
	str_addc(out, '\t');
	str_add_slice(out, host);
	str_addc(out, '\t');
	control_add_number(out, sender_offset);
	str_addc(out, ',');
	control_add_number(out, header_offset);
	str_addc(out, ',');
	control_add_number(out, tries);
	str_addc(out, '\t');
	for (size_t i = 0; i < count; i++) {
		if (i > 0)
			str_addc(out, ',');
		control_add_number(out, rcpt_offsets[i]);
	}
}

static int
window_read(struct window *window, uint64_t start, size_t want,
    struct err *err)
{
	ssize_t n;

	str_reset(&window->read);
	n = fd_read_at(window->fd, str_room(&window->read, want - 1), want,
	    start);
	if (n < 0)
		return err_sys(err, "read control file");
	window->text = (struct slice){ window->read.buf, (size_t)n };
	window->start = start;
	window->is_last = (size_t)n < want;
	return 1;
}

/* One of the letters in front of the blank, and a blank. */
static bool
has_tag(struct slice line, const char *tags)
{
	return line.n > 1 && line.p[1] == ' ' && line.p[0] != ' ' &&
	    ascii_is_among(line.p[0], tags);
}

/* The line of one of the kinds in tags ("rX ", "s ") that begins at offset;
 * reads on when the window does not hold all of it. */
static int
window_line(struct window *window, uint64_t offset, const char *tags,
    struct slice *out_line, struct err *err)
{
	struct slice rest;
	size_t n;

	if (offset < CONTROL_FIRST_LINE_BYTES)
		return err_set(err, "offset %" PRIu64 " lies before any line",
		    offset);
	for (int turn = 0; turn < 3; turn++) {
		if (offset > window->start &&
		    offset - window->start < window->text.n) {
			rest = slice_from(window->text,
			    (size_t)(offset - window->start));
			n = slice_find(rest, '\n');
			if (n < rest.n) {
				rest.n = n;
				if (rest.p[-1] != '\n' || !has_tag(rest, tags))
					break;
				*out_line = slice_copy(window->arena, rest);
				return 1;
			}
		}
		if (turn > 0 && window->is_last)
			break;
		if (window_read(window, offset - 1, turn == 0 ?
		    window->bytes : WINDOW_BYTES, err) < 0)
			return -1;
	}
	return err_set(err, "no '%s' line at byte %" PRIu64
	    " of the control file", tags, offset);
}

static int
window_header(struct window *window, uint64_t offset, struct slice *out,
    struct err *err)
{
	struct slice rest;
	size_t end;

	for (size_t want = window->bytes; want <= CONTROL_HEADER_BYTES_MAX * 2;
	    want *= 4) {
		if (offset > window->start &&
		    offset - window->start < window->text.n) {
			rest = slice_from(window->text,
			    (size_t)(offset - window->start));
			if (rest.p[-1] != '\n')
				break;
			end = slice_find_blank_line(rest);
			if (end < rest.n) {
				*out = slice_copy(window->arena,
				    slice_first(rest, end));
				return 1;
			}
			if (window->start == offset - 1 && window->is_last)
				break;
		}
		if (window_read(window, offset - 1, want, err) < 0)
			return -1;
	}
	return err_set(err, "no header at byte %" PRIu64
	    " of the control file", offset);
}

static int
control_head_check(int fd, char piece[CHECK_BYTES], struct err *err)
{
	uint64_t at = 0, head = 0;
	uint32_t crc = 0, want = 0;

	do {
		ssize_t n = fd_read_at(fd, piece, CHECK_BYTES, at);
		struct slice bytes = { piece, n > 0 ? (size_t)n : 0 };

		if (n < 0)
			return err_sys(err, "read the control file");
		if (at == 0)
			head = control_first_line(bytes, &want);
		if (head == 0 || n == 0)
			return err_set(err, "not a control file");
		bytes = slice_first(bytes, (size_t)(head - at));
		at += bytes.n;
		if (at == bytes.n)
			bytes = slice_from(bytes, CONTROL_FIRST_LINE_BYTES);
		crc = crc32c(crc, bytes.p, bytes.n);
	} while (at < head);
	return crc == want ? 0 :
	    err_set(err, "the control file's checksum is wrong");
}

/* On the heap: the stack of an agent in a thread stays as deep as it once
 * was. */
int
control_file_check(int fd, struct err *err)
{
	char *piece = mem_grow(NULL, 1, CHECK_BYTES);
	int result = control_head_check(fd, piece, err);

	mem_free(&piece);
	return result;
}

/* The first window, which holds the lines before the first s line. */
static int
window_begin(struct window *window, struct err *err)
{
	if (window_read(window, 0, window->bytes, err) < 0)
		return -1;
	if (window->is_last || memmem(window->text.p, window->text.n, "\ns ",
	    3) != NULL)
		return 0;
	return window_read(window, 0, WINDOW_BYTES, err);
}

/* The lines before the first s line, and its tag; the first window holds
 * them. */
static int
window_common(const struct window *window, struct slice *out,
    bool *out_is_checked, struct err *err)
{
	struct slice rest = window->text;
	const char *end = memmem(rest.p, rest.n, "\ns ", 3);
	uint32_t crc;
	size_t head = control_first_line(rest, &crc);

	if (head == 0)
		return err_set(err, "not a control file");
	*out_is_checked = head <= rest.n;
	if (head <= rest.n && crc32c(0, rest.p + CONTROL_FIRST_LINE_BYTES,
		head - CONTROL_FIRST_LINE_BYTES) != crc)
		return err_set(err, "the control file's checksum is wrong");
	if (end != NULL)
		rest.n = (size_t)(end - rest.p) + 4;
	*out = slice_copy(window->arena, slice_from(rest,
	    CONTROL_FIRST_LINE_BYTES));
	return 1;
}

static int
read_common(const struct window *window, struct control_job *out,
    struct err *err)
{
	struct control_file control = { .ret = DSN_RET_DEFAULT };
	struct slice rest, line;

	if (window_common(window, &rest, &out->is_checked, err) < 0)
		return -1;
	for (;;) {
		size_t n = slice_find(rest, '\n');

		line = slice_first(rest, n);
		if (n == rest.n || slice_starts(line, "s "))
			break;
		rest = slice_from(rest, n + 1);
		if (line.n < 3 || line.p[1] != ' ' ||
		    control_read_common(&control,
			line.p[0], slice_from(line, 2), err) < 0)
			return err_prefix(err, "control file");
	}
	if (strcmp(control.id, out->id) != 0)
		return err_set(err, "the control file is of message %s, the "
		    "job of %s", control.id, out->id);
	out->bodytype = control.bodytype;
	out->envid = control.envid;
	out->terms = control.terms;
	out->ret = control.ret;
	out->body_offset = control.body_offset;
	out->size_bytes = control.size_bytes;
	return 1;
}

static int
job_read_rcpt(struct window *window, uint64_t offset, struct control_rcpt *out,
    struct err *err)
{
	struct slice line;
	struct err ignored;

	if (window_line(window, offset, "rX ", &line, err) < 0 ||
	    control_read_quad(slice_from(line, 2), out, err) < 0)
		return -1;
	out->offset = (uint32_t)offset;
	/* an N line may follow; another line there is no error */
	offset += line.n + 1;
	if (offset - window->start + 1 < window->text.n &&
	    window->text.p[offset - window->start] != 'N')
		return 0;
	if (window_line(window, offset, "N ", &line, &ignored) < 0)
		return 0;
	return control_read_notify(slice_from(line, 2), out, err);
}

static size_t
count_offsets(struct slice list)
{
	size_t count = list.n > 0;

	for (size_t i = 0; i < list.n; i++)
		count += list.p[i] == ',';
	return count;
}

struct job_line {
	uint64_t	sender, header, tries;
	struct slice	rcpts;
};

static int
read_job_line(struct arena *arena, struct slice line, struct control_job *out,
    struct job_line *job, struct err *err)
{
	struct slice name, host, middle, part[3] = { { NULL, 0 } }, id;
	size_t slash;

	if (!slice_cut(&line, '\t', &name) || !slice_cut(&line, '\t', &host) ||
	    !slice_cut(&line, '\t', &middle) || line.p == NULL)
		return err_set(err, "job line without four fields");
	job->rcpts = line;
	for (slash = name.n; slash > 0 && name.p[slash - 1] != '/';)
		slash--;
	id = slice_from(name, slash);
	if (slash < 2 || !spool_id_is(id) || id.n >= sizeof(out->id))
		return err_set(err, "job line without a spool id");
	memcpy(out->id, id.p, id.n);
	for (int i = 0; i < 3; i++)
		slice_cut(&middle, ',', &part[i]);
	if (middle.p != NULL ||
	    !slice_number(part[0], 1, UINT32_MAX, &job->sender) ||
	    !slice_number(part[1], 1, UINT32_MAX, &job->header) ||
	    !slice_number(part[2], 0, UINT32_MAX, &job->tries))
		return err_set(err, "job line with bad offsets");
	out->host = slice_copy(arena, host);
	return 1;
}

static int
read_rcpts(struct window *window, const struct job_line *job,
    struct control_job *out, struct err *err)
{
	struct slice list = job->rcpts, piece;
	size_t room = count_offsets(list);
	uint64_t offset;

	if (room == 0 || room > JOB_OFFSETS_MAX)
		return err_set(err, "job with %zu recipients", room);
	out->rcpts = arena_alloc(window->arena, room * sizeof(*out->rcpts));
	while (slice_cut(&list, ',', &piece)) {
		if (!slice_number(piece, 1, UINT32_MAX, &offset))
			return err_set(err, "job line with bad offsets");
		if (job_read_rcpt(window, offset, &out->rcpts[out->rcpt_count],
			err) < 0)
			return -1;
		out->rcpts[out->rcpt_count++].tries = (unsigned)job->tries;
	}
	return 1;
}

static int
window_load(struct window *window, const struct job_line *job,
    struct control_job *out, struct err *err)
{
	struct control_rcpt sender;
	struct slice line;

	memset(&sender, 0, sizeof(sender));
	if (window_begin(window, err) < 0 ||
	    read_common(window, out, err) < 0 ||
	    window_line(window, job->sender, "s ", &line, err) < 0 ||
	    control_read_quad(slice_from(line, 2), &sender, err) < 0 ||
	    read_rcpts(window, job, out, err) < 0 ||
	    window_header(window, job->header, &out->header, err) < 0)
		return -1;
	out->sender = sender.user;
	return 0;
}

int
control_job_load(struct arena *arena, struct slice job_line, int control_fd,
    struct control_job *out, struct err *err)
{
	struct window window = { .arena = arena, .fd = control_fd,
	    .bytes = WINDOW_FEW_BYTES, .read = STR_INIT };
	struct job_line job = { 0 };
	int result;

	memset(out, 0, sizeof(*out));
	if (read_job_line(arena, job_line, out, &job, err) < 0)
		return -1;
	if (count_offsets(job.rcpts) > FEW)
		window.bytes = WINDOW_BYTES;
	result = window_load(&window, &job, out, err);
	str_release(&window.read);
	out->control_fd = control_fd;
	return result;
}
