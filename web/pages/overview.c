/* overview.c - what needs a person now, how much waits, what runs
 *
 * In     zmailer status; count, destinations and history of the scheduler
 * Out    sentences, a picture and tables
 * Spec   pages.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>

#include "base/json.h"
#include "web/pages/pages.h"
#include "web/pages/past.h"
#include "web/page/html.h"
#include "web/page/picture.h"
#include "web/page/table.h"

#include "base/banned.h"

enum { TROUBLED_MAX = 20, FULLEST_MAX = 10 };

static int
overview_begin(struct visit *visit)
{
	static const char *const status[] = { "status", "--json", NULL };
	struct question *count;

	if (visit_check_where(visit) < 0)
		return -1;
	/* what has no part for another node asks nothing of ours */
	if (page_where(visit) == WHERE_NODE) {
		overview_ask_nodes(visit);
		return 0;
	}
	visit_ask_verb(visit, "status", status);
	count = visit_ask_socket(visit, "count", "count");
	json_text(&count->request, "by", SLICE("state"));
	(void)visit_ask_socket(visit, "destinations", "destinations");
	past_ask(visit);
	overview_ask_nodes(visit);
	return 0;
}

/* ---- what needs a person ------------------------------------------------ */

static void
overview_add_item(struct visit *visit, size_t *found)
{
	if ((*found)++ == 0)
		str_adds(&visit->out, "<ul class=\"needs\">\n");
	str_adds(&visit->out, "<li>");
}

/* The sentences for which a verb of the desk exists, a row each: a change, or
 * an order about every message of a selector. */
static const struct help_row {
	const char	*standstill, *name;	/* name NULL: any */
	const char	*change, *whom;
	const char	*order, *selector;
	const char	*words;
} help_rows[] = {
	{ "drain", NULL, "undrain", "", NULL, NULL, "Deliver again" },
	{ "suspend", NULL, "resume", "all", NULL, NULL, "Resume all" },
	{ "next-hop", NULL, NULL, NULL, "retry", "dest-state:down",
	    "what waits for next hops that were in trouble" },
	{ "held", NULL, NULL, NULL, "release", "state:held",
	    "what is held by order" },
	{ "frozen", NULL, NULL, NULL, "thaw", "state:frozen",
	    "what is frozen by order" },
	{ "set-aside", "deferred", NULL, NULL, "resubmit", "area:deferred",
	    "what waits in deferred/" },
	{ "set-aside", "freezer", NULL, NULL, "release", "area:freezer",
	    "what waits in freezer/" },
	{ "set-aside", "postman", NULL, NULL, "release", "area:postman",
	    "what waits in postman/" },
};

static void
overview_add_help(struct visit *visit, struct slice line)
{
	for (size_t i = 0; i < sizeof(help_rows) / sizeof(help_rows[0]); i++) {
		const struct help_row *row = &help_rows[i];

		if (!json_is(line, "standstill", row->standstill) ||
		    (row->name != NULL && !json_is(line, "name", row->name)))
			continue;
		str_addc(&visit->out, ' ');
		if (row->change != NULL)
			page_add_change(visit, &visit->out, row->change,
			    "whom", slice_of(row->whom), row->words);
		else
			page_add_order(visit, row->order, slice_of(
			    row->selector), row->words);
		return;
	}
}

/* "A sentence. What to do: zmailer VERB", and the button that does it. */
static void
overview_add_standstill(struct visit *visit, struct slice line, size_t *found)
{
	struct slice next = page_member(visit->arena, line, "next");

	overview_add_item(visit, found);
	html_text(&visit->out, page_member(visit->arena, line, "text"));
	if (json_is(line, "standstill", "set-aside"))
		str_adds(&visit->out, ". <a href=\"/review\">Look at it</a>");
	else if (next.n > 0) {
		str_adds(&visit->out, ". Next: <code>");
		html_text(&visit->out, next);
		str_adds(&visit->out, "</code>");
	}
	overview_add_help(visit, line);
	str_adds(&visit->out, "</li>\n");
}

