/* content.c - a message as it lies in a mailbox
 *
 * In     sender and header of the job, the body file
 * Out    bytes in an open file
 * Holds  header and small bodies in memory, one piece of big ones
 * Trusts nothing in the message; the sender is written with controls taken
 *        out
 * Spec   RFC 5321 section 4.4 (Return-Path), RFC 4155 and the mboxrd
 *        convention for mbox
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/crc32c.h"
#include "base/fd.h"
#include "grammar/message/header.h"
#include "transports/frame/content.h"

#include "base/banned.h"

enum { PIECE_BYTES = CONTENT_WHOLE_BYTES_MAX };

void
content_clear(struct job_content *content)
{
	memset(content, 0, sizeof(*content));
	str_init(&content->head);
	str_init(&content->text);
}

void
content_release(struct job_content *content)
{
	str_release(&content->head);
	str_release(&content->text);
}

static bool
content_is_from_line(const char *at, const char *end)
{
	while (at < end && *at == '>')
		at++;
	return end - at >= 5 && memcmp(at, "From ", 5) == 0;
}

void
content_quote(struct str *out, struct slice text, bool *at_line_start)
{
	const char *at = text.p, *end = text.p + text.n;

	while (at < end) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));
		const char *next = stop != NULL ? stop + 1 : end;

		if (*at_line_start && content_is_from_line(at, end))
			str_addc(out, '>');
		str_add(out, at, (size_t)(next - at));
		*at_line_start = stop != NULL;
		at = next;
	}
}

/* A line of four ^A ends a message. */
static void
content_quote_mmdf(struct str *out, struct slice text, bool *at_line_start)
{
	while (text.n > 0) {
		size_t n = slice_find(text, '\n');
		struct slice line = slice_first(text, n + 1);

		if (*at_line_start && slice_starts(line, "\1\1\1\1"))
			str_addc(out, ' ');
		str_add_slice(out, line);
		*at_line_start = n < text.n;
		text = slice_from(text, line.n);
	}
}

static bool
content_is_rewritten(const struct job_content *content)
{
	return (content->flags & (CONTENT_QUOTED | CONTENT_MMDF)) != 0;
}

static void
content_rewrite(const struct job_content *content, struct str *out,
    struct slice text,
    bool *at_line_start)
{
	if (content->flags & CONTENT_MMDF)
		content_quote_mmdf(out, text, at_line_start);
	else
		content_quote(out, text, at_line_start);
}

/* What stands after a message. */
static const char *
content_text_end(const struct job_content *content)
{
	if (content->flags & CONTENT_MMDF)
		return CONTENT_MMDF_LINE;
	return content->flags & CONTENT_QUOTED ? "\n" : "";
}

/* "From sender Fri Nov 20 21:04:00 2026"; blanks in the sender would make
 * the date unreadable. */
static void
content_add_from_line(struct str *out, struct slice sender)
{
	char date[CLOCK_TEXT_BYTES];

	str_adds(out, "From ");
	if (sender.n == 0)
		str_adds(out, "MAILER-DAEMON");
	for (size_t i = 0; i < sender.n; i++)
		str_addc(out, (unsigned char)sender.p[i] <= ' ' ||
		    sender.p[i] == 127 ? '_' : sender.p[i]);
	clock_mbox(clock_wall_s(), date);
	str_addf(out, " %s\n", date);
}

static void
content_add_return_path(struct str *out, struct slice sender)
{
	str_adds(out, "Return-Path: <");
	for (size_t i = 0; i < sender.n; i++)
		str_addc(out, (unsigned char)sender.p[i] < ' ' ||
		    sender.p[i] == 127 ? '_' : sender.p[i]);
	str_adds(out, ">\n");
}

void
content_add_header(struct str *out, struct slice header)
{
	struct header_field field;
	bool is_broken = false;

	while (header.n > 0)
		if (!header_next(&header, &field, &is_broken))
			str_add_slice(out, header_junk(&header));
		else if (!header_is(&field, "Return-Path"))
			str_add_slice(out, field.whole);
	if (out->len > 0 && out->buf[out->len - 1] != '\n')
		str_addc(out, '\n');
}

static void
content_add_text(struct job_content *content, struct slice text)
{
	bool at_line_start = true;

	if (content_is_rewritten(content))
		content_rewrite(content, &content->text, text, &at_line_start);
	else
		str_add_slice(&content->text, text);
}

static int
content_add_small_body(struct job_content *content, struct err *err)
{
	struct str *text = &content->text;
	struct str plain = STR_INIT;
	struct str *into = content_is_rewritten(content) ? &plain : text;
	char *room = str_room(into, CONTENT_WHOLE_BYTES_MAX);
	ssize_t n = fd_read_at(content->body_fd, room, CONTENT_WHOLE_BYTES_MAX,
	    content->body_offset);

	if (n < 0) {
		str_release(&plain);
		return err_sys(err, "read the message");
	}
	content->is_whole = n < CONTENT_WHOLE_BYTES_MAX;
	if (content->is_whole) {
		into->len += (size_t)n;
		into->buf[into->len] = '\0';
		if (into == &plain)
			content_add_text(content, str_slice(&plain));
		if (text->buf[text->len - 1] != '\n')
			str_addc(text, '\n');
		str_adds(text, content_text_end(content));
	}
	str_release(&plain);
	return 0;
}

