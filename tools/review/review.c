/* review.c - what waits for a person: rows, keys, the screen
 *
 * In     messages that were set aside; keys
 * Out    a canvas; what shall be done
 * Holds  the text of one message
 * Trusts nothing in messages: only printable text reaches the canvas
 * Spec   review.h; zmailer-review(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tools/queue/words.h"
#include "tools/review/review.h"
#include "tools/screen/terminal.h"

#include "base/banned.h"

static const char help_line[] = "R release  D delete  space mark  enter "
    "whole message  q quit";

static struct slice
domain_of(struct slice address)
{
	return slice_from(address, slice_find(address, '@'));
}

static int
compare_slices(struct slice a, struct slice b)
{
	size_t n = a.n < b.n ? a.n : b.n;
	int order = n == 0 ? 0 : memcmp(a.p, b.p, n);

	return order != 0 ? order : (a.n > b.n) - (a.n < b.n);
}

/* By area, cause, sender's domain: what is alike. */
static int
compare_kinds(const struct desk_item *a, const struct desk_item *b)
{
	int order = (a->area > b->area) - (a->area < b->area);

	if (order == 0)
		order = strcmp(a->why, b->why);
	if (order == 0)
		order = compare_slices(domain_of(a->sender),
		    domain_of(b->sender));
	return order;
}

static int
compare_rows(const void *a, const void *b)
{
	const struct desk_item *one = ((const struct review_row *)a)->item;
	const struct desk_item *two = ((const struct review_row *)b)->item;
	int order = compare_kinds(one, two);

	return order != 0 ? order : strcmp(one->id, two->id);
}

static void
count_alike(struct review *review)
{
	size_t first = 0;

	for (size_t i = 1; i <= review->count; i++) {
		if (i < review->count && compare_kinds(
			review->rows[first].item, review->rows[i].item) == 0)
			continue;
		for (size_t k = first; k < i; k++)
			review->rows[k].alike = i - first;
		first = i;
	}
}

void
review_init(struct review *review, struct desk_choice *choice)
{
	*review = (struct review){ .choice = choice, .count = choice->count,
	    .text = STR_INIT, .typed = STR_INIT };
	review->rows = mem_alloc(choice->count + 1, sizeof(*review->rows));
	for (size_t i = 0; i < choice->count; i++)
		review->rows[i].item = &choice->items[i];
	if (review->count > 1)
		qsort(review->rows, review->count, sizeof(*review->rows),
		    compare_rows);
	count_alike(review);
}

void
review_release(struct review *review)
{
	mem_free(&review->rows);
	str_release(&review->text);
	str_release(&review->typed);
}

/* ---- keys -------------------------------------------------------------- */

static void
move_cursor(struct review *review, int64_t by)
{
	int64_t to = (int64_t)review->cursor + by;

	if (to < 0 || review->count == 0)
		to = 0;
	else if (to >= (int64_t)review->count)
		to = (int64_t)review->count - 1;
	review->cursor = (size_t)to;
	review->text_top = 0;
}

static void
move_text(struct review *review, int64_t by)
{
	int64_t to = (int64_t)review->text_top + by;

	review->text_top = to < 0 ? 0 : (size_t)to;
}

static size_t
chosen(const struct review *review, bool *out_only_copy)
{
	size_t marked = 0;

	*out_only_copy = false;
	for (size_t i = 0; i < review->count; i++)
		if (review->rows[i].is_marked && !review->rows[i].is_gone) {
			marked++;
			*out_only_copy |= review->rows[i].item->area ==
			    AREA_POSTMAN && !review->rows[i].item->is_copy;
		}
	if (marked == 0 && review->cursor < review->count &&
	    !review->rows[review->cursor].is_gone) {
		const struct desk_item *item =
		    review->rows[review->cursor].item;

		marked = 1;
		*out_only_copy = item->area == AREA_POSTMAN && !item->is_copy;
	}
	return marked;
}

