/* message.c - one message: its recipients, why each waits, its life
 *
 * In     zmailer list, trace and show of its id; why of the scheduler
 * Out    tables, sentences; its header when it is asked for
 * Spec   pages.h; doc/protocol/control.md section 4, why
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>

#include "base/json.h"
#include "mail/cause.h"
#include "web/pages/parts.h"
#include "web/page/html.h"
#include "web/page/table.h"

#include "base/banned.h"

/* Is this more of it asked for? */
static bool
message_shows(const struct visit *visit, const char *what)
{
	return slice_is(form_get(&visit->form, "show"), what);
}

/* Why and its life, of a node that has it. */
static void
message_ask_node(struct visit *visit, const char *id)
{
	const char *why[QUESTION_WORDS_MAX] = { "why", "--json" };
	size_t n = 2;

	visit_add_where(visit, why, &n);
	why[n++] = "--";
	why[n++] = id;
	visit_ask_verb(visit, "why", why);
	message_ask_life(visit);
}

static int
message_questions(struct visit *visit)
{
	const char *id = slice_dup(visit->arena, visit->rest);
	const char *list[QUESTION_WORDS_MAX] = { "list", "--json", "--limit",
	    "50" };
	const char *show[] = { "show", "--", id, NULL };
	struct question *why;
	size_t n = 4;

	if (visit_check_where(visit) < 0)
		return -1;
	if (!page_is_id(visit->rest)) {
		visit->status = 404;
		str_adds(&visit->out, "That is no id of a message.");
		return -1;
	}
	visit_add_where(visit, list, &n);
	list[n++] = "--";
	list[n++] = arena_printf(visit->arena, "id:%s", id);
	visit_ask_verb(visit, "list", list);
	if (page_where(visit) != WHERE_HERE) {
		message_ask_node(visit, id);
		return 0;
	}
	why = visit_ask_socket(visit, "why", "why");
	json_text(&why->request, "id", visit->rest);
	message_ask_life(visit);
	if (visit->is_json)
		return 0;
	if (message_shows(visit, "header"))
		visit_ask_text(visit, "show", show);
	else if (message_shows(visit, "text"))
		message_ask_text(visit);
	return 0;
}

static void
message_add_term(struct str *out, const char *term, struct slice value)
{
	if (value.n == 0)
		return;
	str_addf(out, "<dt>%s</dt>", term);
	html_element(out, "dd", value);
	str_addc(out, '\n');
}

static void
message_add_facts(struct visit *visit, struct slice line)
{
	struct slice from = page_member(visit->arena, line, "from");
	struct str *out = &visit->out;

	str_adds(out, "<dl>");
	message_add_term(out, "From", from.n > 0 ? from : SLICE("<>"));
	message_add_term(out, "Lies in", page_member(visit->arena, line,
	    "area"));
	message_add_term(out, "File", page_member(visit->arena, line,
	    "file"));
	message_add_term(out, "Because", page_member(visit->arena, line,
	    "reason"));
	message_add_term(out, "Trouble", page_member(visit->arena, line,
	    "trouble"));
	str_adds(out, "<dt>Size</dt><dd>");
	page_add_size(out, json_get_number(line, "size"));
	str_adds(out, "</dd>\n<dt>Arrived</dt><dd>");
	page_add_moment(out, json_get_number(line, "time"), visit->now_s);
	str_adds(out, "</dd></dl>\n");
}

static void
message_add_rcpt(struct visit *visit, struct table *table, struct slice line)
{
	struct slice host = page_member(visit->arena, line, "host");
	int64_t next_s = json_get_number(line, "next");
	struct str *out = &visit->out;

	table_row_begin(table);
	table_text(table, page_member(visit->arena, line, "to"));
	table_text(table, page_member(visit->arena, line, "state"));
	table_cell(table);
	if (host.n > 0)
		page_add_destination(out, page_member(visit->arena, line,
		    "channel"), host);
	table_cell_end(table);
	table_number(table, json_get_number(line, "tries"));
	table_cell(table);
	if (next_s > 0)
		page_add_moment(out, next_s, visit->now_s);
	table_cell_end(table);
	table_cell(table);
	html_text(out, page_member(visit->arena, line, "who"));
	str_addc(out, ' ');
	html_text(out, page_member(visit->arena, line, "reply"));
	table_cell_end(table);
}

static void
message_add_rcpts(struct visit *visit)
{
	static const struct table_column columns[] = {
		{ "Recipient", false }, { "State", false },
		{ "Destination", false }, { "Tries", true },
		{ "Next try", false }, { "Last words", false },
	};
	const struct question_answer *answer = visit_answer(visit, "list");
	struct slice rest = str_slice(&answer->text), line;
	struct table table;
	bool is_first = true;

	page_add_trouble(&visit->out, answer);
	while (answer_line(&rest, &line)) {
		if (!slice_equal(page_member(visit->arena, line, "id"),
		    visit->rest))
			continue;
		if (is_first) {
			message_add_facts(visit, line);
			table_begin(&table, &visit->out, "Its recipients",
			    columns, 6);
		}
		is_first = false;
		message_add_rcpt(visit, &table, line);
	}
	if (!is_first)
		table_end(&table);
	else
		str_adds(&visit->out, "<p>It is not in the spool.</p>\n");
}

/* ---- why ---------------------------------------------------------------- */

