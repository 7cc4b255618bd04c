/* answered.c - what a destination answered, by class and over time
 *
 * In     events of the journal: its last deliveries, its last failures
 * Out    for an hour, a day and a month a picture and a table of the numbers
 * Spec   answered.h; zmailer-events(5), rcpt.ok, rcpt.defer, rcpt.fail
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "web/page/course.h"
#include "web/page/html.h"
#include "web/page/table.h"
#include "web/pages/answered.h"
#include "web/pages/parts.h"

#include "base/banned.h"

enum answer_class { CLASS_GOOD, CLASS_LATER, CLASS_NEVER, CLASS_SILENT,
	CLASS_UNSAFE, CLASSES };
enum { POINTS_MAX = 31 };

static const char *const class_words[CLASSES] = {
	[CLASS_GOOD] = "Taken (2yz)", [CLASS_LATER] = "Later (4yz)",
	[CLASS_NEVER] = "Refused (5yz)", [CLASS_SILENT] = "No answer",
	[CLASS_UNSAFE] = "TLS failure",
};

static const struct span_row {
	const char	*id, *title;
	int64_t		 span_s, count;
} span_rows[] = {
	{ "answers-hour", "Answers of the last hour", 3600, 30 },
	{ "answers-day", "Answers of the last day", 86400, 24 },
	{ "answers-month", "Answers of the last month", 31 * 86400, 31 },
};

_Static_assert((int)CLASSES <= (int)COURSE_LINES_MAX,
    "there is a line for each");

struct span {
	const struct span_row *row;
	int64_t		 step_s, from_s, until_s;
	struct course_point points[POINTS_MAX];
};

void
answered_ask(struct visit *visit, struct slice of)
{
	const char *words[] = { "events", "--json", "-n", "2000", "--",
	    arena_printf(visit->arena, "(state=rcpt.defer or state=rcpt.fail) "
	    "dest:\"" SLICE_FMT "\"", SLICE_ARG(of)), NULL };

	visit_ask_verb(visit, "answers", words);
	words[5] = arena_printf(visit->arena, "state=rcpt.ok dest:\"" SLICE_FMT
	    "\"", SLICE_ARG(of));
	visit_ask_verb(visit, "taken", words);
}

/* Who says nothing, or loses the connection, answers no more than who is not
 * there. */
static enum answer_class
event_class(struct visit *visit, struct slice line)
{
	static const char *const silent[] = { "dns", "connect", "timeout",
	    "lost" };
	struct slice class = page_member(visit->arena, line, "class");
	struct slice ev = page_member(visit->arena, line, "ev");

	if (slice_is(ev, "rcpt.ok"))
		return CLASS_GOOD;
	for (size_t i = 0; i < sizeof(silent) / sizeof(silent[0]); i++)
		if (slice_is(class, silent[i]))
			return CLASS_SILENT;
	if (slice_is(class, "tls"))
		return CLASS_UNSAFE;
	return slice_is(ev, "rcpt.fail") ? CLASS_NEVER : CLASS_LATER;
}

static void
span_begin(const struct visit *visit, const struct span_row *row,
    struct span *out)
{
	*out = (struct span){ .row = row, .step_s = row->span_s / row->count };
	out->until_s = (visit->now_s + out->step_s - 1) / out->step_s *
	    out->step_s;
	out->from_s = out->until_s - row->span_s;
	for (int64_t i = 0; i < row->count; i++)
		out->points[i].at_s = out->from_s + i * out->step_s;
}

/* The lines of an answer, oldest first; all of them that there were, or the
 * last ones: *known_s is from when on. */
static void
span_count_events(struct visit *visit, struct span *span, const char *name,
    int64_t *known_s)
{
	struct slice rest = str_slice(&visit_answer(visit, name)->text), line;
	int64_t first_s = 0;
	size_t count = 0;

	while (answer_line(&rest, &line)) {
		int64_t at_ms = life_moment_ms(page_member(visit->arena, line,
		    "t"));
		int64_t at_s = at_ms / 1000;

		if (at_ms < 0)
			continue;
		if (count++ == 0)
			first_s = at_s;
		if (at_s >= span->from_s && at_s < span->until_s)
			span->points[(at_s - span->from_s) / span->step_s]
			    .numbers[event_class(visit, line)]++;
	}
	if (count >= ANSWERS_EVENTS_MAX && first_s > *known_s)
		*known_s = first_s;
}

static void
span_draw(struct visit *visit, const struct span *span, int64_t known_s)
{
	size_t from = 0;
	struct course course = {
		.id = span->row->id, .title = span->row->title,
		.from_s = span->from_s, .until_s = span->until_s,
		.step_s = span->step_s,
	};

	while (from < (size_t)span->row->count &&
	    span->points[from].at_s < known_s)
		from++;
	course.points = span->points + from;
	course.count = (size_t)span->row->count - from;
	for (size_t i = 0; i < CLASSES; i++)
		course.lines[i] = class_words[i];
	course_draw(&visit->out, &course);
}

static void
span_add_table(struct visit *visit, const struct span *span, int64_t known_s)
{
	struct table_column columns[CLASSES + 1] = { { "From", false } };
	char text[CLOCK_TEXT_BYTES];
	struct table table;

	for (size_t i = 0; i < CLASSES; i++)
		columns[i + 1] = (struct table_column){ class_words[i], true };
	str_adds(&visit->out, "<details><summary>The numbers</summary>");
	table_begin(&table, &visit->out, span->row->title, columns,
	    CLASSES + 1);
	for (int64_t i = 0; i < span->row->count; i++) {
		const struct course_point *point = &span->points[i];

		if (point->at_s < known_s)
			continue;
		table_row_begin(&table);
		table_cell(&table);
		clock_local(point->at_s, text);
		html_element(&visit->out, "time", slice_of(text));
		table_cell_end(&table);
		for (size_t k = 0; k < CLASSES; k++)
			table_number(&table, point->numbers[k]);
	}
	table_end(&table);
	str_adds(&visit->out, "</details>\n");
}

static void
span_show(struct visit *visit, const struct span_row *row)
{
	int64_t known_s = 0;
	char text[CLOCK_TEXT_BYTES];
	struct span span;

	span_begin(visit, row, &span);
	span_count_events(visit, &span, "answers", &known_s);
	span_count_events(visit, &span, "taken", &known_s);
	str_adds(&visit->out, "<div><h3>");
	html_words(&visit->out, row->title);
	str_adds(&visit->out, "</h3>\n");
	span_draw(visit, &span, known_s);
	if (known_s > span.from_s) {
		clock_local(known_s, text);
		str_addf(&visit->out, "<p>From %s on: of older ones there are "
		    "more than the %d of each kind that are read.</p>", text,
		    ANSWERS_EVENTS_MAX);
	}
	span_add_table(visit, &span, known_s);
	str_adds(&visit->out, "</div>\n");
}

void
answered_show(struct visit *visit)
{
	str_adds(&visit->out, "<section aria-labelledby=\"classes\"><h2 "
	    "id=\"classes\">What it answered, over time</h2>\n"
	    "<div class=\"courses\">");
	for (size_t i = 0; i < sizeof(span_rows) / sizeof(span_rows[0]); i++)
		span_show(visit, &span_rows[i]);
	str_adds(&visit->out, "</div></section>\n");
}
