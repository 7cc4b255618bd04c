/* index.c - what an archive holds
 *
 * In     an archive, read once from its begin to its end
 * Out    each message with the places of its bytes; the last word counts
 * Holds  a struct an item; the archive stays where it is
 * Trusts no name and no number in it: names that are not of backup.h's
 *        forms are counted and passed over
 * Spec   backup.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/ascii.h"
#include "base/crc32c.h"
#include "base/fd.h"
#include "base/json.h"
#include "mail/control_file/control_file.h"
#include "tools/zmailer/backup/backup.h"

#include "base/banned.h"

enum { READ_BYTES = 256 << 10, LINE_BYTES_MAX = 4096 };

struct reading {
	int		 fd;
	uint64_t	 at;		/* of the next byte */
	uint32_t	 crc;		/* of those in front of it */
	char		*buffer;
	size_t		 first, end;	/* in the buffer, not handed out */
	struct backup_index *index;
};

/* Up to n bytes, in place; 0 the end, -1 trouble. */
static ssize_t
backup_index_take(struct reading *reading, size_t n, const char **out)
{
	ssize_t got;

	if (reading->first == reading->end) {
		got = fd_read_at(reading->fd, reading->buffer, READ_BYTES,
		    reading->at);
		if (got <= 0)
			return got;
		reading->first = 0;
		reading->end = (size_t)got;
	}
	if (n > reading->end - reading->first)
		n = reading->end - reading->first;
	*out = reading->buffer + reading->first;
	reading->crc = crc32c(reading->crc, *out, n);
	reading->first += n;
	reading->at += n;
	return (ssize_t)n;
}

/* All n bytes, into out when it is not NULL.  1; 0 it ends before; -1. */
static int
take_all(struct reading *reading, uint64_t n, char *out)
{
	while (n > 0) {
		const char *bytes;
		ssize_t got = backup_index_take(reading, n < READ_BYTES ?
		    (size_t)n :
		    READ_BYTES, &bytes);

		if (got <= 0)
			return (int)got;
		if (out != NULL) {
			memcpy(out, bytes, (size_t)got);
			out += got;
		}
		n -= (uint64_t)got;
	}
	return 1;
}

/* ---- names ------------------------------------------------------------ */

static bool
is_key(struct slice text)
{
	if (spool_id_is(text))
		return true;
	if (text.n < 11 || text.n > 32 || text.p[0] != '-' ||
	    text.p[9] != '-')
		return false;
	for (size_t i = 0; i < text.n; i++)
		if (!ascii_is_among(text.p[i], "0123456789abcdef-"))
			return false;
	return true;
}

/* "router.3" */
static bool
backup_index_area_of(struct slice word, enum spool_area *out_area,
    unsigned *out_priority)
{
	uint64_t priority = 0;

	if (slice_starts(word, "router.")) {
		if (!slice_number(slice_from(word, 7), 1,
		    SPOOL_PRIORITIES - 1, &priority))
			return false;
		word = slice_first(word, 6);
	}
	*out_priority = (unsigned)priority;
	for (int i = AREA_ROUTER; i < AREA_COUNT; i++)
		if (slice_is(word, spool_area_names[i])) {
			*out_area = (enum spool_area)i;
			return true;
		}
	return false;
}

static struct backup_item *
item_at(struct backup_index *index, const char *key)
{
	unsigned *number = seen_at(index->seen, key);

	if (*number == 0) {
		if (index->count == index->room) {
			index->room = index->room ? index->room * 2 : 256;
			index->items = mem_grow(index->items, index->room,
			    sizeof(*index->items));
		}
		index->items[index->count] = (struct backup_item){
			.key = arena_dup(index->arena, key, strlen(key)),
			.why = ""
		};
		*number = (unsigned)++index->count;
	}
	return &index->items[*number - 1];
}

/* ---- members ---------------------------------------------------------- */

static bool
backup_index_control_take(struct backup_item *item, const struct tar_head *head,
    uint64_t at)
{
	if (!item->has_body || head->size_bytes > CONTROL_BYTES_MAX)
		return false;
	item->control_at = at;
	item->control_bytes = head->size_bytes;
	return true;
}

static void
body_take(struct backup_item *item, const struct tar_head *head, uint64_t at)
{
	item->has_body = true;
	item->mode = head->mode;
	item->mtime_s = head->mtime_s;
	item->body_at = at;
	item->body_bytes = head->size_bytes;
	item->control_at = item->control_bytes = 0;
}

/* AREA/KEY[.WHY][.control] */
static bool
spool_take(struct backup_index *index, struct slice name,
    const struct tar_head *head, uint64_t at)
{
	char key[BACKUP_KEY_BYTES];
	struct backup_item *item;
	enum spool_area area;
	struct slice word, id;
	unsigned priority;
	bool is_control;

	if (slice_is(name, "transport/" SPOOL_ORDERS)) {
		index->orders_at = at;
		index->orders_bytes = head->size_bytes;
		return true;
	}
	if (!slice_cut(&name, '/', &word) || !backup_index_area_of(word, &area,
	    &priority))
		return false;
	is_control = slice_ends(name, ".control");
	if (is_control)
		name.n -= strlen(".control");
	id = slice_first(name, slice_find(name, '.'));
	name = slice_from(name, id.n + 1);
	if (!is_key(id) || slice_find(name, '/') < name.n ||
	    (name.n > 0) != (area >= AREA_DEFERRED) ||
	    name.n > SPOOL_NAME_BYTES / 2)
		return false;
	snprintf(key, sizeof(key), SLICE_FMT, SLICE_ARG(id));
	backup_key_add_copy(key, name);
	item = item_at(index, key);
	if (is_control || area == AREA_TRANSPORT) {
		if (!backup_index_control_take(item, head, at))
			return false;
		item->area = area == AREA_TRANSPORT ? AREA_QUEUE : area;
		return true;
	}
	item->area = area;
	item->priority = priority;
	item->why = slice_dup(index->arena, name);
	body_take(item, head, at);
	return true;
}