static void
overview_add_process_trouble(struct visit *visit, struct slice line,
    size_t *found)
{
	if (json_is(line, "state", "ready"))
		return;
	overview_add_item(visit, found);
	html_text(&visit->out, page_member(visit->arena, line, "process"));
	str_adds(&visit->out, " is ");
	html_text(&visit->out, page_member(visit->arena, line, "state"));
	str_adds(&visit->out, "</li>\n");
}

static void
overview_add_refused(struct visit *visit, struct slice line, size_t *found)
{
	struct slice refused = page_member(visit->arena, line, "refused");

	if (json_is(line, "status", "down")) {
		overview_add_item(visit, found);
		str_adds(&visit->out, "zmailer does not run: <code>zmailer "
		    "start</code></li>\n");
	}
	if (refused.n == 0)
		return;
	overview_add_item(visit, found);
	str_adds(&visit->out, "The last reload was refused: ");
	html_text(&visit->out, refused);
	str_adds(&visit->out, ". <a href=\"/health\">Versions, and the way "
	    "back</a></li>\n");
}

static bool
overview_is_troubled(struct slice line)
{
	return json_is(line, "state", "down") ||
	    json_is(line, "state", "suspended") ||
	    json_is(line, "state", "throttled");
}

/* One that is down is tried, or left alone for a while; one that is too much
 * for it is spared. */
static void
destination_add_help(struct visit *visit, struct slice line,
    struct slice name)
{
	str_addc(&visit->out, ' ');
	if (json_is(line, "state", "suspended")) {
		page_add_change(visit, &visit->out, "resume", "whom", name,
		    "Resume");
		return;
	}
	if (json_is(line, "state", "down"))
		page_add_order(visit, "retry", slice_of(arena_printf(
		    visit->arena, "dest:\"" SLICE_FMT "\"",
		    SLICE_ARG(name))), slice_dup(visit->arena, name));
	page_add_change(visit, &visit->out, "suspend", "whom", name,
	    "Suspend");
}

static void
overview_add_destination(struct visit *visit, struct slice line,
    size_t *found)
{
	struct slice name = slice_of(arena_printf(visit->arena, SLICE_FMT "/"
	    SLICE_FMT, SLICE_ARG(page_member(visit->arena, line, "channel")),
	    SLICE_ARG(page_member(visit->arena, line, "host"))));
	struct slice said = page_member(visit->arena, line, "said");
	int64_t waits = json_get_number(line, "ready") +
	    json_get_number(line, "waiting");

	overview_add_item(visit, found);
	page_add_destination(&visit->out, page_member(visit->arena, line,
	    "channel"), page_member(visit->arena, line, "host"));
	str_adds(&visit->out, " is ");
	html_text(&visit->out, page_member(visit->arena, line, "state"));
	str_addf(&visit->out, ", %" PRId64 " recipient%s", waits,
	    waits == 1 ? " waits" : "s wait");
	if (said.n > 0) {
		str_adds(&visit->out, ". It said: ");
		html_text(&visit->out, said);
	}
	str_adds(&visit->out, ". <a");
	html_link(&visit->out, "/destination", SLICE(""), "of", name);
	str_adds(&visit->out, ">What helps</a>");
	destination_add_help(visit, line, name);
	str_adds(&visit->out, "</li>\n");
}

static void
overview_add_needs(struct visit *visit)
{
	struct slice rest, line;
	size_t found = 0, troubled = 0;

	str_adds(&visit->out, "<section aria-labelledby=\"needs\"><h2 "
	    "id=\"needs\">What needs a person</h2>\n");
	rest = str_slice(&visit_answer(visit, "status")->text);
	while (answer_line(&rest, &line)) {
		struct slice standstill = page_member(visit->arena, line,
		    "standstill");

		if (standstill.n > 0)
			overview_add_standstill(visit, line, &found);
		else if (page_member(visit->arena, line, "process").n > 0)
			overview_add_process_trouble(visit, line, &found);
		else
			overview_add_refused(visit, line, &found);
	}
	rest = str_slice(&visit_answer(visit, "destinations")->text);
	while (answer_line(&rest, &line))
		if (overview_is_troubled(line) && troubled++ < TROUBLED_MAX)
			overview_add_destination(visit, line, &found);
	if (troubled > TROUBLED_MAX) {
		overview_add_item(visit, &found);
		str_addf(&visit->out, "<a href=\"/destinations\">%zu other "
		    "destinations</a> are in trouble, too</li>\n",
		    troubled - TROUBLED_MAX);
	}
	str_adds(&visit->out, found > 0 ? "</ul>" :
	    "<p>Nothing needs a person now.</p>");
	str_adds(&visit->out, "</section>\n");
}

