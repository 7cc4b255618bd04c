/* replay.c - what came of the recipients of a control file
 *
 * In     the records after the head
 * Out    the state of every recipient: outcome, orders, reports
 * Holds  nothing; a recipient is found by its offset, by binary search
 * Trusts a record only when its checksum fits; everything else is skipped
 * Spec   doc/INTERNALS.md section 1.2
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/crc32c.h"
#include "mail/control_file/internal.h"

#include "base/banned.h"

enum { KEPT_SKEW_MAX_S = 3600 };

/* The recipient of an r line, or of an X line after it; *out_ahead: how many
 * ways are passed when that one is in force.  Lines of ways that were left
 * are of a past: records there say nothing about now, but that of orders. */
static struct control_rcpt *
find_rcpt(const struct control_replay *replay, uint32_t offset,
    size_t *out_index, size_t *out_ahead)
{
	size_t low = 0, high = replay->control->rcpt_total;
	struct control_rcpt *rcpt;

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
control_rcpt_end_offset(const struct control_rcpt *rcpt)
{
	return rcpt->way_count > 0 ? rcpt->ways[rcpt->way_count - 1].offset :
	    rcpt->offset;
}

/* So many ways on, since then. */
static void
take_way(struct control_rcpt *rcpt, size_t ahead, int64_t since_s)
{
	const struct control_way *way = &rcpt->ways[ahead - 1];

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

	return control_record_verdict(rest, &verdict) &&
	    verdict.kind == VERDICT_FAILED;
}

/* An outcome, of the way in force or of one ahead.  When it failed and ways
 * are left it is none: the next one is in force. */
static void
take_outcome(struct control_replay *replay, struct control_rcpt *rcpt,
    size_t index, const struct control_record *record, struct slice rest)
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
	rcpt->is_scheduled = rcpt->is_reopened = false;
	replay->verdicts[index] = rest;
}

/* Free again: at once, whatever the retries said. */
static void
set_due(struct control_rcpt *rcpt, const struct control_record *record)
{
	rcpt->next_s = record->time_s > 0 ? record->time_s : 1;
	rcpt->is_scheduled = false;
}

/* The hold that there was, if any, was over by this moment. */
static void
hold_end(struct control_rcpt *rcpt, int64_t moment_s)
{
	int64_t end_s = rcpt->hold_until_s > 0 &&
	    rcpt->hold_until_s < moment_s ? rcpt->hold_until_s : moment_s;

	if (rcpt->is_held && end_s > rcpt->held_since_s)
		rcpt->held_s += end_s - rcpt->held_since_s;
}

/* Tries and life start anew. */
static void
begin_life(struct control_rcpt *rcpt, int64_t moment_s)
{
	rcpt->tries = rcpt->delay_notices = 0;
	rcpt->thawed_s = moment_s;
	rcpt->held_s = 0;
	rcpt->held_since_s = moment_s;
	rcpt->expire_s = 0;
}

/* Only what has failed and was not reported is open again; what was ordered
 * before it failed has ended with that. */
static void
take_reopening(struct control_rcpt *rcpt, const struct control_record *record,
    struct slice verdict)
{
	if (rcpt->is_reported || rcpt->is_reopened || verdict.p == NULL ||
	    !is_failure(verdict))
		return;
	rcpt->is_reopened = true;
	rcpt->is_cancelled = rcpt->is_held = rcpt->is_frozen = false;
	begin_life(rcpt, record->time_s);
	set_due(rcpt, record);
}

/* An order; a later outcome that defers does not undo it. */
static void
take_order(struct control_rcpt *rcpt, const struct control_record *record,
    struct slice rest)
{
	bool parks = record->kind == RECORD_HELD ||
	    record->kind == RECORD_FROZEN || record->kind == RECORD_CANCELLED;
	bool is_parked = rcpt->is_held || rcpt->is_frozen ||
	    rcpt->is_cancelled;

