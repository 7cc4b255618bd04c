/* routed.c - routed messages in the journal, message by message
 *
 * In     the journal of a window
 * Out    the lines of one message at a time
 * Holds  the lines of messages that are not complete yet
 * Trusts nothing in a line
 * Spec   routed.h; zmailer-events(5)
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/clock.h"
#include "base/mem.h"
#include "journal/event.h"
#include "past/names.h"
#include "tools/zmailer/replay/routed.h"

#include "base/banned.h"

enum { OPEN_SLOTS = 256, OPEN_BYTES_MAX = 1 << 20 };

struct open_message {
	struct str	id, lines;
};

struct routed_walk {
	struct open_message	*slots;
	routed_fn		*fn;
	void			*context;
};

static struct open_message *
open_slot(struct routed_walk *walk, struct slice id)
{
	unsigned hash = 5381;

	for (size_t i = 0; i < id.n; i++)
		hash = hash * 33 + (unsigned char)id.p[i];
	return &walk->slots[hash % OPEN_SLOTS];
}

static int
open_tell(struct routed_walk *walk, struct open_message *slot,
    struct slice end, struct err *err)
{
	struct routed routed = { .lines = str_slice(&slot->lines),
		.end = end };
	int result = slot->lines.len > 0 ?
	    walk->fn(walk->context, &routed, err) : 0;

	str_reset(&slot->id);
	str_reset(&slot->lines);
	return result;
}

static int
routed_line(struct routed_walk *walk, struct slice line, struct err *err)
{
	struct slice id = journal_line_id(line), name;
	struct open_message *slot = open_slot(walk, id);
	bool is_rcpt;

	if (!journal_line_has(line, "ev", &name))
		return 0;
	is_rcpt = slice_is(name, event_rows[EV_RCPT_ROUTED].name);
	if (!is_rcpt && !slice_is(name, event_rows[EV_MESSAGE_ROUTED].name))
		return 0;
	if (slot->id.len > 0 && (!slice_equal(str_slice(&slot->id), id) ||
	    slot->lines.len > OPEN_BYTES_MAX) &&
	    open_tell(walk, slot, SLICE(""), err) < 0)
		return -1;
	if (!is_rcpt)
		return open_tell(walk, slot, line, err);
	if (slot->id.len == 0)
		str_add_slice(&slot->id, id);
	str_add_slice(&slot->lines, line);
	str_addc(&slot->lines, '\n');
	return 0;
}

static int
routed_walk_all(struct routed_walk *walk, struct replay *replay,
    struct journal *journal, struct err *err)
{
	struct journal_cursor cursor = { 0, 0, 0 };
	struct slice line;
	int64_t at_ms;
	int result = 0;

	while (result == 0 && journal_next(journal, &cursor, &line)) {
		at_ms = journal_line_ms(line);
		if (at_ms >= replay->span.since_ms &&
		    at_ms < replay->span.until_ms)
			result = routed_line(walk, line, err);
		replay_progress(replay, 0, replay->seen);
	}
	for (int i = 0; i < OPEN_SLOTS && result == 0; i++)
		result = open_tell(walk, &walk->slots[i], SLICE(""), err);
	return result;
}

int
routed_each(struct replay *replay, routed_fn *fn, void *context,
    struct err *err)
{
	int64_t days = (clock_wall_us() / 1000 - replay->span.since_ms) /
	    JOURNAL_DAY_MS + 2;
	struct routed_walk walk = { .fn = fn, .context = context };
	struct journal *journal;
	int result;

	if (journal_days_open(replay->old->log_dir, (unsigned)days, &journal,
	    err) < 0)
		return -1;
	journal_within(journal, &replay->span);
	walk.slots = mem_alloc(OPEN_SLOTS, sizeof(*walk.slots));
	for (int i = 0; i < OPEN_SLOTS; i++) {
		str_init(&walk.slots[i].id);
		str_init(&walk.slots[i].lines);
	}
	result = routed_walk_all(&walk, replay, journal, err);
	for (int i = 0; i < OPEN_SLOTS; i++) {
		str_release(&walk.slots[i].id);
		str_release(&walk.slots[i].lines);
	}
	mem_free(&walk.slots);
	journal_close(&journal);
	return result;
}
