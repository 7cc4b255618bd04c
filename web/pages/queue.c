/* queue.c - messages that a selector means, a page of them
 *
 * In     zmailer list --json of the words in the box
 * Out    a table, a form of orders, the way to the next page
 * Spec   pages.h; zmailer-list(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>

#include "base/json.h"
#include "web/pages/pages.h"
#include "web/page/html.h"
#include "web/page/table.h"

#include "base/banned.h"

enum { RCPTS_SHOWN = 3 };

static const struct table_column queue_columns[] = {
	{ "Choose", false }, { "Message", false }, { "Age", true },
	{ "Size", true }, { "State", false }, { "From", false },
	{ "To", false }, { "Why", false }, { "Node", false },
};
enum { QUEUE_COLUMNS = sizeof(queue_columns) / sizeof(queue_columns[0]) };

static int
queue_begin(struct visit *visit)
{
	struct slice typed = slice_trim(form_get(&visit->form, "q"));
	struct slice after = form_get(&visit->form, "after");
	const char *words[QUESTION_WORDS_MAX] = { "list", "--json",
	    "--limit", "50" };
	size_t n = 4;

	if (after.n > 0 && !page_is_id(after)) {
		visit->status = 400;
		str_adds(&visit->out, "after: no id of a message");
		return -1;
	}
	if (after.n > 0) {
		words[n++] = "--after";
		words[n++] = slice_dup(visit->arena, after);
	}
	if (visit_check_where(visit) < 0)
		return -1;
	visit_add_where(visit, words, &n);
	if (typed.n > 0) {
		words[n++] = "--";
		words[n++] = slice_dup(visit->arena, typed);
	}
	visit_ask_verb(visit, "list", words);
	saved_ask(visit);
	return 0;
}

/* What keeps it: its last words, or why it lies there. */
static void
queue_add_why(struct visit *visit, struct slice line)
{
	struct slice reply = page_member(visit->arena, line, "reply");
	struct slice reason = page_member(visit->arena, line, "reason");
	struct slice trouble = page_member(visit->arena, line, "trouble");
	struct slice who = page_member(visit->arena, line, "who");

	if (reply.n > 0 && who.n > 0) {
		html_text(&visit->out, who);
		str_adds(&visit->out, ": ");
	}
	html_text(&visit->out, trouble.n > 0 ? trouble : reply.n > 0 ?
	    reply : reason.n > 0 ? reason :
	    page_member(visit->arena, line, "why"));
}

static void
queue_add_message(struct visit *visit, struct table *table,
    struct slice line)
{
	struct slice id = page_member(visit->arena, line, "id");
	struct slice from = page_member(visit->arena, line, "from");
	struct str *out = &visit->out;

	table_row_begin(table);
	table_cell(table);
	if (page_is_id(id))
		page_add_tick(visit, id);
	table_cell_end(table);
	table_cell(table);
	if (page_is_id(id)) {
		page_add_message_link(visit, id, page_member(visit->arena,
		    line, "node"));
	} else {
		html_text(out, page_member(visit->arena, line, "file"));
	}
	table_cell_end(table);
	table_cell(table);
	page_add_span(out, visit->now_s - json_get_number(line, "time"));
	table_cell_end(table);
	table_cell(table);
	page_add_size(out, json_get_number(line, "size"));
	table_cell_end(table);
	table_text(table, page_member(visit->arena, line, "state"));
	table_text(table, from.n > 0 ? from : SLICE("<>"));
}

/* Its recipients are the lines that follow with the same file.  returns the
 * first line of the next message; n 0: none. */
static struct slice
queue_add_rcpts(struct visit *visit, struct table *table, struct slice first,
    struct slice *rest)
{
	struct slice file = page_member(visit->arena, first, "file");
	struct slice id = page_member(visit->arena, first, "id");
	struct slice line = first;
	size_t count = 0;
	bool is_more = true;

