/* review.c - what waits for a person in freezer/, postman/ and deferred/
 *
 * In     zmailer review --list --json of the words in the box
 * Out    a table with the rule of each, a form of orders
 * Spec   pages.h; zmailer-review(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>

#include "base/json.h"
#include "web/pages/pages.h"
#include "web/page/html.h"
#include "web/page/table.h"

#include "base/banned.h"

#define REVIEW_AREAS "area:freezer or area:postman or area:deferred"

static int
review_begin(struct visit *visit)
{
	struct slice typed = slice_trim(form_get(&visit->form, "q"));
	const char *words[QUESTION_WORDS_MAX] = { "review", "--list",
	    "--json" };

	if (typed.n > 0) {
		words[3] = "--";
		words[4] = slice_dup(visit->arena, typed);
	}
	visit_ask_verb(visit, "review", words);
	return 0;
}

/* The cause: the rule's words, or those of the file's name. */
static struct slice
review_cause(struct visit *visit, struct slice line)
{
	struct slice reason = page_member(visit->arena, line, "reason");

	return reason.n > 0 ? reason : page_member(visit->arena, line, "why");
}

static void
review_add_row(struct visit *visit, struct table *table, struct slice line)
{
	struct slice id = page_member(visit->arena, line, "id");
	struct slice from = page_member(visit->arena, line, "from");
	int64_t rcpts = json_get_number(line, "rcpts");
	struct str *out = &visit->out;

	table_row_begin(table);
	table_cell(table);
	if (page_is_id(id)) {
		page_add_tick(visit, id);
		str_adds(out, "<a");
		html_link(out, "/message/", id, NULL, SLICE(""));
		str_addc(out, '>');
		html_text(out, id);
		str_adds(out, "</a>");
	}
	table_cell_end(table);
	table_text(table, page_member(visit->arena, line, "area"));
	table_cell(table);
	page_add_span(out, visit->now_s - json_get_number(line, "time"));
	table_cell_end(table);
	table_text(table, from.n > 0 ? from : SLICE("<>"));
	table_cell(table);
	html_text(out, page_member(visit->arena, line, "to"));
	if (rcpts > 1)
		str_addf(out, " and %" PRId64 " more", rcpts - 1);
	table_cell_end(table);
	table_text(table, review_cause(visit, line));
}

/* ---- similar ones ------------------------------------------------------- */

static struct slice
review_domain(struct visit *visit, struct slice line)
{
	struct slice from = page_member(visit->arena, line, "from");

	return slice_from(from, slice_find(from, '@'));
}

/* They stand together in the answer. */
static bool
review_is_similar(struct visit *visit, struct slice a, struct slice b)
{
	return slice_equal(review_cause(visit, a), review_cause(visit, b)) &&
	    slice_equal(page_member(visit->arena, a, "area"),
	    page_member(visit->arena, b, "area")) &&
	    slice_equal(review_domain(visit, a), review_domain(visit, b));
}

/* How many from the front of rest are as line. */
static size_t
review_count_similar(struct visit *visit, struct slice line,
    struct slice rest)
{
	struct slice next;
	size_t count = 1;

	while (answer_line(&rest, &next) && review_is_similar(visit, line,
	    next))
		count++;
	return count;
}

/* The selector of these leads to a page of them, where all can be meant. */
static void
review_add_group(struct visit *visit, struct table *table, struct slice line,
    size_t count)
{
	struct slice domain = review_domain(visit, line);
	struct str selector = STR_INIT;

	str_addf(&selector, "area:" SLICE_FMT " from:", SLICE_ARG(page_member(
	    visit->arena, line, "area")));
	if (domain.n > 0 && slice_find(domain, '"') == domain.n)
		str_addf(&selector, "\"" SLICE_FMT "\"", SLICE_ARG(domain));
	else
		str_adds(&selector, "<>");
	table_group(table);
	str_addf(&visit->out, "%zu alike ", count);
	if (domain.n > 0)
		html_text(&visit->out, domain);
	str_adds(&visit->out, ": ");
	html_text(&visit->out, review_cause(visit, line));
	str_adds(&visit->out, " <a");
	html_link(&visit->out, "/review", SLICE(""), "q",
	    str_slice(&selector));
	str_adds(&visit->out, ">show only these</a>");
	table_group_end(table);
	str_release(&selector);
}

static size_t
review_add_rows(struct visit *visit, struct table *table)
{
	struct slice rest = str_slice(&visit_answer(visit, "review")->text);
	struct slice line;
	size_t count = 0, alike = 0;

	while (answer_line(&rest, &line)) {
		if (count++ >= REVIEW_MESSAGES_MAX)
			continue;
		if (alike == 0) {
			alike = review_count_similar(visit, line, rest);
			if (alike > 1)
				review_add_group(visit, table, line, alike);
		}
		alike--;
		review_add_row(visit, table, line);
	}
	return count;
}

/* Of what is typed only that which was set aside: the order is of no other
 * mail. */
static void
review_add_every(struct visit *visit, struct slice typed)
{
	struct str *out = &visit->out;

	str_adds(out, "<input type=\"hidden\" name=\"q\"");
	html_attribute(out, "value", typed.n == 0 ? SLICE(REVIEW_AREAS) :
	    slice_of(arena_printf(visit->arena, "(" REVIEW_AREAS ") (" SLICE_FMT
	    ")", SLICE_ARG(typed))));
	str_adds(out, "><p><label><input type=\"checkbox\" name=\"every\" "
	    "value=\"1\"> every one that matches</label></p>\n");
}

static void
review_show(struct visit *visit)
{
	static const struct table_column columns[] = {
		{ "Message", false }, { "Lies in", false }, { "Age", true },
		{ "From", false }, { "To", false }, { "Because", false },
	};
	static const char *const verbs[] = { "release", "allow", "forward",
	    "note", "bounce", "delete", NULL };
	struct slice typed = slice_trim(form_get(&visit->form, "q"));
	struct str *out = &visit->out;
	struct table table;
	size_t count;

	page_add_search(visit, "/review", typed);
	page_add_trouble(out, visit_answer(visit, "review"));
	page_begin_orders(visit);
	table_begin(&table, out, "Messages that were set aside", columns, 6);
	count = review_add_rows(visit, &table);
	table_end(&table);
	if (count == 0)
		str_adds(out, "<p>Nothing waits for a person.</p>\n");
	if (count > REVIEW_MESSAGES_MAX)
		str_addf(out, "<p>And %zu more: say which in the box.</p>\n",
		    count - REVIEW_MESSAGES_MAX);
	if (count > 0 && visit->may_order)
		review_add_every(visit, typed);
	page_end_orders(visit, count > 0 ? verbs : NULL);
	page_add_search_words(out);
}

const struct page_row page_review = {
	.path = "/review", .title = "Review", .none_status = 200,
	.begin = review_begin, .show = review_show,
};
