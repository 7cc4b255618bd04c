/* frame.c - closed parts of the journal, packed so that they can be asked
 *
 * In     lines of a closed part; files of frames
 * Out    frames; lines again
 * Trusts no length in a file: each is held against what there is and against
 *        FRAME_RAW_MAX before memory is asked for
 * Spec   frame.h; RFC 8878 sections 3.1.1, 3.1.2
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>
#include <unistd.h>
#ifdef HAVE_ZSTD
#include <zstd.h>
#endif

#include "base/ascii.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/siphash.h"
#include "grammar/smtp/xtext.h"
#include "past/frame.h"
#include "past/line.h"

#include "base/banned.h"

enum {
	PROBES = 4,
	MAGIC_SKIP = 0x184D2A5A,	/* a skippable frame, ours if */
	MAGIC_OURS = 0x314A4D5A,	/* "ZMJ1" */
	HEAD_BYTES = 8 + 4 + 4 + 4 + 8 + 8,	/* before the filter */
	LEVEL = 3
};

/* ---- values ------------------------------------------------------------- */

struct slice
frame_bare(struct slice value)
{
	if (value.n >= 7 && slice_is_nocase(slice_first(value, 7), "rfc822;"))
		value = slice_from(value, 7);
	if (value.n >= 2 && value.p[0] == '<' && value.p[value.n - 1] == '>')
		value = slice_first(slice_from(value, 1), value.n - 2);
	return value;
}

struct slice
frame_client(struct slice value)
{
	size_t end = slice_find(value, ':');

	if (slice_starts(value, "[")) {
		value = slice_from(value, 1);
		return slice_first(value, slice_find(value, ']'));
	}
	if (slice_find(slice_from(value, end + 1), ':') +
	    end + 1 < value.n)
		return value;		/* IPv6 without a port */
	return slice_first(value, end);
}

struct frame_key
frame_key_of(struct slice value)
{
	static const struct siphash_key key = { 0x7a6d61696c6572, 1 };
	char text[1024];
	size_t n = value.n < sizeof(text) ? value.n : sizeof(text);
	struct siphash hash;

	for (size_t i = 0; i < n; i++) {
		char c = value.p[i];

		text[i] = (char)(ascii_is_upper(c) ? c + 32 : c);
	}
	hash = siphash(&key, (struct slice){ text, n });
	return (struct frame_key){ hash.low, hash.high };
}

static size_t
bit_of(const struct frame_key *key, unsigned probe)
{
	return (size_t)((key->low + probe * (key->high | 1)) %
	    (FRAME_FILTER_BYTES * 8));
}

bool
frame_may_have(const struct frame *frame, const struct frame_key *key)
{
	for (unsigned i = 0; i < PROBES; i++) {
		size_t bit = bit_of(key, i);

		if (((unsigned char)frame->filter.p[bit / 8] >> bit % 8 & 1)
		    == 0)
			return false;
	}
	return true;
}

/* ---- reading ------------------------------------------------------------ */

static uint64_t
frame_little(const char *bytes, unsigned count)
{
	uint64_t value = 0;

	for (unsigned i = count; i-- > 0;)
		value = value << 8 | (unsigned char)bytes[i];
	return value;
}

bool
frame_next(struct slice file, size_t *offset, struct frame *out)
{
	struct slice rest = slice_from(file, *offset);
	size_t packed;

	if (rest.n < HEAD_BYTES + FRAME_FILTER_BYTES ||
	    frame_little(rest.p, 4) != MAGIC_SKIP ||
	    frame_little(rest.p + 4, 4) !=
		HEAD_BYTES - 8 + FRAME_FILTER_BYTES ||
	    frame_little(rest.p + 8, 4) != MAGIC_OURS)
		return false;
	out->raw_bytes = (size_t)frame_little(rest.p + 12, 4);
	packed = (size_t)frame_little(rest.p + 16, 4);
	out->first_ms = (int64_t)frame_little(rest.p + 20, 8);
	out->last_ms = (int64_t)frame_little(rest.p + 28, 8);
	rest = slice_from(rest, HEAD_BYTES);
	out->filter = slice_first(rest, FRAME_FILTER_BYTES);
	rest = slice_from(rest, FRAME_FILTER_BYTES);
	if (out->raw_bytes > FRAME_RAW_MAX || packed > rest.n || packed == 0)
		return false;
	out->packed = slice_first(rest, packed);
	*offset += HEAD_BYTES + FRAME_FILTER_BYTES + packed;
	return true;
}

#ifdef HAVE_ZSTD

bool
frames_can(void)
{
	return true;
}

bool
frame_unpack(const struct frame *frame, struct str *out)
{
	size_t n;

	str_reset(out);
	n = ZSTD_decompress(str_room(out, frame->raw_bytes), frame->raw_bytes,
	    frame->packed.p, frame->packed.n);
	if (ZSTD_isError(n) || n != frame->raw_bytes)
		return false;
	out->len = n;
	out->buf[n] = '\0';
	return true;
}

