/* trail.c - the journal from a place that is kept, a line at a time
 *
 * In     LOGDIR/events-YYYY-MM-DD[.NNN].jsonl[.zst], as they are written,
 *        closed, packed and removed
 * Out    lines
 * Holds  one part, open; a piece of its text
 * Trusts no length and no line: a part that makes no sense is left out
 * Spec   trail.h; doc/INTERNALS.md section 9
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/siphash.h"
#include "past/frame.h"
#include "past/line.h"
#include "past/names.h"
#include "past/trail.h"

#include "base/banned.h"

enum {
	TRIES = 10,
	LATE_MS = 2000,			/* who writes looks at the name once a
					 * second */
	PIECE_BYTES = 65536
};

struct part {
	int		 fd;		/* -1: none is open */
	uint64_t	 inode;
	char		 day[TRAIL_DAY_BYTES];
	uint64_t	 first;		/* the checksum of its first line */
	struct slice	 map;		/* of a packed one */
};

struct trail {
	int		 dir_fd;
	struct trail_place place;	/* of the next line */
	struct part	 part;
	uint64_t	 read;		/* bytes of its text, up to here */
	size_t		 frame;		/* of a packed one: the next */
	struct str	 text;		/* from place.offset on, but for: */
	size_t		 used;
	int64_t		 over_ms;	/* it has another name, or will not
					 * grow: since when */
	int64_t		 after_ms;	/* lines up to this moment are left
					 * out; -1: none */
};

/* ---- places ------------------------------------------------------------ */

void
trail_place_add(struct str *out, const struct trail_place *place)
{
	str_addf(out, "%s %016" PRIx64 " %" PRIu64 " %" PRId64,
	    place->day[0] != '\0' ? place->day : "-", place->first,
	    place->offset, place->at_ms);
}

static bool
place_take_sum(struct slice word, uint64_t *out)
{
	*out = 0;
	for (size_t i = 0; i < word.n; i++) {
		static const char digits[] = "0123456789abcdef";
		const char *at = word.p[i] == '\0' ? NULL :
		    strchr(digits, word.p[i]);

		if (at == NULL)
			return false;
		*out = *out << 4 | (uint64_t)(at - digits);
	}
	return word.n == 16;
}

bool
trail_place_take(struct slice *rest, struct trail_place *out)
{
	struct journal_name name;
	struct slice word;
	char text[40];
	uint64_t at_ms;

	*out = (struct trail_place){ .at_ms = -1 };
	if (!slice_word(rest, &word))
		return false;
	snprintf(text, sizeof(text), "events-%.*s.jsonl",
	    (int)(word.n < TRAIL_DAY_BYTES ? word.n : TRAIL_DAY_BYTES),
	    word.p);
	if (!slice_is(word, "-") && !journal_name_parse(text, &name))
		return false;
	if (!slice_is(word, "-"))
		snprintf(out->day, sizeof(out->day), "%.10s", text + 7);
	if (!slice_word(rest, &word) || !place_take_sum(word, &out->first) ||
	    !slice_word(rest, &word) ||
	    !slice_number(word, 0, INT64_MAX, &out->offset) ||
	    !slice_word(rest, &word))
		return false;
	if (slice_is(word, "-1"))
		return true;
	out->at_ms = slice_number(word, 0, INT64_MAX, &at_ms) ?
	    (int64_t)at_ms : -1;
	return out->at_ms >= 0;
}

bool
trail_place_equal(const struct trail_place *a, const struct trail_place *b)
{
	return strcmp(a->day, b->day) == 0 && a->first == b->first &&
	    a->offset == b->offset;
}

/* ---- parts ------------------------------------------------------------- */

static void
trail_part_close(struct part *part)
{
	if (part->map.p != NULL)
		munmap((void *)(uintptr_t)part->map.p, part->map.n);
	if (part->fd >= 0)
		close(part->fd);
	*part = (struct part){ .fd = -1 };
}

static int
trail_part_map(struct part *part, size_t n, struct err *err)
{
	void *map;

	if (n == 0)
		return 0;
	map = mmap(NULL, n, PROT_READ, MAP_SHARED, part->fd, 0);
	if (map == MAP_FAILED)
		return err_sys(err, "cannot map a part of the journal");
	part->map = (struct slice){ map, n };
	return 0;
}