/* ---- how much, what runs ------------------------------------------------ */

/* A number that the script renews (web/serve/live.h). */
static void
overview_add_live(struct table *table, struct slice state, const char *what,
    struct slice line)
{
	struct str name = STR_INIT;

	str_addf(&name, SLICE_FMT " %s", SLICE_ARG(state), what);
	table_cell(table);
	str_adds(table->out, "<span");
	html_attribute(table->out, "data-live", str_slice(&name));
	str_addf(table->out, ">%" PRId64 "</span>", json_get_number(line,
	    what));
	table_cell_end(table);
	str_release(&name);
}

static void
overview_add_count(struct visit *visit)
{
	static const struct table_column columns[] = {
		{ "State", false }, { "Messages", true },
		{ "Recipients", true }, { "Oldest", true },
	};
	const struct question_answer *answer = visit_answer(visit, "count");
	struct picture_bar bars[PICTURE_BARS_MAX];
	struct slice rest = str_slice(&answer->text), line;
	size_t count = 0;
	struct table table;
	struct str *out = &visit->out;

	str_adds(out, "<section aria-labelledby=\"states\"><h2 id=\"states\">"
	    "The queue by state</h2>\n");
	page_add_trouble(out, answer);
	while (count < PICTURE_BARS_MAX && answer_line(&rest, &line)) {
		bars[count].label = page_member(visit->arena, line, "key");
		bars[count++].number = json_get_number(line, "recipients");
	}
	if (count > 0)
		picture_bars(out, "by-state", "Recipients by state", bars,
		    count);
	table_begin(&table, out, "Mail that the scheduler has, by state",
	    columns, 4);
	rest = str_slice(&answer->text);
	while (answer_line(&rest, &line)) {
		struct slice key = page_member(visit->arena, line, "key");
		struct str selector = STR_INIT;

		table_row_begin(&table);
		table_cell(&table);
		str_addf(&selector, "state=" SLICE_FMT, SLICE_ARG(key));
		str_adds(out, "<a");
		html_link(out, "/queue", SLICE(""), "q",
		    str_slice(&selector));
		str_addc(out, '>');
		html_text(out, key);
		str_adds(out, "</a>");
		table_cell_end(&table);
		overview_add_live(&table, key, "messages", line);
		overview_add_live(&table, key, "recipients", line);
		table_cell(&table);
		page_add_span(out, json_get_number(line, "oldest_s"));
		table_cell_end(&table);
		str_release(&selector);
	}
	table_end(&table);
	str_adds(out, "</section>\n");
}

/* The first line of status has a number for each directory. */
static void
overview_add_files(struct visit *visit)
{
	static const char *const areas[] = { "public", "router", "transport",
	    "deferred", "freezer", "postman", "trash" };
	static const struct table_column columns[] = {
		{ "Directory", false }, { "Messages", true },
	};
	struct slice rest = str_slice(&visit_answer(visit, "status")->text);
	struct slice line;
	struct table table;

	str_adds(&visit->out, "<section aria-labelledby=\"files\"><h2 "
	    "id=\"files\">The spool</h2>\n");
	page_add_trouble(&visit->out, visit_answer(visit, "status"));
	table_begin(&table, &visit->out, "Messages in each directory",
	    columns, 2);
	if (answer_line(&rest, &line))
		for (size_t i = 0; i < sizeof(areas) / sizeof(areas[0]); i++) {
			struct slice number = page_member(visit->arena, line,
			    areas[i]);

			table_row_begin(&table);
			table_text(&table, slice_of(areas[i]));
			table_text(&table, number.n > 0 ? number :
			    SLICE("not told to you"));
		}
	table_end(&table);
	str_adds(&visit->out, "</section>\n");
}

