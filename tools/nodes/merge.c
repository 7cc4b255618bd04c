/* merge.c - what several nodes said, as one answer
 *
 * In     the output of a verb at each node
 * Out    entries by id, counts by state, a line a node; the node's name first
 * Holds  a row an entry
 * Trusts nothing: what has not the form of an entry is left out
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "mail/spool/spool.h"
#include "tools/nodes/internal.h"
#include "tools/queue/view.h"

#include "base/banned.h"

bool
nodes_line(struct slice *rest, struct slice *out)
{
	size_t end = slice_find(*rest, '\n');

	if (end == rest->n)
		return false;
	*out = slice_first(*rest, end);
	*rest = slice_from(*rest, end + 1);
	return true;
}

void
nodes_add_json(struct str *out, struct slice line, const char *node)
{
	static const char front[] = "{\"v\":1,";

	if (!slice_starts(line, front)) {
		str_add_slice(out, line);
	} else {
		str_addf(out, "%s\"node\":\"%s\",", front, node);
		str_add_slice(out, slice_from(line, sizeof(front) - 1));
	}
	str_addc(out, '\n');
}

/* ---- each line after the node's name ----------------------------------- */

static void
merge_lines(const struct nodes_parts *parts)
{
	struct str text = STR_INIT;

	for (size_t i = 0; i < parts->count; i++) {
		struct slice rest = str_slice(&parts->parts[i].out), line;
		const struct nodes_part *part = &parts->parts[i];

		while (nodes_line(&rest, &line)) {
			str_reset(&text);
			if (parts->is_json)
				nodes_add_json(&text, line, part->node);
			else
				str_addf(&text, "%-*s  " SLICE_FMT "\n",
				    parts->width, part->label,
				    SLICE_ARG(line));
			fputs(text.buf, stdout);
		}
	}
	str_release(&text);
}

/* ---- entries, by id ---------------------------------------------------- */

struct entry_row {
	char		 id[SPOOL_ID_BYTES];
	size_t		 order;
	const struct nodes_part *part;
	struct slice	 text;		/* its lines, each with its LF */
};

struct entry_rows {
	struct entry_row *rows;
	size_t		 count, room;
};

static int
merge_entry_compare(const void *left, const void *right)
{
	const struct entry_row *a = left, *b = right;
	int order = strcmp(a->id, b->id);

	if (order != 0)
		return order;
	return a->order < b->order ? -1 : a->order > b->order;
}

/* The id with which an entry begins; false: this is none, or goes on. */
static bool
entry_id(const struct nodes_parts *parts, struct slice line, struct str *out)
{
	struct slice rest = line, word;

	str_reset(out);
	if (parts->is_json)
		return json_get(line, "id", out) &&
		    spool_id_is(str_slice(out));
	if (line.n == 0 || line.p[0] == ' ' || !slice_word(&rest, &word))
		return false;
	str_add_slice(out, word);
	return spool_id_is(word);
}

/* Lines that begin with a blank belong to the entry before them. */
static void
entries_add(struct entry_rows *entries, const struct nodes_parts *parts,
    const struct nodes_part *part)
{
	struct slice rest = str_slice(&part->out), line;
	struct str id = STR_INIT;
	struct entry_row *row = NULL;

	while (nodes_line(&rest, &line)) {
		if (!entry_id(parts, line, &id)) {
			if (row != NULL && line.n > 0 && line.p[0] == ' ')
				row->text.n += line.n + 1;
			else
				row = NULL;
			continue;
		}
		if (entries->count == entries->room) {
			entries->room = entries->room * 2 + 64;
			entries->rows = mem_grow(entries->rows,
			    entries->room, sizeof(*entries->rows));
		}
		row = &entries->rows[entries->count];
		*row = (struct entry_row){ .order = entries->count++,
			.part = part, .text = { line.p, line.n + 1 } };
		strlcpy(row->id, id.buf, sizeof(row->id));
	}
	str_release(&id);
}