static void
message_add_cause(struct visit *visit, struct slice line)
{
	struct slice code = page_member(visit->arena, line, "code");
	const struct cause_row *row = cause_find(code);
	struct slice reason = page_member(visit->arena, line, "reason");
	struct slice by = page_member(visit->arena, line, "by");
	struct slice setting = page_member(visit->arena, line, "setting");
	struct str *out = &visit->out;

	html_text(out, row != NULL ? slice_of(row->text) : code);
	if (json_get_number(line, "limit") > 0)
		str_addf(out, " (%" PRId64 " of %" PRId64 ")",
		    json_get_number(line, "used"),
		    json_get_number(line, "limit"));
	if (reason.n > 0) {
		str_adds(out, ": ");
		html_text(out, reason);
	}
	if (by.n > 0) {
		str_adds(out, ", by ");
		html_text(out, by);
	}
	if (setting.n > 0) {
		str_adds(out, "; set by <code>");
		html_text(out, setting);
		str_adds(out, "</code> (");
		html_text(out, page_member(visit->arena, line, "place"));
		str_adds(out, ")");
	}
}

static void
message_add_when(struct visit *visit, struct slice line, const char *key)
{
	int64_t at_s = json_get_number(line, key);

	if (at_s > 0)
		page_add_moment(&visit->out, at_s, visit->now_s);
	else
		str_adds(&visit->out, "not before something is done");
}

static void
message_add_help(struct visit *visit, struct slice line)
{
	const struct cause_row *row = cause_find(page_member(visit->arena,
	    line, "code"));
	struct str help = STR_INIT;

	if (row == NULL || row->help == NULL)
		return;
	cause_add_help(row, visit->rest, page_member(visit->arena, line,
	    "channel"), page_member(visit->arena, line, "host"), &help);
	html_element(&visit->out, "code", str_slice(&help));
	str_release(&help);
}

static void
message_add_why(struct visit *visit)
{
	static const struct table_column columns[] = {
		{ "Recipient", false }, { "What keeps it", false },
		{ "Next try", false }, { "Given up", false },
		{ "What helps", false },
	};
	const struct question_answer *answer = visit_answer(visit, "why");
	struct slice rest = str_slice(&answer->text), line;
	struct str *out = &visit->out;
	struct table table;

	if (answer->text.len == 0)
		return;
	str_adds(out, "<section aria-labelledby=\"why\"><h2 id=\"why\">Why it "
	    "waits</h2>\n");
	table_begin(&table, out, "What keeps each recipient", columns, 5);
	while (answer_line(&rest, &line)) {
		table_row_begin(&table);
		table_text(&table, page_member(visit->arena, line, "to"));
		table_cell(&table);
		message_add_cause(visit, line);
		table_cell_end(&table);
		table_cell(&table);
		message_add_when(visit, line, "next");
		table_cell_end(&table);
		table_cell(&table);
		message_add_when(visit, line, "expires");
		table_cell_end(&table);
		table_cell(&table);
		message_add_help(visit, line);
		table_cell_end(&table);
	}
	table_end(&table);
	str_adds(out, "</section>\n");
}

/* ---- the rest ----------------------------------------------------------- */

static void
message_add_link(struct visit *visit, const char *what, const char *words)
{
	str_adds(&visit->out, "<a");
	html_link(&visit->out, "/message/", visit->rest, "show",
	    slice_of(what));
	str_addf(&visit->out, ">%s</a>, ", words);
}

static void
message_add_content(struct visit *visit)
{
	struct str *out = &visit->out;

	if (message_shows(visit, "header")) {
		str_adds(out, "<section aria-labelledby=\"header\">"
		    "<h2 id=\"header\">Envelope and header</h2>\n");
		html_block(out, slice_trim(str_slice(&visit_answer(visit,
		    "show")->text)));
		str_adds(out, "</section>\n");
	} else if (message_shows(visit, "text")) {
		message_add_text(visit);
	}
	str_adds(out, "<p>");
	message_add_link(visit, "header", "Show its header");
	message_add_link(visit, "text", "Show what it says");
	str_adds(out, "<a");
	html_link(out, "/raw/", visit->rest, NULL, SLICE(""));
	str_adds(out, ">Keep it as a file</a></p>\n");
}

static void
message_add_orders(struct visit *visit)
{
	static const char *const waits[] = { "hold", "release", "retry",
	    "reroute", "learn-spam", "learn-ham", "bounce", "delete", NULL };
	/* learn takes no --node */
	static const char *const waits_there[] = { "hold", "release", "retry",
	    "reroute", "bounce", "delete", NULL };
	static const char *const trashed[] = { "undelete", NULL };
	struct slice rest = str_slice(&visit_answer(visit, "list")->text);
	struct slice line = SLICE("");
	bool is_trash = answer_line(&rest, &line) &&
	    json_is(line, "area", "trash");

	page_begin_orders(visit);
	if (visit->may_order) {
		html_hidden(&visit->out, "id", visit->rest);
		page_add_where_hidden(visit);
	}
	page_end_orders(visit, is_trash ? trashed :
	    page_where(visit) == WHERE_HERE ? waits : waits_there);
}

/* Mail that is gone has a life in the journal; what has neither is none. */
static void
message_show(struct visit *visit)
{
	bool is_here = visit_answer(visit, "list")->text.len > 0;

	if (!is_here && visit_answer(visit, "trace")->text.len > 0)
		visit->status = 200;
	str_adds(&visit->out, "<p class=\"id\">");
	html_text(&visit->out, visit->rest);
	str_adds(&visit->out, "</p>\n");
	message_add_rcpts(visit);
	message_add_why(visit);
	if (is_here)
		message_add_orders(visit);
	message_add_life(visit);
	if (is_here && page_where(visit) == WHERE_HERE)
		message_add_content(visit);
	else if (is_here)
		str_adds(&visit->out, "<p>What it says is shown by the desk of "
		    "its own node.</p>\n");
}

const struct page_row page_message = {
	.path = "/message/", .title = "Message", .none_status = 404,
	.begin = message_questions, .show = message_show,
};
