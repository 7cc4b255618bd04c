/* course.c - numbers over time as a picture, inline SVG
 *
 * In     numbers of moments
 * Out    lines, with title, description and legend; colours and strokes are
 *        the style sheet's
 * Spec   course.h; SVG 2 sections 5.6, 9.3
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>

#include "base/clock.h"
#include "web/page/course.h"
#include "web/page/html.h"

#include "base/banned.h"

enum { WIDTH = 560, TOP = 22, HEIGHT = 110, EDGE = 6, ROW = 22,
	SAMPLE_WIDTH = 30 };

struct course_sum {
	int64_t		 all, most, last;
};

static void
course_reckon(const struct course *course, size_t line,
    struct course_sum *out)
{
	*out = (struct course_sum){ 0 };
	for (size_t i = 0; i < course->count; i++) {
		int64_t number = course->points[i].numbers[line];

		out->all += number;
		out->last = number;
		if (number > out->most)
			out->most = number;
	}
}

static size_t
course_lines(const struct course *course)
{
	size_t count = 0;

	while (count < COURSE_LINES_MAX && course->lines[count] != NULL)
		count++;
	return count;
}

/* "Delivered: 12 in all, at most 3 in 2m". */
static void
course_say_line(struct str *out, const struct course *course, size_t line)
{
	char span[CLOCK_TEXT_BYTES];
	struct course_sum sum;

	course_reckon(course, line, &sum);
	clock_span(course->step_s, span);
	html_words(out, course->lines[line]);
	if (course->is_level)
		str_addf(out, ": %" PRId64 " at the end, at most %" PRId64,
		    sum.last, sum.most);
	else
		str_addf(out, ": %" PRId64 " in all, at most %" PRId64
		    " in %s", sum.all, sum.most, span);
}

static void
course_describe(struct str *out, const struct course *course)
{
	char text[CLOCK_TEXT_BYTES];

	str_addf(out, "<title id=\"%s-t\">", course->id);
	html_words(out, course->title);
	str_addf(out, "</title>\n<desc id=\"%s-d\">", course->id);
	clock_local(course->from_s, text);
	str_addf(out, "From %s to ", text);
	clock_local(course->until_s, text);
	str_addf(out, "%s. ", text);
	for (size_t i = 0; i < course_lines(course); i++) {
		course_say_line(out, course, i);
		str_adds(out, ". ");
	}
	str_adds(out, course->count == 0 ? "Nothing is known yet.</desc>\n" :
	    "</desc>\n");
}

/* Where a moment stands, in pixels; the middle of its step. */
static int64_t
course_x(const struct course *course, int64_t at_s)
{
	int64_t span_s = course->until_s - course->from_s;
	int64_t into_s = at_s + course->step_s / 2 - course->from_s;

	if (span_s <= 0 || into_s < 0)
		return EDGE;
	return into_s > span_s ? WIDTH - EDGE :
	    EDGE + into_s * (WIDTH - 2 * EDGE) / span_s;
}

static int64_t
course_y(int64_t number, int64_t most)
{
	return TOP + HEIGHT - number * HEIGHT / most;
}

static bool
course_has_next(const struct course *course, size_t i)
{
	return i + 1 < course->count && course->points[i + 1].at_s -
	    course->points[i].at_s <= course->step_s;
}

/* A point that has no neighbours is a line of no length: a ring shows it. */
static void
course_draw_lone(struct str *out, const struct course *course, size_t line,
    int64_t most)
{
	for (size_t i = 0; i < course->count; i++)
		if (!course_has_next(course, i) && (i == 0 ||
		    !course_has_next(course, i - 1)))
			str_addf(out, "<circle class=\"lone line%zu\" cx=\"%"
			    PRId64 "\" cy=\"%" PRId64 "\" r=\"3\"/>",
			    line + 1, course_x(course, course->points[i].at_s),
			    course_y(course->points[i].numbers[line], most));
}

static void
course_draw_line(struct str *out, const struct course *course, size_t line,
    int64_t most)
{
	str_addf(out, "<path class=\"line%zu\" d=\"", line + 1);
	for (size_t i = 0; i < course->count; i++) {
		const struct course_point *point = &course->points[i];
		bool is_on = i > 0 && course_has_next(course, i - 1);

		str_addf(out, "%s%" PRId64 " %" PRId64, is_on ? "L" : "M",
		    course_x(course, point->at_s),
		    course_y(point->numbers[line], most));
		if (!is_on)
			str_adds(out, "h0");
	}
	str_adds(out, "\"/>");
	course_draw_lone(out, course, line, most);
}

static void
course_draw_frame(struct str *out, const struct course *course, int64_t most)
{
	char text[CLOCK_TEXT_BYTES];

	str_addf(out, "<path class=\"frame\" d=\"M%d %dH%dM%d %dH%d\"/>"
	    "<text x=\"%d\" y=\"%d\">%" PRId64 "</text>\n", EDGE, TOP,
	    WIDTH - EDGE, EDGE, TOP + HEIGHT, WIDTH - EDGE, EDGE, TOP - 6,
	    most);
	clock_local(course->from_s, text);
	str_addf(out, "<text x=\"%d\" y=\"%d\">%s</text>\n", EDGE,
	    TOP + HEIGHT + ROW - 4, text);
	clock_span(course->until_s - course->from_s, text);
	str_addf(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">+%s"
	    "</text>\n", WIDTH - EDGE, TOP + HEIGHT + ROW - 4, text);
}

static void
course_draw_legend(struct str *out, const struct course *course, size_t line)
{
	int y = TOP + HEIGHT + ROW * (2 + (int)line);

	str_addf(out, "<path class=\"line%zu\" d=\"M%d %dh%d\"/>"
	    "<text x=\"%d\" y=\"%d\">", line + 1, EDGE, y - 5, SAMPLE_WIDTH,
	    EDGE + SAMPLE_WIDTH + 8, y);
	course_say_line(out, course, line);
	str_adds(out, "</text>\n");
}

void
course_draw(struct str *out, const struct course *course)
{
	size_t lines = course_lines(course);
	int64_t most = 1;

	for (size_t i = 0; i < lines; i++) {
		struct course_sum sum;

		course_reckon(course, i, &sum);
		if (sum.most > most)
			most = sum.most;
	}
	str_addf(out, "<svg class=\"course\" role=\"img\" viewBox=\"0 0 %d "
	    "%d\" aria-labelledby=\"%s-t %s-d\">", WIDTH, TOP + HEIGHT +
	    ROW * ((int)lines + 1) + EDGE, course->id, course->id);
	course_describe(out, course);
	course_draw_frame(out, course, most);
	for (size_t i = 0; i < lines; i++)
		course_draw_line(out, course, i, most);
	for (size_t i = 0; i < lines; i++)
		course_draw_legend(out, course, i);
	str_adds(out, "</svg>\n");
}