/* The text at its begin: as much as a first line may have. */
static void
trail_part_begin(const struct part *part, struct str *out)
{
	struct frame frame;
	size_t at = 0;
	ssize_t n;

	if (part->map.p != NULL) {
		if (!frame_next(part->map, &at, &frame) ||
		    !frame_unpack(&frame, out))
			str_reset(out);
		return;
	}
	n = fd_read_at(part->fd, str_room(out, PIECE_BYTES), PIECE_BYTES, 0);
	out->len = n > 0 ? (size_t)n : 0;
	out->buf[out->len] = '\0';
}

/* false: it has no whole line yet. */
static bool
trail_part_sum(struct part *part)
{
	static const struct siphash_key key = { 0x7a6d61696c6572, 2 };
	struct str text = STR_INIT;
	struct slice begin;
	size_t end;

	trail_part_begin(part, &text);
	begin = slice_first(str_slice(&text), PIECE_BYTES);
	end = slice_find(begin, '\n');
	part->first = siphash(&key, slice_first(begin, end)).low;
	str_release(&text);
	return end < begin.n || begin.n == PIECE_BYTES;
}

enum opened { PART_OPEN, PART_EMPTY, PART_RENAMED, PART_TROUBLE };

static enum opened
trail_part_open(struct part *part, int dir_fd, const struct journal_name *name,
    struct err *err)
{
	struct stat st;

	*part = (struct part){ .fd = openat(dir_fd, name->text,
	    O_RDONLY | O_NOFOLLOW | O_CLOEXEC) };
	if (part->fd < 0 && errno == ENOENT)
		return PART_RENAMED;
	if (part->fd < 0 || fstat(part->fd, &st) != 0 || (name->is_packed &&
	    trail_part_map(part, (size_t)st.st_size, err) < 0)) {
		err_sys(err, "cannot read %s", name->text);
		trail_part_close(part);
		return PART_TROUBLE;
	}
	part->inode = (uint64_t)st.st_ino;
	snprintf(part->day, sizeof(part->day), "%.10s", name->text + 7);
	if (trail_part_sum(part))
		return PART_OPEN;
	trail_part_close(part);
	return PART_EMPTY;
}

/* ---- which part -------------------------------------------------------- */

enum found { FOUND, FOUND_NONE, FOUND_GAP, FOUND_AGAIN };

struct looking {
	int		 dir_fd;
	const struct trail_place *place;
	bool		 is_next;	/* the part after that of the place */
	bool		 is_passed;	/* that was met */
};

static bool
looking_is_its(const struct looking *looking, const struct part *part)
{
	return strcmp(part->day, looking->place->day) == 0 &&
	    part->first == looking->place->first;
}

/* Parts are removed oldest first, so that where the one of the place is gone
 * all that is left is newer. */
static enum found
looking_walk(struct looking *looking, const struct journal_names *names,
    struct part *out, struct err *err)
{
	bool is_start = looking->place->day[0] == '\0';
	struct part oldest = { .fd = -1 };

	for (size_t i = 0; i < names->count; i++) {
		const struct journal_name *name = &names->rows[i];
		struct part part;
		enum opened opened;

		if (name->is_left_over ||
		    strncmp(name->text + 7, looking->place->day, 10) < 0)
			continue;
		opened = trail_part_open(&part, looking->dir_fd, name, err);
		if (opened == PART_EMPTY)
			continue;
		if (opened != PART_OPEN) {
			trail_part_close(&oldest);
			return opened == PART_RENAMED ? FOUND_AGAIN :
			    FOUND_NONE;
		}
		if (is_start || looking->is_passed ||
		    (looking_is_its(looking, &part) && !looking->is_next)) {
			trail_part_close(&oldest);
			*out = part;
			return FOUND;
		}
		looking->is_passed = looking_is_its(looking, &part);
		if (oldest.fd < 0 && !looking->is_passed)
			oldest = part;
		else
			trail_part_close(&part);
	}
	if (looking->is_passed) {
		trail_part_close(&oldest);
		return FOUND_NONE;	/* there is no next one yet */
	}
	*out = oldest;
	return oldest.fd < 0 ? FOUND_NONE : FOUND_GAP;
}

/* Names are listed, then opened: one that was renamed in between has them
 * looked at again. */
static enum found
looking_find(int dir_fd, const struct trail_place *place, bool is_next,
    struct part *out)
{
	enum found found = FOUND_AGAIN;

	*out = (struct part){ .fd = -1 };
	for (int left = TRIES; left > 0 && found == FOUND_AGAIN; left--) {
		struct looking looking = { .dir_fd = dir_fd, .place = place,
		    .is_next = is_next };
		struct journal_names names;
		struct err err;

		if (names_list(dir_fd, &names, &err) < 0)
			return FOUND_NONE;
		found = looking_walk(&looking, &names, out, &err);
		names_release(&names);
	}
	return found == FOUND_AGAIN ? FOUND_NONE : found;
}

