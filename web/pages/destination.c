/* destination.c - one destination: what it may have, what it says
 *
 * In     destinations, arrivals and orders of the scheduler; zmailer events
 *        of what failed there
 * Out    numbers, classes of answers, forms that suspend and pin
 * Spec   pages.h; doc/protocol/control.md section 4
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>

#include "base/json.h"
#include "web/pages/answered.h"
#include "web/page/html.h"
#include "web/page/table.h"

#include "base/banned.h"

enum { CLASSES_MAX = 64, NAME_BYTES_MAX = 320 };

static struct slice
destination_name(const struct visit *visit)
{
	return form_get(&visit->form, "of");
}

/* Names of destinations are of hosts and files: no glob, no quote. */
static bool
destination_is_name(struct slice name)
{
	size_t slash = slice_find(name, '/');

	if (name.n > NAME_BYTES_MAX || slash == 0 || slash + 1 >= name.n)
		return false;
	for (size_t i = 0; i < name.n; i++)
		if (name.p[i] == '*' || name.p[i] == '?' ||
		    name.p[i] == '"' || name.p[i] == '\\' ||
		    (unsigned char)name.p[i] <= ' ')
			return false;
	return true;
}

static void
destination_ask(struct visit *visit, const char *name, const char *op)
{
	struct slice of = destination_name(visit);
	size_t slash = slice_find(of, '/');
	struct question *question = visit_ask_socket(visit, name, op);

	json_text(&question->request, "channel", slice_first(of, slash));
	json_text(&question->request, "host", slice_from(of, slash + 1));
}

/* Its questions are to the scheduler of this node, and so are its forms. */
static int
destination_refuse_node(struct visit *visit)
{
	const char *words[QUESTION_WORDS_MAX];
	size_t n = 0;

	if (visit_check_where(visit) < 0)
		return -1;
	if (page_where(visit) != WHERE_NODE)
		return 0;
	visit_add_where(visit, words, &n);
	return visit_refuse(visit, arena_printf(visit->arena, "This page is "
	    "of this node: the desk of %s has that one, and zmailer queue "
	    "--node %s its numbers.", words[1], words[1]));
}

static int
destination_begin(struct visit *visit)
{
	if (destination_refuse_node(visit) < 0)
		return -1;
	if (!destination_is_name(destination_name(visit))) {
		visit->status = 404;
		str_adds(&visit->out, "That is no name of a destination.");
		return -1;
	}
	destination_ask(visit, "destination", "destinations");
	destination_ask(visit, "arrivals", "arrivals");
	(void)visit_ask_socket(visit, "orders", "orders");
	answered_ask(visit, destination_name(visit));
	return 0;
}

/* ---- numbers ------------------------------------------------------------ */

static void
destination_add_numbers(struct visit *visit, struct slice line)
{
	static const struct { const char *key, *label; } rows[] = {
		{ "state", "State" }, { "said", "Its last words" },
		{ "reason", "Reason" }, { "ready", "Ready" },
		{ "waiting", "Waiting" }, { "active", "At agents" },
		{ "parked", "Held and frozen" }, { "agents", "Agents there" },
		{ "limit", "Agents that it may have now" },
		{ "pin", "Pinned to (0: not)" },
		{ "threshold", "Agents above which it grows slowly" },
		{ "pause_ms", "Pause between messages (ms)" },
		{ "troubles", "Troubles in a row" },
		{ "throttled", "Said that we are too many or too fast" },
		{ "suspended", "Suspended by an operator" },
		{ "suspended_by_rule", "Suspended by a rule" },
		{ "provider", "Provider" },
		{ "provider_agents", "Agents at its provider" },
		{ "provider_limit", "Agents its provider may have" },
		{ "expected_s", "A message that came now would take (s)" },
	};
	static const struct table_column columns[] = { { "What", false },
	    { "Now", false } };
	struct table table;

	table_begin(&table, &visit->out, "What it may have, and what was "
	    "learned of its answers", columns, 2);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct slice value = page_member(visit->arena, line,
		    rows[i].key);

		if (value.n == 0 || slice_is(value, "-1") ||
		    (slice_starts(slice_of(rows[i].key), "provider_") &&
		    page_member(visit->arena, line, "provider").n == 0))
			continue;
		table_row_begin(&table);
		table_text(&table, slice_of(rows[i].label));
		table_text(&table, slice_is(value, "false") ? SLICE("no") :
		    slice_is(value, "true") ? SLICE("yes") : value);
	}
	table_end(&table);
}

static void
destination_add_arrivals(struct visit *visit)
{
	static const struct line_column columns[] = {
		{ "Host", "host", LINE_TEXT, NULL },
		{ "Deliveries", "arrived", LINE_NUMBER, NULL },
		{ "Half within (s)", "p50_s", LINE_NUMBER, NULL },
		{ "90 % within (s)", "p90_s", LINE_NUMBER, NULL },
		{ "99 % within (s)", "p99_s", LINE_NUMBER, NULL },
		{ "Last", "last", LINE_MOMENT, NULL },
	};
	static const struct lines lines = { .answer = "arrivals",
	    .caption = "How long mail took, of the last week",
	    .none = "Nothing was delivered there in the last week.",
	    .columns = columns, .count = 6 };

	page_add_lines(visit, &lines);
}

/* ---- classes of answers ------------------------------------------------- */

