/* show.c - what zmailer import queue prints about each message
 *
 * In     rows
 * Out    lines for people, or an object for each message
 * Spec   zmailer-import(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>

#include "base/clock.h"
#include "base/json.h"
#include "tools/queue/view.h"
#include "tools/zmailer/import/queue/queue.h"

#include "base/banned.h"

static const struct {
	const char	*word, *text;
} old_fates[OLD_FATE_COUNT] = {
#define FATE(symbol, word, text) [OLD_##symbol] = { word, text },
	OLD_FATES(FATE)
#undef FATE
};

static bool
row_is_read(const struct old_row *row)
{
	return row->key != NULL;
}

/* "would be taken, into freezer/" */
static void
row_fate_add(struct str *out, const struct old_row *row)
{
	str_adds(out, old_fates[row->fate].text);
	if (row->fate == OLD_TAKEN)
		str_addf(out, ": %s", row->new_id);
	if (row->is_held && (row->fate == OLD_TAKEN || row->fate == OLD_WAITS))
		str_adds(out, ", frozen");
	if (row->wrong != NULL)
		str_addf(out, ": %s", row->wrong);
}

static void
old_row_text(const struct old_row *row, struct str *out)
{
	char age[CLOCK_TEXT_BYTES] = "";
	struct str size = STR_INIT;

	if (row_is_read(row)) {
		clock_span(clock_wall_s() - row->arrived_us / 1000000, age);
		view_add_size(&size, row->bytes);
	}
	str_addf(out, "%-16s %-8s %-11s %6s  %s\n", row->id, age, row->state,
	    size.buf, row->sender);
	if (row->waiting > 0)
		str_addf(out, "    to    %s\n", row->rcpts);
	if (row->done > 0)
		str_addf(out, "    done  %zu recipient%s\n", row->done,
		    row->done == 1 ? "" : "s");
	if (*row->said != '\0')
		str_addf(out, "    said  %s\n", row->said);
	if (*row->lost != '\0')
		str_addf(out, "    lost  %s\n", row->lost);
	str_adds(out, "    ");
	row_fate_add(out, row);
	str_addc(out, '\n');
	str_release(&size);
}

static void
row_json(const struct old_row *row, struct str *out)
{
	json_open(out);
	json_number(out, "v", 1);
	json_text(out, "old", slice_of(row->id));
	json_text(out, "file", slice_of(row->main));
	json_text(out, "state", slice_of(row->state));
	json_text(out, "fate", slice_of(old_fates[row->fate].word));
	if (row_is_read(row)) {
		json_text(out, "from", slice_of(row->sender));
		json_text(out, "to", slice_of(row->rcpts));
		json_number(out, "arrived", row->arrived_us / 1000000);
		json_number(out, "bytes", (int64_t)row->bytes);
		json_number(out, "waiting", (int64_t)row->waiting);
		json_number(out, "done", (int64_t)row->done);
		json_bool(out, "held", row->is_held);
		json_text(out, "lost", slice_of(row->lost));
		json_text(out, "said", slice_of(row->said));
		json_number(out, "tries", (int64_t)row->tries);
	}
	if (row->wrong != NULL)
		json_text(out, "wrong", slice_of(row->wrong));
	if (row->fate == OLD_TAKEN)
		json_text(out, "id", slice_of(row->new_id));
	json_close(out);
}

void
old_row_show(const struct old_queue *queue, const struct old_row *row,
    bool is_json)
{
	struct str out = STR_INIT;

	(void)queue;
	if (is_json)
		row_json(row, &out);
	else
		old_row_text(row, &out);
	fputs(out.buf, stdout);
	str_release(&out);
}

/* What to do next, when all of it is ours. */
static void
next_add(const struct old_queue *queue, bool is_over, struct str *out)
{
	if (!is_over && queue->fates[OLD_WAITS] > 0)
		str_adds(out, "nothing was made: say --yes\n");
	else if (is_over && queue->fates[OLD_TAKEN] > 0)
		str_addf(out, "%s must not send what is ours now: before it is "
		    "started again, %s\n", queue->kind->name,
		    queue->kind->empty);
}

void
old_queue_show_counts(const struct old_queue *queue, bool is_json,
    bool is_over)
{
	struct str out = STR_INIT;

	if (is_json) {
		json_open(&out);
		json_number(&out, "v", 1);
		for (size_t i = 0; i < OLD_FATE_COUNT; i++)
			json_number(&out, old_fates[i].word,
			    (int64_t)queue->fates[i]);
		json_close(&out);
	} else {
		str_addf(&out, "%zu message%s", queue->count,
		    queue->count == 1 ? "" : "s");
		for (size_t i = 0; i < OLD_FATE_COUNT; i++)
			if (queue->fates[i] > 0)
				str_addf(&out, ", %zu %s", queue->fates[i],
				    old_fates[i].word);
		str_addc(&out, '\n');
		next_add(queue, is_over, &out);
	}
	fputs(out.buf, stdout);
	str_release(&out);
}