/* ---- the end ----------------------------------------------------------- */

static uint64_t
trail_part_text_bytes(const struct part *part)
{
	struct frame frame;
	uint64_t bytes = 0;
	size_t at = 0;

	while (frame_next(part->map, &at, &frame))
		bytes += frame.raw_bytes;
	return bytes;
}

/* After its last LF. */
static uint64_t
trail_part_lines_end(const struct part *part)
{
	char piece[4096];
	struct stat st;
	uint64_t end;

	if (part->map.p != NULL)
		return trail_part_text_bytes(part);
	end = fstat(part->fd, &st) == 0 ? (uint64_t)st.st_size : 0;
	while (end > 0) {
		size_t want = end < sizeof(piece) ? (size_t)end :
		    sizeof(piece);
		ssize_t n = fd_read_at(part->fd, piece, want, end - want);

		if (n <= 0)
			return 0;
		for (size_t i = (size_t)n; i > 0; i--)
			if (piece[i - 1] == '\n')
				return end - want + i;
		end -= want;
	}
	return 0;
}

/* The last part with a line, or none. */
static enum found
end_find(int dir_fd, struct trail_place *out, struct err *err)
{
	struct journal_names names;
	enum opened opened = PART_EMPTY;
	struct part part = { .fd = -1 };

	*out = (struct trail_place){ .at_ms = -1 };
	if (names_list(dir_fd, &names, err) < 0)
		return FOUND_NONE;
	for (size_t i = names.count; i > 0 && opened == PART_EMPTY; i--)
		if (!names.rows[i - 1].is_left_over)
			opened = trail_part_open(&part, dir_fd,
			    &names.rows[i - 1], err);
	names_release(&names);
	if (opened == PART_OPEN) {
		memcpy(out->day, part.day, sizeof(out->day));
		out->first = part.first;
		out->offset = trail_part_lines_end(&part);
		out->at_ms = clock_wall_us() / 1000;
		trail_part_close(&part);
	}
	return opened == PART_RENAMED ? FOUND_AGAIN :
	    opened == PART_TROUBLE ? FOUND_NONE : FOUND;
}

int
trail_end(int dir_fd, struct trail_place *out, struct err *err)
{
	enum found found = FOUND_AGAIN;

	err_set(err, "the files of the journal change too fast");
	for (int left = TRIES; left > 0 && found == FOUND_AGAIN; left--)
		found = end_find(dir_fd, out, err);
	return found == FOUND ? 0 : -1;
}

/* ---- the trail --------------------------------------------------------- */

struct trail *
trail_new(int dir_fd)
{
	struct trail *trail = mem_alloc(1, sizeof(*trail));

	trail->dir_fd = dir_fd;
	trail->part.fd = -1;
	trail->place.at_ms = trail->after_ms = -1;
	str_init(&trail->text);
	return trail;
}

void
trail_free(struct trail **trail)
{
	if (*trail == NULL)
		return;
	trail_part_close(&(*trail)->part);
	str_release(&(*trail)->text);
	mem_free(trail);
}

void
trail_rest(struct trail *trail)
{
	trail_part_close(&trail->part);
	str_reset(&trail->text);
	trail->used = 0;
}

void
trail_go(struct trail *trail, const struct trail_place *place)
{
	trail_rest(trail);
	trail->place = *place;
	trail->after_ms = -1;
}

const struct trail_place *
trail_at(const struct trail *trail)
{
	return &trail->place;
}

/* The journal is not synced: after a power failure the part may be shorter
 * than it was, and others may have written to it since.  Where no line ends
 * before the place, it is looked for by its time. */
static void
trail_mend(struct trail *trail)
{
	char before = '\n';

	if (trail->part.map.p != NULL || trail->place.offset == 0 ||
	    (fd_read_at(trail->part.fd, &before, 1,
	    trail->place.offset - 1) == 1 && before == '\n'))
		return;
	trail->place.offset = 0;
	trail->after_ms = trail->place.at_ms;
}

/* Read on in this part, at place.offset; is_other: at its begin. */
static void
trail_enter(struct trail *trail, struct part *part, bool is_other)
{
	trail_rest(trail);
	trail->part = *part;
	if (is_other)
		trail->place.offset = 0;
	trail_mend(trail);
	memcpy(trail->place.day, part->day, sizeof(part->day));
	trail->place.first = part->first;
	trail->read = part->map.p != NULL ? 0 : trail->place.offset;
	trail->frame = 0;
	trail->over_ms = 0;
}

