/* destinations.c - where mail goes, and how each does
 *
 * In     destinations of the scheduler
 * Out    a table, those in trouble first
 * Spec   pages.h; doc/protocol/control.md section 4, destinations
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>

#include "base/json.h"
#include "web/pages/past.h"
#include "web/page/html.h"
#include "web/page/table.h"

#include "base/banned.h"

enum { DESTINATIONS_SHOWN = 500 };

static int
destinations_begin(struct visit *visit)
{
	const char *words[QUESTION_WORDS_MAX] = { "queue", "--json" };
	size_t n = 2;

	if (visit_check_where(visit) < 0)
		return -1;
	if (page_where(visit) != WHERE_HERE) {
		visit_add_where(visit, words, &n);
		visit_ask_verb(visit, "destinations", words);
		return 0;
	}
	(void)visit_ask_socket(visit, "destinations", "destinations");
	(void)visit_ask_socket(visit, "orders", "orders");
	past_ask(visit);
	return 0;
}

static bool
destination_is_troubled(struct slice line)
{
	return json_is(line, "state", "down") ||
	    json_is(line, "state", "suspended") ||
	    json_is(line, "state", "throttled");
}

static void
destination_add_words(struct visit *visit, struct slice line)
{
	struct slice reason = page_member(visit->arena, line, "reason");
	struct slice said = page_member(visit->arena, line, "said");

	html_text(&visit->out, said.n > 0 ? said : reason);
}

static void
destination_add_name(struct visit *visit, struct slice line)
{
	struct slice name = slice_of(arena_printf(visit->arena, SLICE_FMT "/"
	    SLICE_FMT, SLICE_ARG(page_member(visit->arena, line, "channel")),
	    SLICE_ARG(page_member(visit->arena, line, "host"))));

	/* its page is of this node */
	if (page_where(visit) != WHERE_HERE) {
		html_text(&visit->out, name);
		return;
	}
	str_adds(&visit->out, "<a");
	html_link(&visit->out, "/destination", SLICE(""), "of", name);
	str_addc(&visit->out, '>');
	html_text(&visit->out, name);
	str_adds(&visit->out, "</a>");
}

/* Drained or not, and the button that changes it. */
static void
destinations_add_drain(struct visit *visit)
{
	struct slice rest = str_slice(&visit_answer(visit, "orders")->text);
	struct slice line;
	bool is_drained = false;

	if (visit_answer(visit, "orders")->kind != ANSWER_GOOD)
		return;
	while (!is_drained && answer_line(&rest, &line))
		is_drained = json_is(line, "order", "drain");
	str_adds(&visit->out, is_drained ? "<p role=\"status\"><strong>No "
	    "delivery begins anywhere: drained</strong>, by " : "<p>");
	if (is_drained) {
		html_text(&visit->out, page_member(visit->arena, line, "by"));
		str_addc(&visit->out, ' ');
		page_add_moment(&visit->out, json_get_number(line, "since"),
		    visit->now_s);
	}
	str_adds(&visit->out, "</p>\n");
	page_add_change(visit, &visit->out, is_drained ? "undrain" : "drain",
	    "of", SLICE(""), is_drained ? "Deliver again" : "Drain: begin no "
	    "deliveries");
}

static void
destination_add_row(struct visit *visit, struct table *table, struct slice line)
{
	struct str *out = &visit->out;

	table_row_begin(table);
	table_cell(table);
	destination_add_name(visit, line);
	table_cell_end(table);
	table_text(table, page_member(visit->arena, line, "state"));
	table_number(table, json_get_number(line, "ready"));
	table_number(table, json_get_number(line, "waiting"));
	table_number(table, json_get_number(line, "active"));
	table_number(table, json_get_number(line, "parked"));
	table_cell(table);
	str_addf(out, "%" PRId64 " of %" PRId64,
	    json_get_number(line, "agents"), json_get_number(line, "limit"));
	table_cell_end(table);
	table_cell(table);
	destination_add_words(visit, line);
	table_cell_end(table);
	if (page_where(visit) == WHERE_CLUSTER)
		table_text(table, page_member(visit->arena, line, "node"));
}

static void
destinations_show(struct visit *visit)
{
	static const struct table_column columns[] = {
		{ "Destination", false }, { "State", false },
		{ "Ready", true }, { "Waiting", true }, { "Active", true },
		{ "Held", true }, { "Agents", true },
		{ "Last words", false }, { "Node", false },
	};
	const struct question_answer *answer = visit_answer(visit,
	    "destinations");
	struct table table;
	size_t count = 0;

	page_add_places(visit, "/destinations");
	page_add_trouble(&visit->out, answer);
	if (page_where(visit) == WHERE_HERE)
		destinations_add_drain(visit);
	table_begin(&table, &visit->out, "Destinations, those in trouble "
	    "first", columns, page_where(visit) == WHERE_CLUSTER ? 9 : 8);
	for (int pass = 0; pass < 2; pass++) {
		struct slice rest = str_slice(&answer->text), line;

		while (answer_line(&rest, &line))
			if (destination_is_troubled(line) == (pass == 0) &&
			    count++ < DESTINATIONS_SHOWN)
				destination_add_row(visit, &table, line);
	}
	table_end(&table);
	if (count == 0 && answer->kind == ANSWER_GOOD)
		str_adds(&visit->out, "<p>No destination has mail.</p>\n");
	if (count > DESTINATIONS_SHOWN)
		str_addf(&visit->out, "<p>And %zu more: zmailer queue has "
		    "all.</p>\n", count - DESTINATIONS_SHOWN);
	if (page_where(visit) == WHERE_HERE)
		past_show_answers(visit);
}

const struct page_row page_destinations = {
	.path = "/destinations", .title = "Destinations", .none_status = 200,
	.begin = destinations_begin, .show = destinations_show,
};
