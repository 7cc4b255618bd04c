/* story.c - the journals of several nodes, as one story by time
 *
 * In     lines of JSON, as `trace` and `events` write them
 * Out    the same in the order of their moments, with the node of each
 * Holds  a row a line
 * Trusts nothing: a line without a moment is left out
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "tools/nodes/internal.h"
#include "tools/journal/journal.h"

#include "base/banned.h"

struct story_row {
	int64_t		 at_ms;
	size_t		 order;
	const char	*node;
	struct slice	 line;
};

struct story {
	struct story_row *rows;
	size_t		 count, room;
};

static int
story_compare(const void *left, const void *right)
{
	const struct story_row *a = left, *b = right;

	if (a->at_ms != b->at_ms)
		return a->at_ms < b->at_ms ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

/* As it is in the journal: without what --json puts in front. */
static void
story_plain(struct slice line, struct str *out)
{
	static const char front[] = "{\"v\":1,";

	str_reset(out);
	if (slice_starts(line, front)) {
		str_addc(out, '{');
		line = slice_from(line, sizeof(front) - 1);
	}
	str_add_slice(out, line);
}

static void
story_add(struct story *story, const struct nodes_part *part)
{
	struct slice rest = str_slice(&part->out), line;
	struct str plain = STR_INIT;

	while (nodes_line(&rest, &line)) {
		int64_t at_ms;

		story_plain(line, &plain);
		at_ms = journal_line_ms(str_slice(&plain));
		if (at_ms < 0)
			continue;
		if (story->count == story->room) {
			story->room = story->room * 2 + 64;
			story->rows = mem_grow(story->rows, story->room,
			    sizeof(*story->rows));
		}
		story->rows[story->count] = (struct story_row){ at_ms,
			story->count, part->node, line };
		story->count++;
	}
	str_release(&plain);
}

void
nodes_merge_story(const struct nodes_parts *parts)
{
	int64_t last = arguments_number(parts->arguments, OPT_COUNT, 0);
	struct str text = STR_INIT, plain = STR_INIT;
	struct story story = { .rows = NULL };
	size_t from = 0;

	for (size_t i = 0; i < parts->count; i++)
		story_add(&story, &parts->parts[i]);
	if (story.count > 1)
		qsort(story.rows, story.count, sizeof(*story.rows),
		    story_compare);
	if (last > 0 && story.count > (size_t)last)
		from = story.count - (size_t)last;
	for (size_t i = from; i < story.count; i++) {
		const struct story_row *row = &story.rows[i];

		str_reset(&text);
		if (parts->is_json) {
			nodes_add_json(&text, row->line, row->node);
		} else {
			story_plain(row->line, &plain);
			str_addf(&text, "%-*s  ", parts->width, row->node);
			journal_line_print(str_slice(&plain), &text);
		}
		fputs(text.buf, stdout);
	}
	str_release(&text);
	str_release(&plain);
	mem_free(&story.rows);
}