static void
entry_print(const struct nodes_parts *parts, const struct entry_row *row)
{
	struct slice rest = row->text, line;
	struct str text = STR_INIT;
	const char *label = row->part->label;

	while (nodes_line(&rest, &line)) {
		if (parts->is_json)
			nodes_add_json(&text, line, row->part->node);
		else
			str_addf(&text, "%-*s  " SLICE_FMT "\n", parts->width,
			    label, SLICE_ARG(line));
		label = "";
	}
	fputs(text.buf, stdout);
	str_release(&text);
}

/* Each node had a page: of all only the first messages are one, and the next
 * begins after its last.  returns how many rows belong to it. */
static size_t
entries_page(const struct nodes_parts *parts, const struct entry_rows *entries,
    bool *out_has_more)
{
	int64_t limit = arguments_number(parts->arguments, OPT_LIMIT, -1);
	int64_t messages = 0;
	size_t i;

	for (i = 0; i < entries->count; i++) {
		const struct entry_row *row = &entries->rows[i];

		if (i > 0 && row->part == row[-1].part &&
		    strcmp(row->id, row[-1].id) == 0)
			continue;	/* another recipient */
		if (messages++ == limit)
			break;
	}
	*out_has_more = limit > 0 && messages >= limit;
	return i;
}

static void
entries_print_more(const struct nodes_parts *parts, const char *last)
{
	struct str end = STR_INIT;

	if (parts->is_json) {
		json_open_answer(&end);
		json_text(&end, "next", slice_of(last));
		json_close(&end);
	} else {
		str_addf(&end, "There may be more: --after %s\n", last);
	}
	fputs(end.buf, stdout);
	str_release(&end);
}

static void
merge_list_end(size_t count, size_t nodes, size_t copies)
{
	size_t messages = count - copies;

	printf("%zu message%s at %zu node%s", messages, messages == 1 ? "" :
	    "s", nodes, nodes == 1 ? "" : "s");
	if (copies > 0)
		printf(", and %zu cop%s of silent ones (zmailer "
		    "help cluster)", copies, copies == 1 ? "y" : "ies");
	putchar('\n');
}

static void
merge_list(const struct nodes_parts *parts)
{
	struct entry_rows entries = { .rows = NULL };
	size_t nodes = 0, copies = 0;
	bool has_more;

	for (size_t i = 0; i < parts->count; i++) {
		size_t before = entries.count;

		entries_add(&entries, parts, &parts->parts[i]);
		nodes += entries.count > before &&
		    parts->parts[i].status != NODES_COPIES;
	}
	if (entries.count > 1)
		qsort(entries.rows, entries.count, sizeof(*entries.rows),
		    merge_entry_compare);
	if (!parts->is_json && entries.count > 0)
		printf("%-*s  %-*s %6s %6s  %-8s %s\n", parts->width, "NODE",
		    VIEW_ID_COLUMNS, "ID", "AGE", "SIZE", "STATE",
		    "FROM / TO");
	entries.count = entries_page(parts, &entries, &has_more);
	for (size_t i = 0; i < entries.count; i++)
		entry_print(parts, &entries.rows[i]);
	for (size_t i = 0; i < entries.count; i++)
		copies += entries.rows[i].part->status == NODES_COPIES;
	if (!parts->is_json)
		merge_list_end(entries.count, nodes, copies);
	if (has_more)
		entries_print_more(parts, entries.rows[entries.count - 1].id);
	mem_free(&entries.rows);
}

/* ---- counts, by state -------------------------------------------------- */

enum { COUNT_STATES_MAX = 64 };

struct count_sum {
	struct { char name[32]; int64_t messages, recipients; }
		 states[COUNT_STATES_MAX];
	size_t	 count;
	int64_t	 messages, bytes;
};