static bool
backup_index_file_take(struct backup_index *index, const char *path,
    const struct tar_head *head, uint64_t at)
{
	if (index->file_count == index->file_room) {
		index->file_room = index->file_room ? index->file_room * 2 :
		    64;
		index->files = mem_grow(index->files, index->file_room,
		    sizeof(*index->files));
	}
	index->files[index->file_count++] = (struct backup_file){
		.path = arena_dup(index->arena, path, strlen(path)),
		.mode = head->mode,
		.at = at,
		.bytes = head->size_bytes
	};
	return true;
}

static bool
member_take(struct backup_index *index, const struct tar_head *head,
    uint64_t at)
{
	struct slice name = slice_of(head->name);

	if (slice_starts(name, BACKUP_SPOOL))
		return spool_take(index, slice_from(name,
		    strlen(BACKUP_SPOOL)), head, at);
	if (slice_starts(name, BACKUP_CONFIG))
		return backup_index_file_take(index, head->name +
		    strlen(BACKUP_CONFIG),
		    head, at);
	return slice_is(name, BACKUP_FIRST);
}

/* The line of JSON of the first and of the last member. */
static int
backup_index_line_take(struct reading *reading, const struct tar_head *head,
    uint32_t crc_before)
{
	char line[LINE_BYTES_MAX], crc[16];
	struct slice text = { line, (size_t)head->size_bytes };
	struct str time = STR_INIT;
	int got;

	if (head->size_bytes > sizeof(line))
		return 0;
	got = take_all(reading, head->size_bytes, line);
	if (got != 1)
		return got;
	if (strcmp(head->name, BACKUP_END) == 0) {
		snprintf(crc, sizeof(crc), "%08" PRIx32, crc_before);
		reading->index->is_whole = json_is(text, "crc", crc);
		return 1;
	}
	if (json_get_number(text, "v") != BACKUP_VERSION)
		return 0;
	if (json_get(text, "time", &time))
		reading->index->time = arena_dup(reading->index->arena,
		    time.buf, time.len);
	str_release(&time);
	return 1;
}

/* 1 go on, 0 the end, -1 it ends too early or is damaged. */
static int
member_read(struct reading *reading, bool is_first, struct err *err)
{
	char block[TAR_BLOCK_BYTES];
	uint32_t crc_before = reading->crc;
	uint64_t head_at = reading->at;
	struct tar_head head;
	bool is_line;
	int got = take_all(reading, sizeof(block), block);

	if (got == 1)
		got = tar_head_parse(block, &head, err) + 2;
	if (got == 2)
		return 0;
	is_line = got == 3 && (strcmp(head.name, BACKUP_FIRST) == 0 ||
	    strcmp(head.name, BACKUP_END) == 0);
	if (got < 0)
		return err_sys(err, "at byte %ju", (uintmax_t)head_at);
	if (got < 3 || (is_first && (!is_line || head.name[0] == '\0')))
		return err_set(err, is_first ? "it is no archive that zmailer "
		    "backup has made" : "it is damaged or cut off at byte "
		    "%ju", (uintmax_t)head_at);
	if (is_line)
		got = backup_index_line_take(reading, &head, crc_before);
	else if (!head.is_file || !member_take(reading->index, &head,
	    reading->at))
		reading->index->strangers++;
	if (!is_line)
		got = take_all(reading, head.size_bytes, NULL);
	if (got == 1)
		got = take_all(reading, tar_padding(head.size_bytes), NULL);
	if (got == 1)
		return 1;
	return got < 0 ? err_sys(err, "at byte %ju", (uintmax_t)reading->at) :
	    err_set(err, "it ends in the middle of %s", head.name);
}

int
backup_index_read(int fd, struct backup_index *out, struct err *err)
{
	struct reading reading = { .fd = fd, .index = out };
	int got;

	memset(out, 0, sizeof(*out));
	out->arena = arena_new();
	out->seen = seen_new();
	out->time = "";
	reading.buffer = mem_alloc(1, READ_BYTES);
	got = member_read(&reading, true, err);
	if (got == 1) {
		err->text[0] = '\0';
		while ((got = member_read(&reading, false, err)) == 1)
			continue;
		if (got < 0)
			out->is_whole = false;
		else if (!out->is_whole)
			err_set(err, "its end is missing, or its checksum "
			    "does not fit");
		got = 1;
	}
	mem_free(&reading.buffer);
	return got == 1 ? 0 : -1;
}

void
backup_index_release(struct backup_index *index)
{
	seen_free(&index->seen);
	mem_free(&index->items);
	mem_free(&index->files);
	arena_free(&index->arena);
}