static void
ask(struct review *review, enum review_act act)
{
	bool is_only_copy;
	size_t count = chosen(review, &is_only_copy);

	if (count == 0) {
		snprintf(review->said, sizeof(review->said),
		    "nothing is chosen");
		return;
	}
	review->asked = act;
	str_reset(&review->typed);
	if (act == REVIEW_DELETE && is_only_copy)
		snprintf(review->said, sizeof(review->said), "%s ONLY COPY: "
		    "type the id (or the word all) and enter to delete: ",
		    count == 1 ? "This is the" : "There is an");
	else
		snprintf(review->said, sizeof(review->said), "%s %zu "
		    "message%s? y/n ", act == REVIEW_DELETE ? "Delete" :
		    "Release", count, count == 1 ? "" : "s");
}

/* A key while a question is open. */
static enum review_act
answer(struct review *review, int key)
{
	enum review_act act = review->asked;
	bool is_only_copy;
	size_t count = chosen(review, &is_only_copy);
	bool is_typed = act == REVIEW_DELETE && is_only_copy;

	if (is_typed && key > ' ' && key < 0x7f && review->typed.len < 40) {
		str_addc(&review->typed, (char)key);
		return REVIEW_NO_ACT;
	}
	if (is_typed && key == TERMINAL_BACKSPACE && review->typed.len > 0) {
		review->typed.buf[--review->typed.len] = '\0';
		return REVIEW_NO_ACT;
	}
	review->asked = REVIEW_NO_ACT;
	review->said[0] = '\0';
	if (is_typed) {
		const char *id = review->rows[review->cursor].item->id;

		if (key == TERMINAL_ENTER && (strcmp(review->typed.buf,
			"all") == 0 || (count == 1 &&
			strcmp(review->typed.buf, id) == 0)))
			return act;
	} else if (key == 'y' || key == 'Y') {
		return act;
	}
	snprintf(review->said, sizeof(review->said), "nothing was done");
	return REVIEW_NO_ACT;
}

enum review_act
review_key(struct review *review, int key, unsigned rows)
{
	int64_t page = rows > 4 ? (int64_t)rows / 2 : 1;

	if (review->asked != REVIEW_NO_ACT)
		return answer(review, key);
	if (key != TERMINAL_NOTHING)
		review->said[0] = '\0';
	if (key == 'q' || (key == TERMINAL_ESCAPE && !review->is_whole))
		return REVIEW_QUIT;
	if (key == TERMINAL_ENTER || key == TERMINAL_ESCAPE)
		review->is_whole = !review->is_whole;
	else if (key == TERMINAL_UP || key == 'k')
		review->is_whole ? move_text(review, -1) :
		    move_cursor(review, -1);
	else if (key == TERMINAL_DOWN || key == 'j')
		review->is_whole ? move_text(review, 1) :
		    move_cursor(review, 1);
	else if (key == TERMINAL_PAGE_UP)
		move_text(review, -page);
	else if (key == TERMINAL_PAGE_DOWN)
		move_text(review, page);
	else if (key == ' ' && review->cursor < review->count) {
		review->rows[review->cursor].is_marked ^= true;
		move_cursor(review, 1);
	} else if (key == 'R' || key == 'r')
		ask(review, REVIEW_RELEASE);
	else if (key == 'D' || key == 'd')
		ask(review, REVIEW_DELETE);
	else if (key == 'g')
		return REVIEW_RELOAD;
	return REVIEW_NO_ACT;
}

/* ---- the screen ---------------------------------------------------------- */

static void
row_text(const struct review *review, const struct review_row *row,
    struct str *out)
{
	const struct desk_item *item = row->item;
	struct str age = STR_INIT;

	words_add_span(&age, review->choice->now_s - item->time_s);
	str_reset(out);
	str_addf(out, "%c%-16s %-8s %6s  ", row->is_marked ? '*' : ' ',
	    item->id, spool_area_names[item->area], age.buf);
	if (item->sender.n == 0)
		str_adds(out, "<>");
	str_add_escaped(out, item->sender);
	str_adds(out, " -> ");
	str_add_escaped(out, item->first_rcpt);
	if (item->rcpt_total > 1)
		str_addf(out, " +%zu", item->rcpt_total - 1);
	str_addf(out, "  %s%s", item->why, row->is_gone ? " (done)" :
	    item->area != AREA_POSTMAN ? "" : item->is_copy ?
	    " (copy: it went on)" : " ONLY COPY");
	if (row->alike > 1)
		str_addf(out, "  [%zu alike]", row->alike);
	str_release(&age);
}

