/* notes.c - notes of people about messages, from the journal
 *
 * In     the rows of a review; the journal
 * Out    each row's newest note
 * Trusts no line
 * Spec   review.h; zmailer-review(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/mem.h"
#include "past/frame.h"
#include "tools/journal/journal.h"
#include "tools/zmailer/review/review.h"

#include "base/banned.h"

static void
note_take(struct review *review, struct slice line)
{
	struct slice id = journal_line_id(line);
	struct str by = STR_INIT, text = STR_INIT;

	for (size_t i = 0; i < review->total; i++)
		if (slice_is(id, review->rows[i].item->id)) {
			journal_line_word(line, "by", &by);
			journal_line_word(line, "reason", &text);
			review->rows[i].note = arena_printf(
			    review->choice->arena, "%s (%s)", text.buf,
			    by.buf);
		}
	str_release(&by);
	str_release(&text);
}

static void
note_take_reason(struct review *review, struct slice line)
{
	struct slice id = journal_line_id(line);
	struct str text = STR_INIT;

	for (size_t i = 0; i < review->total; i++) {
		enum spool_area area = review->rows[i].item->area;

		if (slice_is(id, review->rows[i].item->id) &&
		    review->rows[i].item->reason.n == 0 &&
		    area != AREA_FREEZER) {
			journal_line_word(line, "reason", &text);
			review->rows[i].reason = text.len == 0 ? NULL :
			    arena_printf(review->choice->arena, "%s",
			    text.buf);
		}
	}
	str_release(&text);
}

static void
note_look_at(struct review *review, struct slice line)
{
	struct slice name;

	if (journal_line_id(line).n == 0 ||
	    !journal_line_has(line, "ev", &name))
		return;
	if (slice_is(name, "message.noted"))
		note_take(review, line);
	else if (slice_is(name, "message.deferred") ||
	    slice_is(name, "message.postman"))
		note_take_reason(review, line);
}

void
review_notes(struct review *review, const char *log_dir)
{
	struct journal_cursor cursor = { 0, 0, 0 };
	struct frame_key *keys = mem_alloc(review->total + 1, sizeof(*keys));
	struct journal *journal;
	struct slice line;
	struct err err;

	for (size_t i = 0; i < review->total; i++)
		keys[i] = frame_key_of(slice_of(review->rows[i].item->id));
	if (review->total > 0 &&
	    journal_open_all(log_dir, &journal, &err) == 0) {
		journal_want(journal, keys, review->total);
		while (journal_next(journal, &cursor, &line))
			note_look_at(review, line);
		journal_close(&journal);
	}
	mem_free(&keys);
}