	table_cell(table);
	while (is_more && slice_equal(file, page_member(visit->arena, line,
	    "file")) && slice_equal(id, page_member(visit->arena, line,
	    "id"))) {
		if (count > 0 && count < RCPTS_SHOWN)
			str_adds(&visit->out, "<br>");
		if (count++ < RCPTS_SHOWN)
			html_text(&visit->out, page_member(visit->arena, line,
			    "to"));
		is_more = answer_line(rest, &line);
	}
	if (count > RCPTS_SHOWN)
		str_addf(&visit->out, "<br>and %zu more",
		    count - RCPTS_SHOWN);
	table_cell_end(table);
	table_cell(table);
	queue_add_why(visit, first);
	table_cell_end(table);
	if (page_where(visit) == WHERE_CLUSTER)
		table_text(table, page_member(visit->arena, first, "node"));
	return is_more ? line : SLICE("");
}

/* The rows; *out_next is where the next page begins.  returns how many. */
static size_t
queue_add_rows(struct visit *visit, struct table *table,
    struct slice *out_next)
{
	struct slice rest = str_slice(&visit_answer(visit, "list")->text);
	struct slice line = SLICE("");
	size_t count = 0;

	if (!answer_line(&rest, &line))
		return 0;
	while (line.n > 0) {
		if (page_member(visit->arena, line, "id").n == 0) {
			*out_next = page_member(visit->arena, line, "next");
			if (!answer_line(&rest, &line))
				break;
			continue;
		}
		queue_add_message(visit, table, line);
		line = queue_add_rcpts(visit, table, line, &rest);
		count++;
	}
	return count;
}

static void
queue_add_next(struct visit *visit, struct slice next)
{
	struct slice typed = slice_trim(form_get(&visit->form, "q"));

	if (next.n == 0)
		return;
	str_adds(&visit->out, "<p><a rel=\"next\" href=\"/queue?after=");
	html_url(&visit->out, next);
	if (typed.n > 0) {
		str_adds(&visit->out, "&amp;q=");
		html_url(&visit->out, typed);
	}
	page_add_where_query(visit, "&amp;", &visit->out);
	str_addf(&visit->out, "\">The next %d</a></p>\n",
	    QUEUE_PAGE_MESSAGES);
}

static void
queue_show(struct visit *visit)
{
	static const char *const verbs[] = { "hold", "release", "retry",
	    "reroute", "bounce", "delete", NULL };
	const struct question_answer *answer = visit_answer(visit, "list");
	struct slice typed = slice_trim(form_get(&visit->form, "q"));
	struct slice next = SLICE("");
	struct str *out = &visit->out;
	struct table table;
	size_t count;

	if (!visit->is_help && page_where(visit) == WHERE_HERE)
		page_add_live(out);
	page_add_places(visit, "/queue");
	page_add_search(visit, "/queue", typed, str_slice(&answer->text));
	saved_show(visit, typed);
	page_add_trouble(out, answer);
	page_begin_orders(visit);
	if (visit->may_order) {
		html_hidden(out, "q", typed);
		page_add_where_hidden(visit);
	}
	table_begin(&table, out, typed.n > 0 ? "Messages that match, oldest "
	    "first" : "All messages, oldest first", queue_columns,
	    page_where(visit) == WHERE_CLUSTER ? QUEUE_COLUMNS :
	    QUEUE_COLUMNS - 1);
	count = queue_add_rows(visit, &table, &next);
	table_end(&table);
	if (count == 0 && (answer->kind == ANSWER_GOOD ||
	    answer->kind == ANSWER_NONE))
		str_adds(out, "<p>No message is here.</p>\n");
	queue_add_next(visit, next);
	if (count > 0 && visit->may_order)
		str_adds(out, "<p><label><input type=\"checkbox\" "
		    "name=\"every\" value=\"1\"> every message that matches, "
		    "on all pages</label></p>\n");
	page_end_orders(visit, count > 0 ? verbs : NULL);
	page_add_search_words(out);
}

const struct page_row page_queue = {
	.path = "/queue", .title = "Queue", .none_status = 200,
	.begin = queue_begin, .show = queue_show,
};
