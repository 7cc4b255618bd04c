/* screen.c - what waits for a person: rows, keys, the screen
 *
 * In     messages that were set aside; keys
 * Out    a canvas; what is to be done
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

#include "base/ascii.h"
#include "base/mem.h"
#include "tools/queue/words.h"
#include "tools/screen/terminal.h"
#include "tools/zmailer/review/review.h"

#include "base/banned.h"

static const char help_line[] = "R release A +allow X bounce D delete "
    "F forward N note / filter space mark q quit";

/* What is asked before each act, and whether words are wanted. */
static const struct {
	const char	*question;
	bool		 has_words, may_be_empty;
} acts[] = {
	[REVIEW_RELEASE] = { "Release", false, false },
	[REVIEW_ALLOW] = { "Release, and accept the sender from now on,",
	    false, false },
	[REVIEW_DELETE] = { "Delete", false, false },
	[REVIEW_BOUNCE] = { "Bounce %zu: reason for the sender: ", true,
	    true },
	[REVIEW_FORWARD] = { "Forward %zu to: ", true, false },
	[REVIEW_NOTE] = { "Note beside %zu: ", true, false },
	[REVIEW_FILTER] = { "Show only rows with: ", true, true },
};
enum { TYPED_MAX = 200 };

static struct slice
review_domain_of(struct slice address)
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
compare_kinds(const struct selection_item *a, const struct selection_item *b)
{
	int order = (a->area > b->area) - (a->area < b->area);

	if (order == 0)
		order = strcmp(a->why, b->why);
	if (order == 0)
		order = compare_slices(a->reason, b->reason);
	if (order == 0)
		order = compare_slices(review_domain_of(a->sender),
		    review_domain_of(b->sender));
	return order;
}

static int
compare_rows(const void *a, const void *b)
{
	const struct selection_item *one = ((const struct review_row *)a)->item;
	const struct selection_item *two = ((const struct review_row *)b)->item;
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
review_init(struct review *review, struct selection_choice *choice)
{
	*review = (struct review){ .choice = choice, .count = choice->count,
	    .total = choice->count, .text = STR_INIT, .typed = STR_INIT,
	    .filter = STR_INIT };
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
	str_release(&review->filter);
}

/* ---- a row, and the rows that are shown --------------------------------- */

static void
row_text(const struct review *review, const struct review_row *row,
    struct str *out)
{
	const struct selection_item *item = row->item;
	struct str age = STR_INIT;

	words_add_span(&age, review->choice->now_s - item->time_s);
	str_reset(out);
	str_addf(out, "%c%-16s %-8s %6s  ", row->is_marked ? '*' : ' ',
	    item->id, spool_area_names[item->area], age.buf);
	if (row->is_gone)
		str_adds(out, "(done) ");
	else if (row->alike > 1)
		str_addf(out, "%zux ", row->alike);
	if (item->sender.n == 0)
		str_adds(out, "<>");
	str_add_escaped(out, item->sender);
	str_adds(out, " -> ");
	str_add_escaped(out, item->first_rcpt);
	if (item->rcpt_total > 1)
		str_addf(out, " +%zu", item->rcpt_total - 1);
	str_adds(out, "  ");
	view_add_why(out, item->reason, item->why);
	str_addf(out, "%s", row->is_gone ||
	    item->area != AREA_POSTMAN ? "" : item->is_copy ?
	    " (copy: it went on)" : " ONLY COPY");
	str_release(&age);
}

static bool
row_has(const struct review *review, const struct review_row *row)
{
	struct str line = STR_INIT;
	bool has;

	row_text(review, row, &line);
	has = strcasestr(line.buf, review->filter.buf) != NULL;
	str_release(&line);
	return has;
}

/* Show rows that have this in what they say, without case; "" is all.  Marks
 * of others are taken back.  Those that fit go to the front, in their order;
 * the order of all comes back with the rows' own. */
static void
review_filter(struct review *review, const char *part)
{
	struct review_row *rows = mem_alloc(review->total + 1, sizeof(*rows));
	size_t count = 0, others = 0;

	str_reset(&review->filter);
	str_adds(&review->filter, part);
	if (review->total > 1)
		qsort(review->rows, review->total, sizeof(*review->rows),
		    compare_rows);
	for (size_t i = 0; i < review->total; i++)
		if (*part == '\0' || row_has(review, &review->rows[i]))
			review->rows[count++] = review->rows[i];
		else
			rows[others++] = review->rows[i];
	for (size_t i = 0; i < others; i++) {
		rows[i].is_marked = false;
		review->rows[count + i] = rows[i];
	}
	mem_free(&rows);
	review->count = count;
	review->cursor = review->top = review->text_top = 0;
	review->text_of = NULL;
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
screen_chosen(const struct review *review, bool *out_only_copy)
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
		const struct selection_item *item =
		    review->rows[review->cursor].item;

		marked = 1;
		*out_only_copy = item->area == AREA_POSTMAN && !item->is_copy;
	}
	return marked;
}