static void
destination_add_class(struct visit *visit, struct table *table,
    struct slice class, int64_t count, struct slice last)
{
	table_row_begin(table);
	table_text(table, class.n > 0 ? class : SLICE("(none)"));
	table_number(table, count);
	table_text(table, page_member(visit->arena, last, "t"));
	table_text(table, page_member(visit->arena, last, "reply"));
}

static void
destination_add_answers(struct visit *visit)
{
	static const struct table_column columns[] = { { "Class", false },
	    { "Times", true }, { "Last", false }, { "Its words", false } };
	const struct question_answer *answer = visit_answer(visit, "answers");
	struct slice rest = str_slice(&answer->text), line;
	struct slice classes[CLASSES_MAX], lasts[CLASSES_MAX];
	int64_t counts[CLASSES_MAX] = { 0 };
	struct table table;
	size_t count = 0;

	while (answer_line(&rest, &line)) {
		struct slice class = page_member(visit->arena, line, "class");
		size_t i = 0;

		while (i < count && !slice_equal(classes[i], class))
			i++;
		if (i == CLASSES_MAX)
			continue;
		count += i == count;
		classes[i] = class;
		lasts[i] = line;
		counts[i]++;
	}
	str_adds(&visit->out, "<section aria-labelledby=\"answers\"><h2 "
	    "id=\"answers\">What it answered</h2>\n");
	page_add_trouble(&visit->out, answer->kind == ANSWER_NONE ?
	    visit_answer(visit, "destination") : answer);
	if (count > 0) {
		table_begin(&table, &visit->out, "Failures by class, of the "
		    "last 2,000", columns, 4);
		for (size_t i = 0; i < count; i++)
			destination_add_class(visit, &table, classes[i],
			    counts[i], lasts[i]);
		table_end(&table);
	} else {
		str_adds(&visit->out, "<p>Nothing failed there.</p>\n");
	}
	str_adds(&visit->out, "</section>\n");
}

/* ---- orders ------------------------------------------------------------- */

static void
destination_add_form(struct visit *visit, const char *change,
    const char *button, const char *const *fields)
{
	struct str *out = &visit->out;

	str_adds(out, "<form class=\"change\" method=\"post\" "
	    "action=\"/change\">");
	html_hidden(out, "csrf", slice_of(visit->csrf));
	html_hidden(out, "do", slice_of(change));
	html_hidden(out, "whom", destination_name(visit));
	for (; fields[0] != NULL; fields += 2)
		str_addf(out, "<label>%s <input name=\"%s\" size=\"6\" "
		    "maxlength=\"20\"></label> ", fields[1], fields[0]);
	str_addf(out, "<button>%s</button></form>\n", button);
}

static void
destination_add_forms(struct visit *visit, struct slice line)
{
	static const char *const none[] = { NULL };
	static const char *const span[] = { "for", "for (2h; empty: until it "
	    "is taken back)", NULL };
	static const char *const pin[] = { "limit", "Agents", "for", "for "
	    "(2h)", NULL };

	if (json_is(line, "suspended", "true"))
		destination_add_form(visit, "resume", "Resume", none);
	else
		destination_add_form(visit, "suspend", "Suspend", span);
	destination_add_form(visit, "pin", "Pin", pin);
	if (json_get_number(line, "pin") > 0)
		destination_add_form(visit, "unpin", "Unpin", none);
	str_adds(&visit->out, "<p>What it would touch is shown before it is "
	    "done.</p>");
}

static void
destination_add_orders(struct visit *visit, struct slice line)
{
	static const struct line_column columns[] = {
		{ "Order", "order", LINE_TEXT, NULL },
		{ "Channel", "channel", LINE_TEXT, NULL },
		{ "Host", "host", LINE_TEXT, NULL },
		{ "Agents", "limit", LINE_TEXT, NULL },
		{ "Until", "until", LINE_MOMENT, NULL },
		{ "By", "by", LINE_TEXT, NULL },
		{ "Reason", "reason", LINE_TEXT, NULL },
	};
	static const struct lines lines = { .answer = "orders",
	    .caption = "Orders that are in force, about any destination",
	    .none = "No order about destinations is in force.",
	    .columns = columns, .count = 7 };

	str_adds(&visit->out, "<section aria-labelledby=\"orders\"><h2 "
	    "id=\"orders\">Orders</h2>\n");
	page_add_lines(visit, &lines);
	if (visit->may_change)
		destination_add_forms(visit, line);
	str_adds(&visit->out, "</section>\n");
}

static void
destination_show(struct visit *visit)
{
	const struct question_answer *answer = visit_answer(visit,
	    "destination");
	struct slice rest = str_slice(&answer->text), line;
	struct slice of = destination_name(visit);
	size_t slash = slice_find(of, '/');

	str_adds(&visit->out, "<p>");
	page_add_destination(&visit->out, slice_first(of, slash),
	    slice_from(of, slash + 1));
	str_adds(&visit->out, ": its mail</p>\n");
	page_add_trouble(&visit->out, answer);
	if (answer_line(&rest, &line))
		destination_add_numbers(visit, line);
	else
		line = SLICE("{}");
	destination_add_arrivals(visit);
	answered_show(visit);
	destination_add_answers(visit);
	destination_add_orders(visit, line);
}

const struct page_row page_destination = {
	.path = "/destination", .title = "Destination", .none_status = 200,
	.begin = destination_begin, .show = destination_show,
};