static enum trail_got
trail_find(struct trail *trail)
{
	struct part part;
	enum found found = looking_find(trail->dir_fd, &trail->place, false,
	    &part);

	if (found == FOUND_NONE)
		return TRAIL_NONE;
	trail_enter(trail, &part, found == FOUND_GAP);
	return found == FOUND_GAP ? TRAIL_GAP : TRAIL_LINE;
}

/* The next frame with text from the place on.  One that is damaged is left
 * out: TRAIL_GAP. */
static enum trail_got
trail_unpack(struct trail *trail)
{
	struct frame frame;
	uint64_t begin;

	while (frame_next(trail->part.map, &trail->frame, &frame)) {
		begin = trail->read;
		trail->read += frame.raw_bytes;
		if (trail->read <= trail->place.offset)
			continue;
		if (!frame_unpack(&frame, &trail->text)) {
			str_reset(&trail->text);
			trail->used = 0;
			trail->place.offset = trail->read;
			return TRAIL_GAP;
		}
		/* half a line is lost */
		if (begin > trail->place.offset)
			trail->place.offset = begin;
		trail->used = (size_t)(trail->place.offset - begin);
		return TRAIL_LINE;
	}
	return TRAIL_NONE;
}

static enum trail_got
trail_read(struct trail *trail)
{
	ssize_t n;

	str_consume(&trail->text, trail->used);
	trail->used = 0;
	if (trail->text.len > TRAIL_LINE_BYTES_MAX) {
		trail->place.offset += trail->text.len;
		str_reset(&trail->text);
	}
	if (trail->part.map.p != NULL)
		return trail_unpack(trail);
	n = fd_read_at(trail->part.fd, str_room(&trail->text, PIECE_BYTES),
	    PIECE_BYTES, trail->read);
	if (n <= 0)
		return TRAIL_NONE;
	trail->text.len += (size_t)n;
	trail->text.buf[trail->text.len] = '\0';
	trail->read += (uint64_t)n;
	return TRAIL_LINE;
}

/* Is it the part that is written now? */
static bool
trail_is_current(const struct trail *trail)
{
	char now[CLOCK_TEXT_BYTES], name[64];
	struct stat st;

	clock_rfc3339(clock_wall_us(), now);
	snprintf(name, sizeof(name), "events-%.10s.jsonl", now);
	return trail->part.map.p == NULL && fstatat(trail->dir_fd, name, &st,
	    AT_SYMLINK_NOFOLLOW) == 0 &&
	    (uint64_t)st.st_ino == trail->part.inode;
}

/* It is read to its end: is there a next one?  Who writes to a part that was
 * renamed may do so a while longer. */
static enum trail_got
trail_turn(struct trail *trail)
{
	struct part part;
	enum found found;

	if (trail_is_current(trail))
		return TRAIL_NONE;
	if (trail->over_ms == 0)
		trail->over_ms = clock_steady_ms();
	if (trail->part.map.p == NULL &&
	    clock_steady_ms() < trail->over_ms + LATE_MS)
		return TRAIL_NONE;
	found = looking_find(trail->dir_fd, &trail->place, true, &part);
	if (found == FOUND_NONE)
		return TRAIL_NONE;
	trail_enter(trail, &part, true);
	return found == FOUND_GAP ? TRAIL_GAP : TRAIL_LINE;
}

static bool
trail_take(struct trail *trail, struct slice *out_line)
{
	int64_t at_ms;

	do {
		struct slice rest = slice_from(str_slice(&trail->text),
		    trail->used);
		size_t end = slice_find(rest, '\n');

		if (end == rest.n) {
			*out_line = SLICE("");
			return false;
		}
		*out_line = journal_line_whole(slice_first(rest, end));
		trail->used += end + 1;
		trail->place.offset += end + 1;
		at_ms = journal_line_ms(*out_line);
	} while (at_ms <= trail->after_ms && trail->after_ms >= 0);
	trail->after_ms = -1;
	if (at_ms >= 0)
		trail->place.at_ms = at_ms;
	return true;
}

enum trail_got
trail_next(struct trail *trail, struct slice *out_line)
{
	enum trail_got got = TRAIL_LINE;

	*out_line = SLICE("");
	while (got == TRAIL_LINE) {
		if (trail->part.fd >= 0 && trail_take(trail, out_line))
			return TRAIL_LINE;
		if (trail->part.fd < 0) {
			got = trail_find(trail);
			continue;
		}
		got = trail_read(trail);
		if (got == TRAIL_NONE)
			got = trail_turn(trail);
	}
	return got;
}
