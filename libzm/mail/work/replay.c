/* replay.c - what came of the recipients of a control file
 *
 * In     the records behind the head
 * Out    the state of every recipient: outcome, orders, reports
 * Holds  nothing; a recipient is found by its offset, by binary search
 * Trusts a record only when its checksum fits; everything else is skipped
 * Spec   doc/INTERNALS.md section 1.2
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/crc32c.h"
#include "mail/work/internal.h"

#include "base/banned.h"

struct replay {
	struct arena	*arena;
	struct work	*work;
	struct work_rcpt *rcpts;	/* of all groups, in order */
	struct slice	*verdicts;	/* of each the last, NULL: none */
};

/* The recipient of an r line, or of an X line behind it; *out_ahead: how many
 * ways are passed when that one is in force.  Lines of ways that were left
 * are of a past: records there say nothing about now, but that of orders. */
static struct work_rcpt *
find_rcpt(const struct replay *replay, uint32_t offset, size_t *out_index,
    size_t *out_ahead)
{
	size_t low = 0, high = replay->work->rcpt_total;
	struct work_rcpt *rcpt;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (replay->rcpts[middle].first_offset <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	*out_ahead = 0;
	*out_index = low - 1;
	if (low == 0)
		return NULL;
	rcpt = &replay->rcpts[low - 1];
	if (offset == rcpt->offset || offset == rcpt->first_offset)
		return rcpt;
	for (size_t i = 0; i < rcpt->way_count; i++)
		if (rcpt->ways[i].offset == offset) {
			*out_ahead = i + 1;
			return rcpt;
		}
	return NULL;
}

uint32_t
work_rcpt_end_offset(const struct work_rcpt *rcpt)
{
	return rcpt->way_count > 0 ? rcpt->ways[rcpt->way_count - 1].offset :
	    rcpt->offset;
}

/* So many ways on, since then. */
static void
take_way(struct work_rcpt *rcpt, size_t ahead, int64_t since_s)
{
	const struct work_way *way = &rcpt->ways[ahead - 1];

	rcpt->offset = way->offset;
	rcpt->channel = way->channel;
	rcpt->host = way->host;
	rcpt->user = way->user;
	rcpt->uid = way->uid;
	rcpt->ways += ahead;
	rcpt->way_count -= ahead;
	rcpt->way_since_s = since_s;
	rcpt->tries = 0;
	rcpt->first_try_s = rcpt->last_try_s = rcpt->next_s = 0;
	rcpt->is_scheduled = false;
}

static bool
is_failure(struct slice rest)
{
	struct verdict verdict;

	return work_record_verdict(rest, &verdict) &&
	    verdict.kind == VERDICT_FAILED;
}

/* An outcome, of the way in force or of one ahead.  When it failed and ways
 * are left it is none: the next one is in force. */
static void
take_outcome(struct replay *replay, struct work_rcpt *rcpt, size_t index,
    const struct work_record *record, struct slice rest)
{
	if (rcpt->way_count > 0 && is_failure(rest)) {
		take_way(rcpt, 1, record->time_s);
		replay->verdicts[index] = (struct slice){ NULL, 0 };
		return;
	}
	if (rcpt->first_try_s == 0)
		rcpt->first_try_s = record->time_s;
	rcpt->last_try_s = record->time_s;
	rcpt->next_s = record->next_s;
	rcpt->tries = record->tries;
	rcpt->is_scheduled = false;
	replay->verdicts[index] = rest;
}

/* Free again: at once, whatever the retries said. */
static void
set_due(struct work_rcpt *rcpt, const struct work_record *record)
{
	rcpt->next_s = record->time_s > 0 ? record->time_s : 1;
	rcpt->is_scheduled = false;
}

/* The hold that there was, if any, was over by this moment. */
static void
hold_end(struct work_rcpt *rcpt, int64_t moment_s)
{
	int64_t end_s = rcpt->hold_until_s > 0 &&
	    rcpt->hold_until_s < moment_s ? rcpt->hold_until_s : moment_s;

	if (rcpt->is_held && end_s > rcpt->held_since_s)
		rcpt->held_s += end_s - rcpt->held_since_s;
}

/* An order; a later outcome that defers does not undo it. */
static void
take_order(struct work_rcpt *rcpt, const struct work_record *record,
    struct slice rest)
{
	bool parks = record->kind == WORK_HELD ||
	    record->kind == WORK_FROZEN || record->kind == WORK_CANCELLED;

	if (parks)
		work_record_order(rest, &rcpt->ordered_by,
		    &rcpt->order_reason);
	switch (record->kind) {
	case WORK_HELD:
	case WORK_RELEASED:
		hold_end(rcpt, record->time_s);
		rcpt->held_since_s = record->time_s;
		rcpt->is_held = parks;
		rcpt->hold_until_s = parks ? record->next_s : 0;
		break;
	case WORK_FROZEN:
		rcpt->is_frozen = true;
		break;
	case WORK_THAWED:
		rcpt->is_frozen = false;
		rcpt->tries = rcpt->delay_notices = 0;
		rcpt->thawed_s = record->time_s;
		rcpt->held_s = 0;
		rcpt->held_since_s = record->time_s;
		rcpt->expire_s = 0;
		break;
	case WORK_CANCELLED:
	case WORK_RESTORED:
		rcpt->is_cancelled = parks;
		break;
	case WORK_RETRY_AT:
		rcpt->next_s = record->next_s;
		rcpt->is_scheduled = true;
		return;
	default:
		rcpt->expire_s = record->next_s;
		return;
	}
	if (!parks)
		set_due(rcpt, record);
}

/* The record's effect; of outcomes only the last one's words are kept. */
static void
take_record(struct replay *replay, const struct work_record *record,
    struct slice rest)
{
	size_t index, ahead;
	struct work_rcpt *rcpt = find_rcpt(replay, record->rcpt_offset,
	    &index, &ahead);

	if (rcpt == NULL || record->kind == WORK_STEP)
		return;
	replay->work->report_records += record->kind == WORK_REPORTED ||
	    record->kind == WORK_DELAY_NOTICE;
	if (record->kind == WORK_REPORTED) {
		rcpt->is_reported = true;
	} else if (record->kind == WORK_DELAY_NOTICE) {
		rcpt->delay_notices++;
	} else if (record->kind != WORK_OUTCOME) {
		take_order(rcpt, record, rest);
	} else if (ahead > 0 || record->rcpt_offset == rcpt->offset) {
		if (ahead > 0)
			take_way(rcpt, ahead, record->time_s);
		take_outcome(replay, rcpt, index, record, rest);
	}
}

/* An outcome ends what was ordered; without one a cancelled recipient is
 * final, too. */
static void
settle_order(struct work *work, struct work_rcpt *rcpt)
{
	if (rcpt->is_final) {
		rcpt->is_cancelled = rcpt->is_held = rcpt->is_frozen = false;
	} else if (rcpt->is_cancelled) {
		rcpt->is_final = true;
		work->final_total++;
		work->cancelled_total++;
	}
}

bool
work_rcpt_is_free(const struct work_rcpt *rcpt, int64_t now_s)
{
	return !rcpt->is_frozen && !(rcpt->is_held &&
	    (rcpt->hold_until_s == 0 || rcpt->hold_until_s > now_s));
}

int64_t
work_rcpt_held_s(const struct work_rcpt *rcpt)
{
	return rcpt->held_s + (rcpt->is_held &&
	    rcpt->hold_until_s > rcpt->held_since_s ? rcpt->hold_until_s -
	    rcpt->held_since_s : 0);
}

/* Turn the words of each recipient's last outcome into a record. */
static void
keep_verdicts(struct replay *replay)
{
	for (size_t i = 0; i < replay->work->rcpt_total; i++) {
		struct work_rcpt *rcpt = &replay->rcpts[i];
		struct work_record *record;

		if (replay->verdicts[i].p == NULL)
			continue;
		record = arena_alloc(replay->arena, sizeof(*record));
		record->kind = WORK_OUTCOME;
		record->rcpt_offset = rcpt->offset;
		record->time_s = rcpt->last_try_s;
		record->tries = rcpt->tries;
		record->next_s = rcpt->next_s;
		if (!work_record_verdict(replay->verdicts[i], &record->verdict))
			continue;
		rcpt->last = record;
		rcpt->is_final = verdict_is_final(record->verdict.kind);
		replay->work->final_total += rcpt->is_final;
	}
}

void
work_replay(struct arena *arena, struct work *work, struct slice text)
{
	uint32_t id_crc = crc32c(0, work->id, strlen(work->id));
	struct replay replay = { .arena = arena, .work = work,
	    .rcpts = work->groups[0].rcpts };
	struct slice line, rest;
	struct work_record record;

	while (text.n > 0) {
		line = slice_first(text, slice_find(text, '\n'));
		text = slice_from(text, line.n + 1);
		if (line.n == 0 || line.p[0] != 'd' ||
		    !work_record_check(line, id_crc, &record, &rest))
			continue;
		if (replay.verdicts == NULL)
			replay.verdicts = arena_alloc(arena,
			    work->rcpt_total * sizeof(*replay.verdicts));
		take_record(&replay, &record, rest);
	}
	if (replay.verdicts == NULL)
		return;
	keep_verdicts(&replay);
	for (size_t i = 0; i < work->rcpt_total; i++)
		settle_order(work, &replay.rcpts[i]);
}