int
content_load(struct job_content *content, enum content_flags flags,
    const struct control_job *job, int body_fd, struct err *err)
{
	struct str header = STR_INIT;

	str_reset(&content->head);
	str_reset(&content->text);
	content->flags = flags;
	content->body_fd = body_fd;
	content->body_offset = job->body_offset;
	content->is_whole = false;
	if (flags & CONTENT_MMDF)
		str_adds(&content->head, CONTENT_MMDF_LINE);
	if (flags & CONTENT_FROM_LINE)
		content_add_from_line(&content->head, job->sender);
	content_add_return_path(&content->head, job->sender);
	content_add_header(&header, job->header);
	content_add_text(content, str_slice(&header));
	str_release(&header);
	str_addc(&content->text, '\n');
	if (job->size_bytes >= CONTENT_WHOLE_BYTES_MAX)
		return 0;
	return content_add_small_body(content, err);
}

uint64_t
content_bytes(const struct job_content *content, struct slice trace)
{
	uint64_t bytes = content->head.len + trace.n + content->text.len;
	struct stat st;

	if (!content->is_whole && fstat(content->body_fd, &st) == 0 &&
	    (uint64_t)st.st_size > content->body_offset)
		bytes += (uint64_t)st.st_size - content->body_offset;
	return bytes;
}

/* ---- writing ----------------------------------------------------------- */

struct sink {
	int		 fd;		/* -1: only counted and summed up */
	uint64_t	*bytes;
	uint32_t	 crc;		/* with fd -1 */
};

static int
content_put(struct sink *sink, const char *bytes, size_t n)
{
	if (sink->fd < 0) {
		sink->crc = crc32c(sink->crc, bytes, n);
		*sink->bytes += n;
		return 0;
	}
	while (n > 0) {
		ssize_t some = write(sink->fd, bytes, n);

		if (some < 0 && errno == EINTR)
			continue;
		if (some < 0)
			return -1;
		*sink->bytes += (uint64_t)some;
		bytes += some;
		n -= (size_t)some;
	}
	return 0;
}

static int
content_write_front(const struct job_content *content, struct slice trace,
    struct sink *sink)
{
	const struct slice parts[] = {
		str_slice(&content->head), trace, str_slice(&content->text)
	};
	struct iovec vectors[3];
	ssize_t some = 0;
	size_t skip;

	for (int i = 0; i < 3; i++) {
		vectors[i].iov_base = (void *)(uintptr_t)parts[i].p;
		vectors[i].iov_len = parts[i].n;
	}
	if (sink->fd >= 0)
		do
			some = writev(sink->fd, vectors, 3);
		while (some < 0 && errno == EINTR);
	if (some < 0)
		return -1;
	*sink->bytes += (uint64_t)some;
	skip = (size_t)some;
	for (int i = 0; i < 3; i++) {		/* a short write: the rest */
		size_t done = skip < parts[i].n ? skip : parts[i].n;
		struct slice rest = slice_from(parts[i], done);

		skip -= done;
		if (content_put(sink, rest.p, rest.n) < 0)
			return -1;
	}
	return 0;
}

/* The body in pieces.  Quoted pieces are cut at their last line end, so
 * that "From " is never split; a line longer than a piece is no From_ line. */
static int
content_write_body(const struct job_content *content, struct sink *sink)
{
	bool is_quoted = content_is_rewritten(content), at_line_start = true;
	uint64_t offset = content->body_offset;
	struct str out = STR_INIT;
	char *piece = mem_alloc(1, PIECE_BYTES), last = '\n';
	int result = 0;
	ssize_t n;

	while (result == 0 && (n = fd_read_at(content->body_fd, piece,
	    PIECE_BYTES, offset)) != 0) {
		struct slice text = { piece, n > 0 ? (size_t)n : 0 };
		const char *cut = n == PIECE_BYTES && is_quoted ?
		    memrchr(piece, '\n', text.n) : NULL;

		if (n < 0) {
			result = -1;
			break;
		}
		if (cut != NULL)
			text.n = (size_t)(cut - piece) + 1;
		offset += text.n;
		last = text.p[text.n - 1];
		if (is_quoted) {
			str_reset(&out);
			content_rewrite(content, &out, text, &at_line_start);
			text = str_slice(&out);
		}
		result = content_put(sink, text.p, text.n);
	}
	if (result == 0 && last != '\n')
		result = content_put(sink, "\n", 1);
	if (result == 0)
		result = content_put(sink, content_text_end(content),
		    strlen(content_text_end(content)));
	mem_free(&piece);
	str_release(&out);
	return result;
}

int
content_write(const struct job_content *content, int fd, struct slice trace,
    uint64_t *out_bytes, struct err *err)
{
	struct sink sink = { .fd = fd, .bytes = out_bytes };

	*out_bytes = 0;
	if (content_write_front(content, trace, &sink) == 0 &&
	    (content->is_whole || content_write_body(content, &sink) == 0))
		return 0;
	int kept = errno;
	err_sys(err, "write");
	errno = kept;
	return -1;
}

int
content_measure(const struct job_content *content, struct slice trace,
    uint64_t *out_bytes, uint32_t *out_crc, struct err *err)
{
	struct sink sink = { .fd = -1, .bytes = out_bytes };

	*out_bytes = 0;
	if (content_write_front(content, trace, &sink) < 0 ||
	    (!content->is_whole && content_write_body(content, &sink) < 0))
		return err_sys(err, "read the message");
	*out_crc = sink.crc;
	return 0;
}
