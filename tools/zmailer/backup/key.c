/* key.c - the key of a file of the spool, wherever it is
 *
 * In     a file
 * Out    its spool id, or the checksum and length of one that has none
 * Holds  the keys that were met
 * Trusts no name: inode numbers are reused
 * Spec   backup.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "base/mem.h"
#include "base/siphash.h"
#include "tools/zmailer/backup/backup.h"

#include "base/banned.h"

enum { KEY_READ_BYTES = 64 << 10, SEEN_FIRST = 1024 };

bool
backup_key(int fd, char out[BACKUP_KEY_BYTES])
{
	char buffer[KEY_READ_BYTES], id[SPOOL_ID_BYTES];
	uint64_t at = 0;
	uint32_t crc = 0;
	ssize_t n;

	if (spool_read_id(fd, id)) {
		snprintf(out, BACKUP_KEY_BYTES, "%s", id);
		return true;
	}
	do {
		n = pread(fd, buffer, sizeof(buffer), (off_t)at);
		if (n > 0) {
			crc = crc32c(crc, buffer, (size_t)n);
			at += (uint64_t)n;
		}
	} while (n > 0 || (n < 0 && errno == EINTR));
	snprintf(out, BACKUP_KEY_BYTES, "-%08x-%ju", crc, (uintmax_t)at);
	return n == 0;
}

void
backup_key_add_copy(char key[BACKUP_KEY_BYTES], struct slice why)
{
	size_t n = strlen(key);

	if (slice_starts(why, "_"))
		snprintf(key + n, BACKUP_KEY_BYTES - n, "." SLICE_FMT,
		    SLICE_ARG(why));
}

/* ---- keys that were met ---------------------------------------------- */

struct seen_entry {
	const char	*key;		/* NULL: free */
	unsigned	 flags;
};
struct seen {
	struct arena	*arena;
	struct seen_entry *entries;
	size_t		 count, room;	/* a power of two */
};

struct seen *
seen_new(void)
{
	struct seen *seen = mem_alloc(1, sizeof(*seen));

	seen->arena = arena_new();
	seen->room = SEEN_FIRST;
	seen->entries = mem_alloc(seen->room, sizeof(*seen->entries));
	return seen;
}

void
seen_free(struct seen **seen)
{
	if (*seen == NULL)
		return;
	arena_free(&(*seen)->arena);
	mem_free(&(*seen)->entries);
	mem_free(seen);
}

static struct seen_entry *
entry_at(struct seen_entry *entries, size_t room, const char *key)
{
	size_t at = (size_t)siphash(siphash_process_key(),
	    slice_of(key)).low & (room - 1);

	while (entries[at].key != NULL && strcmp(entries[at].key, key) != 0)
		at = (at + 1) & (room - 1);
	return &entries[at];
}

static void
seen_grow(struct seen *seen)
{
	size_t room = seen->room * 2;
	struct seen_entry *entries = mem_alloc(room, sizeof(*entries));

	for (size_t i = 0; i < seen->room; i++)
		if (seen->entries[i].key != NULL)
			*entry_at(entries, room, seen->entries[i].key) =
			    seen->entries[i];
	mem_free(&seen->entries);
	seen->entries = entries;
	seen->room = room;
}

unsigned *
seen_at(struct seen *seen, const char *key)
{
	struct seen_entry *entry;

	if (seen->count * 2 >= seen->room)
		seen_grow(seen);
	entry = entry_at(seen->entries, seen->room, key);
	if (entry->key == NULL) {
		entry->key = arena_dup(seen->arena, key, strlen(key));
		seen->count++;
	}
	return &entry->flags;
}
