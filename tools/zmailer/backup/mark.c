/* mark.c - which messages of an archive need not come back
 *
 * In     an index; the spool; the journal
 * Out    marks: it is there already; it was done to its end
 * Trusts the files about what is there, the journal about what was done
 * Spec   zmailer-restore(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "tools/zmailer/backup/backup.h"
#include "tools/journal/journal.h"

#include "base/banned.h"

struct marking {
	struct backup_index *index;
	enum spool_area	 area;
};

static struct backup_item *
item_of(struct backup_index *index, const char *key)
{
	unsigned number = *seen_at(index->seen, key);

	return number == 0 ? NULL : &index->items[number - 1];
}

static bool
present_file(void *context, const char *name, int fd)
{
	struct marking *marking = context;
	const char *base = strrchr(name, '/');
	char key[BACKUP_KEY_BYTES];
	struct spool_name parts = { .why = SLICE("") };
	struct backup_item *item;

	base = base == NULL ? name : base + 1;
	if (*base == '.')
		return true;
	(void)spool_name_parse(slice_of(base), &parts);
	if (slice_ends(parts.why, ".control") || !backup_key(fd, key))
		return true;
	backup_key_add_copy(key, parts.why);
	item = item_of(marking->index, key);
	if (item != NULL)
		item->is_present = true;
	return true;
}

int
backup_mark_present(struct spool *spool, struct backup_index *index,
    struct err *err)
{
	static const enum spool_area areas[] = { AREA_PUBLIC, AREA_ROUTER,
	    AREA_QUEUE, AREA_DEFERRED, AREA_FREEZER, AREA_POSTMAN,
	    AREA_TRASH };
	struct marking marking = { .index = index };

	for (size_t i = 0; i < sizeof(areas) / sizeof(areas[0]); i++) {
		unsigned priorities = areas[i] == AREA_ROUTER ?
		    SPOOL_PRIORITIES : 1;

		for (unsigned k = 0; k < priorities; k++)
			if (spool_scan_files(spool, areas[i], k, present_file,
			    &marking, err) != 0)
				return -1;
	}
	return 0;
}

size_t
backup_mark_done(const char *log_dir, struct backup_index *index)
{
	struct journal_cursor cursor = { 0, 0, 0 };
	struct journal *journal;
	struct slice line, name;
	size_t count = 0;
	struct err err;

	if (journal_open_all(log_dir, &journal, &err) != 0)
		return 0;
	while (journal_next(journal, &cursor, &line)) {
		char key[SPOOL_ID_BYTES];
		struct slice id = journal_line_id(line);
		struct backup_item *item;

		if (id.n == 0 || id.n >= sizeof(key) ||
		    !journal_line_has(line, "ev", &name) ||
		    !slice_is(name, "message.done"))
			continue;
		memcpy(key, id.p, id.n);
		key[id.n] = '\0';
		item = item_of(index, key);
		if (item == NULL || item->is_done)
			continue;
		item->is_done = true;
		count++;
	}
	journal_close(&journal);
	return count;
}