static void
draw_list(struct review *review, struct canvas *canvas, unsigned first,
    unsigned rows)
{
	struct str line = STR_INIT;

	if (review->cursor < review->top)
		review->top = review->cursor;
	if (rows > 0 && review->cursor >= review->top + rows)
		review->top = review->cursor - rows + 1;
	for (unsigned i = 0; i < rows && review->top + i < review->count;
	    i++) {
		const struct review_row *row = &review->rows[review->top + i];
		bool is_here = review->top + i == review->cursor;
		bool is_only = row->item->area == AREA_POSTMAN &&
		    !row->item->is_copy;
		enum canvas_look look = is_here ? LOOK_CURSOR : is_only ?
		    LOOK_WARN : LOOK_PLAIN;

		row_text(review, row, &line);
		if (is_here)
			canvas_row(canvas, first + i, LOOK_CURSOR);
		canvas_put(canvas, first + i, 0, look, "%c%s",
		    is_here ? '>' : ' ', line.buf);
	}
	str_release(&line);
}

static void
draw_text(struct review *review, struct canvas *canvas, unsigned first,
    unsigned rows)
{
	struct slice rest = str_slice(&review->text), line;
	size_t skipped = 0;

	while (skipped < review->text_top && slice_cut(&rest, '\n', &line))
		skipped++;
	for (unsigned i = 0; i < rows && slice_cut(&rest, '\n', &line); i++)
		canvas_put_slice(canvas, first + i, 1, LOOK_PLAIN, line);
}

void
review_draw(struct review *review, struct canvas *canvas)
{
	unsigned rows = canvas->rows;
	unsigned list = review->is_whole || rows < 10 ? 1 : rows / 2 - 2;
	bool is_asking = review->asked != REVIEW_NO_ACT;

	canvas_clear(canvas);
	canvas_row(canvas, 0, LOOK_HEAD);
	canvas_put(canvas, 0, 0, LOOK_HEAD, "zmailer review  %zu message%s "
	    "need%s a person", review->count, review->count == 1 ? "" : "s",
	    review->count == 1 ? "s" : "");
	canvas_put(canvas, 1, 0, LOOK_HEAD, "  %-16s %-8s %6s  %s", "ID",
	    "AREA", "AGE", "FROM -> TO  WHY");
	if (review->count == 0)
		canvas_put(canvas, 3, 2, LOOK_GOOD, "Nothing waits for you.");
	draw_list(review, canvas, 2, list);
	if (rows > list + 4) {
		for (unsigned i = 0; i < canvas->cols; i++)
			canvas_put(canvas, list + 2, i, LOOK_HEAD, "-");
		draw_text(review, canvas, list + 3, rows - list - 4);
	}
	canvas_put(canvas, rows - 1, 0, is_asking ? LOOK_WARN : LOOK_HEAD,
	    "%s%s", review->said[0] ? review->said : help_line,
	    is_asking ? review->typed.buf : "");
}

void
review_list(const struct review *review, bool is_json, struct str *out)
{
	struct str line = STR_INIT;

	for (size_t i = 0; i < review->count; i++) {
		if (is_json) {
			desk_add_json(out, review->rows[i].item, NULL, NULL);
			continue;
		}
		row_text(review, &review->rows[i], &line);
		str_add_slice(out, slice_from(str_slice(&line), 1));
		str_addc(out, '\n');
	}
	if (!is_json)
		str_addf(out, "%zu message%s need%s a person\n",
		    review->count, review->count == 1 ? "" : "s",
		    review->count == 1 ? "s" : "");
	str_release(&line);
}