static void
overview_add_processes(struct visit *visit)
{
	static const struct table_column columns[] = {
		{ "Process", false }, { "State", false }, { "Since", false },
		{ "Restarts", true }, { "Configuration", true },
	};
	struct slice rest = str_slice(&visit_answer(visit, "status")->text);
	struct slice line, process;
	struct table table;

	str_adds(&visit->out, "<section aria-labelledby=\"processes\"><h2 "
	    "id=\"processes\">What runs</h2>\n");
	table_begin(&table, &visit->out, "Processes", columns, 5);
	while (answer_line(&rest, &line)) {
		process = page_member(visit->arena, line, "process");
		if (process.n == 0)
			continue;
		table_row_begin(&table);
		table_text(&table, process);
		table_text(&table, page_member(visit->arena, line, "state"));
		table_cell(&table);
		page_add_moment(&visit->out, json_get_number(line, "since"),
		    visit->now_s);
		table_cell_end(&table);
		table_number(&table, json_get_number(line, "restarts"));
		table_number(&table, json_get_number(line, "configuration"));
	}
	table_end(&table);
	str_adds(&visit->out, "</section>\n");
}

/* ---- by destination ----------------------------------------------------- */

static int64_t
overview_waits(struct slice line)
{
	return json_get_number(line, "ready") +
	    json_get_number(line, "waiting");
}

/* The fullest ones, in the order of what waits for them.  returns how many. */
static size_t
overview_fullest(struct visit *visit, struct slice *out)
{
	struct slice rest = str_slice(&visit_answer(visit,
	    "destinations")->text), line;
	size_t count = 0;

	while (answer_line(&rest, &line)) {
		size_t at = count;

		if (overview_waits(line) == 0)
			continue;
		while (at > 0 && overview_waits(out[at - 1]) <
		    overview_waits(line))
			at--;
		if (at == FULLEST_MAX)
			continue;
		count += count < FULLEST_MAX;
		for (size_t i = count - 1; i > at; i--)
			out[i] = out[i - 1];
		out[at] = line;
	}
	return count;
}

static void
overview_add_destinations(struct visit *visit)
{
	static const struct table_column columns[] = {
		{ "Destination", false }, { "State", false },
		{ "Waits", true }, { "Agents", true },
	};
	struct picture_bar bars[FULLEST_MAX];
	struct slice fullest[FULLEST_MAX];
	size_t count = overview_fullest(visit, fullest);
	struct table table;

	if (count == 0)
		return;
	str_adds(&visit->out, "<section aria-labelledby=\"fullest\"><h2 "
	    "id=\"fullest\">The queue by destination</h2>\n");
	for (size_t i = 0; i < count; i++)
		bars[i] = (struct picture_bar){ .label = page_member(
		    visit->arena, fullest[i], "host"),
		    .number = overview_waits(fullest[i]) };
	picture_bars(&visit->out, "by-destination", "Recipients by "
	    "destination", bars, count);
	table_begin(&table, &visit->out, "Destinations for which most waits",
	    columns, 4);
	for (size_t i = 0; i < count; i++) {
		table_row_begin(&table);
		table_cell(&table);
		page_add_destination(&visit->out, page_member(visit->arena,
		    fullest[i], "channel"), bars[i].label);
		table_cell_end(&table);
		table_text(&table, page_member(visit->arena, fullest[i],
		    "state"));
		table_number(&table, bars[i].number);
		table_number(&table, json_get_number(fullest[i], "agents"));
	}
	table_end(&table);
	str_adds(&visit->out, "</section>\n");
}

static void
overview_show(struct visit *visit)
{
	if (page_where(visit) == WHERE_NODE) {
		overview_show_nodes(visit);
		return;
	}
	page_add_live(&visit->out);
	overview_show_nodes(visit);
	overview_add_needs(visit);
	overview_add_count(visit);
	past_show(visit);
	overview_add_destinations(visit);
	overview_add_files(visit);
	overview_add_processes(visit);
}

const struct page_row page_overview = {
	.path = "/", .title = "Overview",
	.begin = overview_begin, .show = overview_show,
};