/* ---- writing ------------------------------------------------------------ */

struct head {
	int64_t		first_ms, last_ms;
	unsigned char	filter[FRAME_FILTER_BYTES];
};

static void
head_note(struct head *head, struct slice key, struct slice value)
{
	static const char *const wanted[] = { "id", "session", "client",
	    "from", "to", "user", "orcpt", "msgid", "dsn" };
	struct str plain = STR_INIT;
	struct frame_key hash;
	struct err err;
	size_t i = 0;

	while (i < sizeof(wanted) / sizeof(wanted[0]) &&
	    !slice_is(key, wanted[i]))
		i++;
	if (i == sizeof(wanted) / sizeof(wanted[0]) || value.n == 0)
		return;
	if (slice_is(key, "orcpt") && xtext_decode(frame_bare(value), &plain,
	    &err) == 0)
		value = str_slice(&plain);
	hash = frame_key_of(slice_is(key, "client") ? frame_client(value) :
	    frame_bare(value));
	str_release(&plain);
	for (unsigned probe = 0; probe < PROBES; probe++) {
		size_t bit = bit_of(&hash, probe);

		head->filter[bit / 8] |= (unsigned char)(1u << bit % 8);
	}
}

static void
head_fill(struct slice lines, struct head *head)
{
	struct str value = STR_INIT;
	struct slice line, key;

	memset(head, 0, sizeof(*head));
	head->first_ms = INT64_MAX;
	head->last_ms = INT64_MIN;
	while (slice_cut(&lines, '\n', &line)) {
		int64_t at_ms = journal_line_ms(line);
		size_t cursor = 0;

		if (at_ms < 0)
			continue;
		head->first_ms = at_ms < head->first_ms ? at_ms :
		    head->first_ms;
		head->last_ms = at_ms > head->last_ms ? at_ms : head->last_ms;
		while (json_next(line, &cursor, &key, &value))
			head_note(head, key, str_slice(&value));
	}
	str_release(&value);
}

static void
little_add(struct str *out, uint64_t value, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		str_addc(out, (char)(value >> 8 * i & 0xff));
}

/* Whole lines, as many as fit; one that does not fit is cut. */
static struct slice
lines_first(struct slice rest)
{
	struct slice some = slice_first(rest, FRAME_RAW_MAX);
	size_t n = some.n;

	if (some.n == rest.n)
		return some;
	while (n > 0 && some.p[n - 1] != '\n')
		n--;
	return n > 0 ? slice_first(some, n) : some;
}

static int
frame_add(struct slice lines, struct head *head, struct str *out)
{
	size_t room = ZSTD_compressBound(lines.n), start = out->len, n;

	head_fill(lines, head);
	little_add(out, MAGIC_SKIP, 4);
	little_add(out, HEAD_BYTES - 8 + FRAME_FILTER_BYTES, 4);
	little_add(out, MAGIC_OURS, 4);
	little_add(out, lines.n, 4);
	little_add(out, 0, 4);		/* known below */
	little_add(out, (uint64_t)head->first_ms, 8);
	little_add(out, (uint64_t)head->last_ms, 8);
	str_add(out, head->filter, FRAME_FILTER_BYTES);
	n = ZSTD_compress(str_room(out, room), room, lines.p, lines.n, LEVEL);
	if (ZSTD_isError(n))
		return -1;
	out->len += n;
	out->buf[out->len] = '\0';
	for (unsigned i = 0; i < 4; i++)
		out->buf[start + 16 + i] = (char)(n >> 8 * i & 0xff);
	return 0;
}

/* A short write is an error: the file is made anew next time. */
int
frames_write(struct slice lines, int out_fd, struct err *err)
{
	struct head *head = mem_alloc(1, sizeof(*head));
	struct str frame = STR_INIT;
	int result = 0;

	while (lines.n > 0 && result == 0) {
		struct slice some = lines_first(lines);

		str_reset(&frame);
		if (frame_add(some, head, &frame) < 0)
			result = err_set(err, "cannot pack %zu bytes", some.n);
		else if (write(out_fd, frame.buf, frame.len) !=
		    (ssize_t)frame.len)
			result = err_sys(err, "cannot write a packed part");
		lines = slice_from(lines, some.n);
	}
	str_release(&frame);
	mem_free(&head);
	return result;
}

#else

bool
frames_can(void)
{
	return false;
}

bool
frame_unpack(const struct frame *frame, struct str *out)
{
	str_reset(out);
	return false;
}

int
frames_write(struct slice lines, int out_fd, struct err *err)
{
	return err_set(err, "built without Zstandard");
}

#endif