static void
review_ask(struct review *review, enum review_act act)
{
	bool is_only_copy;
	size_t count = screen_chosen(review, &is_only_copy);
	char *said = review->said;

	if (count == 0 && act != REVIEW_FILTER) {
		snprintf(said, sizeof(review->said), "nothing is chosen");
		return;
	}
	review->asked = act;
	str_reset(&review->typed);
	if (act == REVIEW_DELETE && is_only_copy)
		snprintf(said, sizeof(review->said), "%s ONLY COPY: "
		    "type the id (or the word all) and enter to delete: ",
		    count == 1 ? "This is the" : "There is an");
	else if (acts[act].has_words)
		snprintf(said, sizeof(review->said), acts[act].question,
		    count);
	else
		snprintf(said, sizeof(review->said), "%s %zu message%s? y/n ",
		    acts[act].question, count, count == 1 ? "" : "s");
}

/* The words are complete: are they the right ones? */
static bool
words_are_good(const struct review *review, size_t count)
{
	const struct str *typed = &review->typed;

	if (review->asked != REVIEW_DELETE)
		return typed->len > 0 || acts[review->asked].may_be_empty;
	return strcmp(typed->buf, "all") == 0 || (count == 1 &&
	    strcmp(typed->buf, review->rows[review->cursor].item->id) == 0);
}

/* A key while a question is open. */
static enum review_act
review_answer(struct review *review, int key)
{
	enum review_act act = review->asked;
	bool is_only_copy, is_good;
	size_t count = screen_chosen(review, &is_only_copy);
	bool is_typed = acts[act].has_words ||
	    (act == REVIEW_DELETE && is_only_copy);

	if (is_typed && key >= ' ' && key < 0x7f) {
		if (review->typed.len < TYPED_MAX)
			str_addc(&review->typed, (char)key);
		return REVIEW_NO_ACT;
	}
	if (is_typed && key == TERMINAL_BACKSPACE && review->typed.len > 0) {
		review->typed.buf[--review->typed.len] = '\0';
		return REVIEW_NO_ACT;
	}
	is_good = is_typed ? key == TERMINAL_ENTER &&
	    words_are_good(review, count) : key == 'y' || key == 'Y';
	review->asked = REVIEW_NO_ACT;
	review->said[0] = '\0';
	if (is_good && act == REVIEW_FILTER) {
		review_filter(review, review->typed.buf);
		return REVIEW_NO_ACT;
	}
	if (is_good)
		return act;
	snprintf(review->said, sizeof(review->said), "nothing was done");
	return REVIEW_NO_ACT;
}

/* Keys that ask for an act. */
static enum review_act
act_of(int key)
{
	static const struct { int key; enum review_act act; } keys[] = {
		{ 'r', REVIEW_RELEASE }, { 'a', REVIEW_ALLOW },
		{ 'd', REVIEW_DELETE }, { 'x', REVIEW_BOUNCE },
		{ 'f', REVIEW_FORWARD }, { 'n', REVIEW_NOTE },
		{ '/', REVIEW_FILTER },
	};

	if (key > 0 && key < 128)
		key = ascii_lower((char)key);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (keys[i].key == key)
			return keys[i].act;
	return REVIEW_NO_ACT;
}

enum review_act
review_key(struct review *review, int key, unsigned rows)
{
	int64_t page = rows > 4 ? (int64_t)rows / 2 : 1;

	if (review->asked != REVIEW_NO_ACT)
		return review_answer(review, key);
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
	} else if (act_of(key) != REVIEW_NO_ACT)
		review_ask(review, act_of(key));
	else if (key == 'g')
		return REVIEW_RELOAD;
	return REVIEW_NO_ACT;
}

/* ---- the screen ---------------------------------------------------------- */

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
	    "need%s a person", review->total, review->total == 1 ? "" : "s",
	    review->total == 1 ? "s" : "");
	if (review->filter.len > 0)
		canvas_put(canvas, 0, 46, LOOK_WARN, "/%s: %zu shown",
		    review->filter.buf, review->count);
	canvas_put(canvas, 1, 0, LOOK_HEAD, "  %-16s %-8s %6s  %s", "ID",
	    "AREA", "AGE", "FROM -> TO  WHY");
	if (review->total == 0)
		canvas_put(canvas, 3, 2, LOOK_GOOD, "Nothing waits for you.");
	else if (review->count == 0)
		canvas_put(canvas, 3, 2, LOOK_GOOD, "No row has that: / and "
		    "enter shows all.");
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
			selection_add_json(out, review->rows[i].item, NULL,
			    NULL);
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