	/* what keeps it for longer keeps its words */
	if (parks || (record->kind == RECORD_RETRY_AT && !is_parked)) {
		control_record_order(rest, &rcpt->ordered_by,
		    &rcpt->order_reason);
		rcpt->is_order_of_next = !parks;
	}
	switch (record->kind) {
	case RECORD_HELD:
	case RECORD_RELEASED:
		hold_end(rcpt, record->time_s);
		rcpt->held_since_s = record->time_s;
		rcpt->is_held = parks;
		rcpt->hold_until_s = parks ? record->next_s : 0;
		break;
	case RECORD_FROZEN:
		rcpt->is_frozen = true;
		break;
	case RECORD_THAWED:
		rcpt->is_frozen = false;
		begin_life(rcpt, record->time_s);
		break;
	case RECORD_CANCELLED:
	case RECORD_RESTORED:
		rcpt->is_cancelled = parks;
		break;
	case RECORD_RETRY_AT:
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

/* Of a line that does not last, a copy; many have the same words. */
static struct slice
replay_keep(struct control_replay *replay, struct slice words)
{
	struct slice *kept;

	if (replay->words == NULL)
		return words;
	kept = &replay->words[crc32c(0, words.p, words.n) %
	    CONTROL_WORDS_KEPT];
	if (kept->p == NULL || !slice_equal(*kept, words))
		*kept = slice_copy(replay->arena, words);
	return *kept;
}

/* The record's effect; of outcomes only the last one's words are kept. */
static void
take_record(struct control_replay *replay, const struct control_record *record,
    struct slice rest)
{
	size_t index, ahead;
	struct control_rcpt *rcpt = find_rcpt(replay, record->rcpt_offset,
	    &index, &ahead);

	if (rcpt == NULL || record->kind == RECORD_STEP)
		return;
	replay->control->report_records += record->kind == RECORD_REPORTED ||
	    record->kind == RECORD_DELAY_NOTICE;
	if (record->kind == RECORD_REPORTED) {
		rcpt->is_reported = true;
	} else if (record->kind == RECORD_DELAY_NOTICE) {
		rcpt->delay_notices++;
	} else if (record->kind == RECORD_REOPENED) {
		take_reopening(rcpt, record, replay->verdicts[index]);
	} else if (record->kind != RECORD_OUTCOME) {
		take_order(rcpt, record, replay_keep(replay, rest));
	} else if (ahead > 0 || record->rcpt_offset == rcpt->offset) {
		if (ahead > 0)
			take_way(rcpt, ahead, record->time_s);
		take_outcome(replay, rcpt, index, record,
		    replay_keep(replay, rest));
	}
}

/* An outcome ends what was ordered; without one a cancelled recipient is
 * final, too. */
static void
settle_order(struct control_file *control, struct control_rcpt *rcpt)
{
	if (rcpt->is_final) {
		rcpt->is_cancelled = rcpt->is_held = rcpt->is_frozen = false;
	} else if (rcpt->is_cancelled) {
		rcpt->is_final = true;
		control->final_total++;
		control->cancelled_total++;
	}
}

/* Groups stand in the order of the file. */
static uint32_t
group_first_offset(const struct control_group *group)
{
	return group->rcpt_count > 0 ? group->rcpts[0].offset :
	    group->sender_offset;
}

const struct control_group *
control_group_at(const struct control_file *control, uint32_t offset)
{
	size_t low = 0, high = control->group_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (group_first_offset(&control->groups[middle]) <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 ? &control->groups[low - 1] : NULL;
}

const struct control_rcpt *
control_rcpt_at(const struct control_file *control, uint32_t offset)
{
	const struct control_group *group = control_group_at(control, offset);
	size_t low = 0, high = group != NULL ? group->rcpt_count : 0;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (group->rcpts[middle].offset == offset)
			return &group->rcpts[middle];
		if (group->rcpts[middle].offset < offset)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

bool
control_rcpt_is_free(const struct control_rcpt *rcpt, int64_t now_s)
{
	return !rcpt->is_frozen && !(rcpt->is_held &&
	    (rcpt->hold_until_s == 0 || rcpt->hold_until_s > now_s));
}

int64_t
control_rcpt_held_s(const struct control_rcpt *rcpt)
{
	return rcpt->held_s + (rcpt->is_held &&
	    rcpt->hold_until_s > rcpt->held_since_s ? rcpt->hold_until_s -
	    rcpt->held_since_s : 0);
}

bool
control_rcpt_is_failed(const struct control_rcpt *rcpt)
{
	return rcpt->is_final && !rcpt->is_cancelled && !rcpt->is_reported &&
	    rcpt->last != NULL && rcpt->last->verdict.kind == VERDICT_FAILED;
}

int64_t
control_rcpt_kept_until_s(const struct control_rcpt *rcpt, int64_t keep_s,
    int64_t now_s)
{
	int64_t until_s;

	if (keep_s <= 0 || !control_rcpt_is_failed(rcpt))
		return 0;
	/* a clock was wrong: as if nothing were kept */
	if (rcpt->last->time_s > now_s + KEPT_SKEW_MAX_S)
		return 0;
	until_s = rcpt->last->next_s > 0 ? rcpt->last->next_s :
	    rcpt->last->time_s + keep_s;
	return until_s > now_s ? until_s : 0;
}

/* It is to be tried again: its last outcome is no end any more. */
static void
soften_verdict(struct verdict *verdict)
{
	verdict->kind = VERDICT_DEFERRED;
	if (verdict->status[0] == '5')
		verdict->status[0] = '4';
}

/* Recipients of one transaction had the same answer in the same second: they
 * share its record, which is far larger than what else is known of one. */
struct outcome_seen {
	struct slice		 words;
	bool			 is_reopened;
	struct control_record	*record;	/* NULL: nothing was seen */
};

static bool
outcome_is(const struct outcome_seen *seen, const struct control_rcpt *rcpt,
    struct slice words)
{
	return seen->record != NULL && slice_equal(seen->words, words) &&
	    seen->is_reopened == rcpt->is_reopened &&
	    seen->record->time_s == rcpt->last_try_s &&
	    seen->record->next_s == rcpt->next_s &&
	    seen->record->tries == rcpt->tries;
}

/* NULL: the words say nothing. */
static const struct control_record *
replay_outcome(struct control_replay *replay, struct outcome_seen *seen,
    const struct control_rcpt *rcpt, struct slice words)
{
	struct control_record *record;

	if (outcome_is(seen, rcpt, words))
		return seen->record;
	record = arena_alloc(replay->arena, sizeof(*record));
	record->kind = RECORD_OUTCOME;
	record->rcpt_offset = rcpt->offset;
	record->time_s = rcpt->last_try_s;
	record->tries = rcpt->tries;
	record->next_s = rcpt->next_s;
	if (!control_record_verdict(words, &record->verdict))
		return NULL;
	if (rcpt->is_reopened)
		soften_verdict(&record->verdict);
	*seen = (struct outcome_seen){ words, rcpt->is_reopened, record };
	return record;
}

/* Turn the words of each recipient's last outcome into a record. */
static void
keep_verdicts(struct control_replay *replay)
{
	enum { SEEN_MAX = 4096 };	/* answers; a power of two */
	size_t room = replay->control->rcpt_total < SEEN_MAX ? 1 : SEEN_MAX;
	struct outcome_seen *seen = arena_alloc(replay->arena,
	    room * sizeof(*seen));

	for (size_t i = 0; i < replay->control->rcpt_total; i++) {
		struct control_rcpt *rcpt = &replay->rcpts[i];
		struct slice words = replay->verdicts[i];
		const struct control_record *record;

		if (words.p == NULL)
			continue;
		record = replay_outcome(replay, room == 1 ? seen :
		    &seen[crc32c((uint32_t)rcpt->last_try_s, words.p,
		    words.n) % room], rcpt, words);
		if (record == NULL)
			continue;
		rcpt->last = record;
		rcpt->is_final = verdict_is_final(record->verdict.kind);
		replay->control->final_total += rcpt->is_final;
	}
}

void
control_replay_begin(struct control_replay *replay, struct arena *arena,
    struct control_file *control, bool is_brief)
{
	*replay = (struct control_replay){ .arena = arena, .control = control,
	    .rcpts = control->groups[0].rcpts,
	    .id_crc = crc32c(0, control->id, strlen(control->id)) };
	if (is_brief)
		replay->words = arena_alloc(arena, CONTROL_WORDS_KEPT *
		    sizeof(*replay->words));
}

void
control_replay_line(struct control_replay *replay, struct slice line)
{
	struct control_record record;
	struct slice rest;

	if (line.n == 0 || line.p[0] != 'd' ||
	    !control_record_check(line, replay->id_crc, &record, &rest))
		return;
	if (replay->verdicts == NULL)
		replay->verdicts = arena_alloc(replay->arena,
		    replay->control->rcpt_total * sizeof(*replay->verdicts));
	take_record(replay, &record, rest);
}

void
control_replay_end(struct control_replay *replay)
{
	if (replay->verdicts == NULL)
		return;
	keep_verdicts(replay);
	for (size_t i = 0; i < replay->control->rcpt_total; i++)
		settle_order(replay->control, &replay->rcpts[i]);
}

void
control_replay(struct arena *arena, struct control_file *control,
    struct slice text)
{
	struct control_replay replay;

	control_replay_begin(&replay, arena, control, false);
	while (text.n > 0) {
		struct slice line = slice_first(text,
		    slice_find(text, '\n'));

		text = slice_from(text, line.n + 1);
		control_replay_line(&replay, line);
	}
	control_replay_end(&replay);
}
