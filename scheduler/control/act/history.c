/* history.c - rates and sizes of the past
 *
 * In     the history; the span that is wanted, and in how many points
 * Out    a line a point of which something is known
 * Holds  the point that is open, over steps
 * Trusts nothing of the file: history_read says what is a record
 * Spec   doc/protocol/control.md section 4, history
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "journal/history.h"
#include "scheduler/control/act/act.h"

#include "base/banned.h"

enum { POINTS = 120, SPAN_S = 3600 };	/* unless said */

struct past {
	unsigned	 archive;
	int64_t		 step_s;	/* of a point */
	int64_t		 from_s, until_s;
	int64_t		 next_s;	/* of the record to be read */
	struct history_record point;	/* the one that is open */
	uint64_t	 told;
};

void
past_free(struct past **ppast)
{
	mem_free(ppast);
}

/* The coarsest archive whose records fit into a point, if it goes back so
 * far; else the finest that does. */
static unsigned
points_archive(int64_t span_s, int64_t points)
{
	unsigned best = HISTORY_ARCHIVES - 1;

	for (unsigned i = HISTORY_ARCHIVES; i-- > 0;) {
		const struct history_archive *row = &history_archives[i];

		if (row->step_s * row->count < span_s)
			break;
		best = i;
		if (row->step_s * points <= span_s)
			break;
	}
	return best;
}

static struct past *
points_begin(const struct request *request)
{
	int64_t span_s = request->span_s > 0 ? request->span_s : SPAN_S;
	int64_t points = request->points > 0 ? request->points : POINTS;
	struct past *past = mem_alloc(1, sizeof(*past));
	int64_t end_s = request->until_s > 0 ? request->until_s :
	    clock_wall_s();
	int64_t record_s, step_s;

	past->archive = points_archive(span_s, points);
	record_s = history_archives[past->archive].step_s;
	step_s = (span_s + points - 1) / points;
	step_s = (step_s + record_s - 1) / record_s * record_s;
	past->step_s = step_s;
	past->until_s = (end_s + step_s - 1) / step_s * step_s;
	past->from_s = past->until_s - (span_s + step_s - 1) / step_s * step_s;
	if (past->from_s < 0)
		past->from_s = 0;
	past->next_s = past->from_s;
	return past;
}

static int64_t
points_number(uint64_t number)
{
	return number > INT64_MAX ? INT64_MAX : (int64_t)number;
}

static void
points_tell(struct past *past, struct str *out)
{
	const struct history_record *point = &past->point;
	char most[40];

	if (point->covered_s == 0)
		return;
	json_open(out);
	json_number(out, "at", point->at_s);
	json_number(out, "span_s", past->step_s);
	json_number(out, "covered_s", point->covered_s);
	for (int i = 0; i < HISTORY_COUNTS; i++)
		json_number(out, history_count_names[i],
		    points_number(point->counts[i]));
	for (int i = 0; i < HISTORY_LEVELS; i++) {
		snprintf(most, sizeof(most), "%s_most",
		    history_level_names[i]);
		json_number(out, history_level_names[i],
		    points_number(point->levels[i]));
		json_number(out, most, points_number(point->most[i]));
	}
	json_close(out);
	past->told++;
}

/* A record at next_s: of the open point, or of another one. */
static void
points_take(struct past *past, const struct history_record *record,
    struct str *out)
{
	int64_t at_s = past->next_s - (past->next_s - past->from_s) %
	    past->step_s;

	if (past->point.at_s != at_s) {
		points_tell(past, out);
		past->point = (struct history_record){ .at_s = at_s };
	}
	if (record->covered_s > 0)
		history_sum(&past->point, record);
}

enum act_step
act_history(struct act *act, struct str *out)
{
	struct history_record *records;
	struct past *past = act->past;
	int64_t record_s;

	if (act->queue->history == NULL) {
		act_refuse(out, act->request.tag, "trouble", "no history is "
		    "kept: what the scheduler said at its start tells why");
		return ACT_DONE;
	}
	if (past == NULL)
		past = act->past = points_begin(&act->request);
	record_s = history_archives[past->archive].step_s;
	records = mem_alloc(HISTORY_READ_MAX, sizeof(*records));
	history_read(act->queue->history, past->archive, past->next_s,
	    HISTORY_READ_MAX, records);
	for (int i = 0; i < HISTORY_READ_MAX && past->next_s < past->until_s;
	    i++, past->next_s += record_s)
		points_take(past, &records[i], out);
	mem_free(&records);
	if (past->next_s < past->until_s)
		return ACT_MORE;
	points_tell(past, out);
	act_done(act, out);
	json_number(out, "points", (int64_t)past->told);
	json_number(out, "step_s", past->step_s);
	json_number(out, "from", past->from_s);
	json_number(out, "until", past->until_s);
	json_close(out);
	return ACT_DONE;
}
