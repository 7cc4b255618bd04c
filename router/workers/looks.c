/* looks.c - files of users in public/, and when to look at one again
 *
 * In     names, what stat(2) says of them
 * Out    names to look at now
 * Holds  a row a file that the last scan found
 * Trusts nobody: any user can make any number of files there
 * Spec   looks.h; doc/INTERNALS.md row S4
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "router/workers/looks.h"

#include "base/banned.h"

struct look {
	char		*name;
	ino_t		 inode;
	off_t		 bytes;
	struct timespec	 changed;
	int64_t		 next_ms;
	int64_t		 wait_ms;	/* after the next look */
};

void
looks_find(struct looks *looks, const char *name, const struct stat *st)
{
	struct looks_rows *found = &looks->found;

	if (found->count == found->capacity) {
		found->capacity = found->capacity * 2 + 16;
		found->rows = mem_grow(found->rows, found->capacity,
		    sizeof(*found->rows));
	}
	found->rows[found->count++] = (struct look){
	    .name = mem_strdup(name), .inode = st->st_ino,
	    .bytes = st->st_size, .changed = st->st_ctim,
	    .wait_ms = LOOKS_FIRST_MS };
}

static int
look_compare(const void *va, const void *vb)
{
	const struct look *a = va, *b = vb;

	return strcmp(a->name, b->name);
}

static bool
look_is_same(const struct look *a, const struct look *b)
{
	return a->inode == b->inode && a->bytes == b->bytes &&
	    a->changed.tv_sec == b->changed.tv_sec &&
	    a->changed.tv_nsec == b->changed.tv_nsec;
}

static void
looks_rows_release(struct looks_rows *rows)
{
	for (size_t i = 0; i < rows->count; i++)
		mem_free(&rows->rows[i].name);
	mem_free(&rows->rows);
	*rows = (struct looks_rows){ .rows = NULL };
}

void
looks_end(struct looks *looks, int64_t now_ms)
{
	struct looks_rows *found = &looks->found, *known = &looks->known;
	size_t k = 0;

	if (found->count > 1)
		qsort(found->rows, found->count, sizeof(*found->rows),
		    look_compare);
	for (size_t i = 0; i < found->count; i++) {
		struct look *row = &found->rows[i];

		while (k < known->count &&
		    look_compare(&known->rows[k], row) < 0)
			k++;
		row->next_ms = now_ms;
		if (k < known->count &&
		    look_compare(&known->rows[k], row) == 0 &&
		    look_is_same(&known->rows[k], row)) {
			row->next_ms = known->rows[k].next_ms;
			row->wait_ms = known->rows[k].wait_ms;
		}
	}
	looks_rows_release(known);
	*known = *found;
	*found = (struct looks_rows){ .rows = NULL };
	looks->left = known->count;
}

const char *
looks_next(struct looks *looks, int64_t now_ms)
{
	while (looks->left > 0) {
		struct look *row;

		looks->left--;
		looks->at = looks->at < looks->known.count ? looks->at : 0;
		row = &looks->known.rows[looks->at++];
		if (row->next_ms > now_ms)
			continue;
		row->next_ms = now_ms + row->wait_ms;
		row->wait_ms = row->wait_ms * 2 < LOOKS_WAIT_MS ?
		    row->wait_ms * 2 : LOOKS_WAIT_MS;
		return row->name;
	}
	return NULL;
}

void
looks_release(struct looks *looks)
{
	looks_rows_release(&looks->known);
	looks_rows_release(&looks->found);
	*looks = (struct looks){ .at = 0 };
}
