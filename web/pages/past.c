/* past.c - the past hour, day and month, as a part of a page
 *
 * In     history of the scheduler
 * Out    for each what came and went, and what waited: pictures, and a table
 *        of the same numbers
 * Spec   past.h; doc/protocol/control.md section 4, history
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>

#include "base/clock.h"
#include "base/json.h"
#include "web/page/course.h"
#include "web/page/html.h"
#include "web/page/table.h"
#include "web/pages/past.h"

#include "base/banned.h"

static const struct past_row {
	const char	*name, *title;
	int64_t		 span_s, points;
} spans[PAST_QUESTIONS] = {
	{ "hour", "The last hour", 3600, 30 },
	{ "day", "The last day", 86400, 24 },
	{ "month", "The last month", 31 * 86400, 31 },
};

void
past_ask(struct visit *visit)
{
	for (size_t i = 0; i < PAST_QUESTIONS; i++) {
		struct question *question = visit_ask_socket(visit,
		    spans[i].name, "history");

		json_number(&question->request, "span_s", spans[i].span_s);
		json_number(&question->request, "points", spans[i].points);
	}
}

/* The sum of some members; keys are blank separated. */
static int64_t
past_count(struct visit *visit, struct slice line, const char *keys)
{
	struct slice rest = slice_of(keys), key;
	int64_t sum = 0;

	while (slice_word(&rest, &key)) {
		int64_t number = json_get_number(line, slice_dup(visit->arena,
		    key));

		sum += number < COURSE_MOST / 2 ? number : COURSE_MOST / 2;
	}
	return sum < COURSE_MOST ? sum : COURSE_MOST;
}

/* The points of which something is known.  Returns how many. */
static size_t
past_read(struct visit *visit, const char *name, const char *const *keys,
    struct course_point *out)
{
	struct slice rest = str_slice(&visit_answer(visit, name)->text), line;
	size_t count = 0;

	while (count < COURSE_POINTS_MAX && answer_line(&rest, &line)) {
		out[count] = (struct course_point){
			.at_s = json_get_number(line, "at")
		};
		for (size_t i = 0; i < COURSE_LINES_MAX && keys[i] != NULL;
		    i++)
			out[count].numbers[i] = past_count(visit, line,
			    keys[i]);
		if (count == 0 || out[count].at_s > out[count - 1].at_s)
			count++;
	}
	return count;
}

static void
past_draw(struct visit *visit, const struct past_row *row, const char *id,
    const char *title, bool is_level, const char *const *words,
    const char *const *keys)
{
	struct course_point points[COURSE_POINTS_MAX];
	int64_t step_s = row->span_s / row->points;
	struct course course = {
		.id = id, .title = title, .is_level = is_level,
		.step_s = step_s,
		.until_s = (visit->now_s + step_s - 1) / step_s * step_s,
		.points = points,
		.count = past_read(visit, row->name, keys, points),
	};

	course.from_s = course.until_s - row->span_s;
	for (size_t i = 0; i < COURSE_LINES_MAX; i++)
		course.lines[i] = words[i];
	course_draw(&visit->out, &course);
}

static void
past_add_pictures(struct visit *visit, const struct past_row *row)
{
	static const char *const flow_words[COURSE_LINES_MAX] = {
		"Messages that came", "Recipients served", "Put off or failed"
	};
	static const char *const flow_keys[COURSE_LINES_MAX] = {
		"accepted", "delivered", "deferred failed" };
	static const char *const level_words[COURSE_LINES_MAX] = {
		"Messages in the queue" };
	static const char *const level_keys[COURSE_LINES_MAX] = {
		"waiting_most" };
	char id[32], title[80];

	str_adds(&visit->out, "<div class=\"courses\">");
	snprintf(id, sizeof(id), "%s-flow", row->name);
	snprintf(title, sizeof(title), "%s: what came and went", row->title);
	past_draw(visit, row, id, title, false, flow_words, flow_keys);
	snprintf(id, sizeof(id), "%s-level", row->name);
	snprintf(title, sizeof(title), "%s: what waited", row->title);
	past_draw(visit, row, id, title, true, level_words, level_keys);
	str_adds(&visit->out, "</div>\n");
}

/* keys: of the columns after the first. */
static void
past_add_table(struct visit *visit, const struct past_row *row,
    const struct table_column *columns, const char *const *keys, size_t count)
{
	struct slice rest = str_slice(&visit_answer(visit, row->name)->text);
	char text[CLOCK_TEXT_BYTES];
	struct slice line;
	struct table table;

	str_adds(&visit->out, "<details><summary>The numbers</summary>");
	table_begin(&table, &visit->out, row->title, columns, count + 1);
	while (answer_line(&rest, &line)) {
		table_row_begin(&table);
		table_cell(&table);
		clock_local(json_get_number(line, "at"), text);
		html_element(&visit->out, "time", slice_of(text));
		table_cell_end(&table);
		for (size_t i = 0; i < count; i++)
			table_number(&table, json_get_number(line, keys[i]));
	}
	table_end(&table);
	str_adds(&visit->out, "</details>\n");
}

static void
past_show_numbers(struct visit *visit, const struct past_row *row)
{
	static const struct table_column columns[] = {
		{ "From", false }, { "Came", true }, { "Served", true },
		{ "Put off", true }, { "Failed", true }, { "Waited", true },
	};
	static const char *const keys[] = { "accepted", "delivered",
	    "deferred", "failed", "waiting_most" };

	past_add_table(visit, row, columns, keys, 5);
}

void
past_show(struct visit *visit)
{
	struct str *out = &visit->out;

	str_adds(out, "<section aria-labelledby=\"past\"><h2 id=\"past\">The "
	    "past</h2>\n");
	page_add_trouble(out, visit_answer(visit, spans[0].name));
	for (size_t i = 0; i < PAST_QUESTIONS; i++) {
		if (visit_answer(visit, spans[i].name)->kind != ANSWER_GOOD)
			continue;
		str_adds(out, "<h3>");
		html_words(out, spans[i].title);
		str_adds(out, "</h3>\n");
		past_add_pictures(visit, &spans[i]);
		past_show_numbers(visit, &spans[i]);
	}
	str_adds(out, "</section>\n");
}

static void
past_add_answers(struct visit *visit, const struct past_row *row)
{
	static const char *const words[COURSE_LINES_MAX] = { "Taken (2yz)",
	    "Put off (4yz, no answer, TLS)", "Refused (5yz)" };
	static const char *const keys[COURSE_LINES_MAX] = { "delivered",
	    "deferred", "failed" };
	static const struct table_column columns[] = {
		{ "From", false }, { "Taken", true }, { "Put off", true },
		{ "Refused", true },
	};
	char id[32];

	snprintf(id, sizeof(id), "%s-answers", row->name);
	str_adds(&visit->out, "<div><h3>");
	html_words(&visit->out, row->title);
	str_adds(&visit->out, "</h3>\n");
	past_draw(visit, row, id, row->title, false, words, keys);
	past_add_table(visit, row, columns, keys, 3);
	str_adds(&visit->out, "</div>");
}

void
past_show_answers(struct visit *visit)
{
	str_adds(&visit->out, "<section aria-labelledby=\"past\"><h2 "
	    "id=\"past\">What all of them answered</h2>\n"
	    "<div class=\"courses\">");
	for (size_t i = 0; i < PAST_QUESTIONS; i++)
		if (visit_answer(visit, spans[i].name)->kind == ANSWER_GOOD)
			past_add_answers(visit, &spans[i]);
	str_adds(&visit->out, "</div></section>\n");
}
