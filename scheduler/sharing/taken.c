/* taken.c - messages of this node that other nodes have taken over
 *
 * In     ids and nodes, as the database has them
 * Out    the node of an id
 * Holds  the rows, sorted by id
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "scheduler/sharing/taken.h"

#include "base/banned.h"

struct taken_row {
	const char	*id, *node;	/* NULL: it came back */
	bool		 is_settled;
};

static int
taken_compare(const void *a, const void *b)
{
	const struct taken_row *one = a, *two = b;

	return strcmp(one->id, two->id);
}

bool
taken_add(struct taken_list *taken, struct slice id, struct slice node)
{
	const char *text;

	if (taken->count == TAKEN_MAX)
		return false;
	if (taken->arena == NULL)
		taken->arena = arena_new();
	if (taken->count == taken->room) {
		taken->room = taken->room * 2 + 64;
		taken->rows = mem_grow(taken->rows, taken->room,
		    sizeof(*taken->rows));
	}
	/* most have the node of the one before */
	text = taken->count > 0 && slice_is(node,
	    taken->rows[taken->count - 1].node) ?
	    taken->rows[taken->count - 1].node : slice_dup(taken->arena, node);
	taken->rows[taken->count++] = (struct taken_row){
		slice_dup(taken->arena, id), text, false
	};
	return true;
}

void
taken_sort(struct taken_list *taken)
{
	if (taken->count > 0)
		qsort(taken->rows, taken->count, sizeof(*taken->rows),
		    taken_compare);
}

static struct taken_row *
taken_find(const struct taken_list *taken, const char *id)
{
	struct taken_row key = { id, NULL, false };

	return taken->count == 0 ? NULL : bsearch(&key, taken->rows,
	    taken->count, sizeof(*taken->rows), taken_compare);
}

const char *
taken_node(const struct taken_list *taken, const char *id)
{
	const struct taken_row *row = taken_find(taken, id);

	return row != NULL ? row->node : NULL;
}

void
taken_settle(struct taken_list *taken, const char *id, bool is_taken)
{
	struct taken_row *row = taken_find(taken, id);

	if (row == NULL)
		return;
	row->is_settled = true;
	if (!is_taken)
		row->node = NULL;
}

bool
taken_is_settled(const struct taken_list *taken, const char *id)
{
	const struct taken_row *row = taken_find(taken, id);

	return row != NULL && row->is_settled;
}

void
taken_release(struct taken_list *taken)
{
	arena_free(&taken->arena);
	mem_free(&taken->rows);
	memset(taken, 0, sizeof(*taken));
}