static void
count_add(struct count_sum *sum, struct slice line)
{
	struct str state = STR_INIT;
	size_t i = 0;

	if (!json_get(line, "state", &state)) {
		sum->messages += json_get_number(line, "messages");
		sum->bytes += json_get_number(line, "bytes");
		str_release(&state);
		return;
	}
	while (i < sum->count && strcmp(sum->states[i].name, state.buf) != 0)
		i++;
	if (i == sum->count && i < COUNT_STATES_MAX)
		strlcpy(sum->states[sum->count++].name, state.buf,
		    sizeof(sum->states[0].name));
	if (i < COUNT_STATES_MAX) {
		sum->states[i].messages += json_get_number(line, "messages");
		sum->states[i].recipients += json_get_number(line,
		    "recipients");
	}
	str_release(&state);
}

static void
merge_count(const struct nodes_parts *parts)
{
	struct count_sum *sum = mem_alloc(1, sizeof(*sum));
	struct str size = STR_INIT, name = STR_INIT;

	for (size_t i = 0; i < parts->count; i++) {
		struct slice rest = str_slice(&parts->parts[i].out), line;

		while (nodes_line(&rest, &line))
			count_add(sum, line);
	}
	printf("%-10s %10s %10s\n", "STATE", "MESSAGES", "RECIPIENTS");
	for (size_t i = 0; i < sum->count; i++) {
		if (sum->states[i].messages == 0)
			continue;
		str_reset(&name);
		str_add_escaped(&name, slice_of(sum->states[i].name));
		printf("%-10s %10" PRId64 " %10" PRId64 "\n", name.buf,
		    sum->states[i].messages, sum->states[i].recipients);
	}
	view_add_size(&size, (uint64_t)sum->bytes);
	printf("%" PRId64 " message%s, %s\n", sum->messages,
	    sum->messages == 1 ? "" : "s", size.buf);
	str_release(&size);
	str_release(&name);
	mem_free(&sum);
}

/* ---- orders: a line a node, and the sum -------------------------------- */

/* Of the scheduler's last lines, and of files a line each. */
static void
order_sum(const struct nodes_part *part, int64_t *messages,
    int64_t *recipients)
{
	struct slice rest = str_slice(&part->out), line;
	struct str done = STR_INIT;

	while (nodes_line(&rest, &line)) {
		if (json_is(line, "done", "true")) {
			*messages += json_get_number(line, "messages");
			*recipients += json_get_number(line, "recipients");
		} else if (json_get(line, "id", &done)) {
			*messages += 1;
			*recipients += json_get_number(line, "rcpts");
		}
	}
	str_release(&done);
}

static void
merge_order(const struct nodes_parts *parts)
{
	int64_t all[2] = { 0, 0 };

	for (size_t i = 0; i < parts->count; i++) {
		int64_t some[2] = { 0, 0 };

		if (parts->parts[i].status == NODES_SILENT)
			continue;
		order_sum(&parts->parts[i], &some[0], &some[1]);
		printf("%-*s  %" PRId64 " message%s (%" PRId64
		    " recipient%s)\n", parts->width, parts->parts[i].node,
		    some[0], some[0] == 1 ? "" : "s", some[1], some[1] == 1 ?
		    "" : "s");
		all[0] += some[0];
		all[1] += some[1];
	}
	printf("%-*s  %" PRId64 " message%s (%" PRId64 " recipient%s)\n",
	    parts->width, "all", all[0], all[0] == 1 ? "" : "s", all[1],
	    all[1] == 1 ? "" : "s");
}

void
nodes_merge(const struct nodes_parts *parts)
{
	switch (parts->verb->style) {
	case NODES_LIST:
		merge_list(parts);
		return;
	case NODES_STORY:
		nodes_merge_story(parts);
		return;
	case NODES_COUNT:
		if (!parts->is_json) {
			merge_count(parts);
			return;
		}
		break;
	case NODES_ORDER:
		if (!parts->is_json) {
			merge_order(parts);
			return;
		}
		break;
	case NODES_LINES:
		break;
	}
	merge_lines(parts);
}
