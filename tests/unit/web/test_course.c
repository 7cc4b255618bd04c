/* test_course.c - numbers over time as a picture
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <string.h>

#include "web/page/course.h"

#include "base/banned.h"

enum { FROM_S = 1800000000, STEP_S = 60, POINTS = 10 };

static struct course_point points[COURSE_POINTS_MAX];
static struct str out;

static const char *
drawn(size_t count, bool is_level)
{
	const struct course course = {
		.id = "x", .title = "A & B", .from_s = FROM_S,
		.until_s = FROM_S + POINTS * STEP_S, .step_s = STEP_S,
		.lines = { "Came <in>", "Went" }, .is_level = is_level,
		.points = points, .count = count };

	str_reset(&out);
	course_draw(&out, &course);
	return out.buf;
}

/* How often words stand in it. */
static int
times(const char *words)
{
	int count = 0;

	for (const char *at = out.buf; (at = strstr(at, words)) != NULL; at++)
		count++;
	return count;
}

static void
begin(void)
{
	str_init(&out);
	memset(points, 0, sizeof(points));
	for (int i = 0; i < COURSE_POINTS_MAX; i++) {
		points[i].at_s = FROM_S + i * STEP_S;
		points[i].numbers[0] = i;
	}
}

static void
end(void)
{
	str_release(&out);
}

TestSuite(course, .init = begin, .fini = end);

Test(course, says_its_numbers_in_words)
{
	drawn(POINTS, false);
	cr_expect_eq(times("<title id=\"x-t\">A &amp; B</title>"), 1);
	cr_expect_eq(times("Came &lt;in&gt;: 45 in all, at most 9 in 1m"), 2,
	    "%s", out.buf);
	cr_expect_eq(times("Went: 0 in all, at most 0 in 1m"), 2);
	cr_expect_eq(times("aria-labelledby=\"x-t x-d\""), 1);
	cr_expect_eq(times("style="), 0);
	drawn(POINTS, true);
	cr_expect_eq(times("Came &lt;in&gt;: 9 at the end, at most 9"), 2);
}

Test(course, has_a_gap_where_nothing_is_known)
{
	drawn(POINTS, false);
	cr_expect_eq(times("h0"), 2, "each line begins once");
	memmove(&points[3], &points[5], sizeof(points[0]) * 5);
	drawn(8, false);
	cr_expect_eq(times("h0"), 4, "and once more after the gap");
}

Test(course, of_nothing_is_a_picture)
{
	drawn(0, false);
	cr_expect_eq(times("Nothing is known yet."), 1);
	cr_expect_eq(times("</svg>"), 1);
	cr_expect_eq(times(" d=\"\""), 2);
}

/* No number leaves the picture: neither a moment outside of it, nor the
 * most that there is. */
Test(course, keeps_within_its_edges)
{
	points[0].at_s = 0;
	points[1].at_s = INT64_MAX / 2;
	points[0].numbers[0] = COURSE_MOST;
	points[1].numbers[1] = COURSE_MOST;
	drawn(2, false);
	cr_expect_eq(times("M6 22h0"), 1, "%s", out.buf);
	cr_expect_eq(times("M554 22h0"), 1);
	cr_expect_eq(times(" -"), 0);
	for (int i = 0; i < COURSE_POINTS_MAX; i++)
		points[i].numbers[0] = COURSE_MOST;
	drawn(COURSE_POINTS_MAX, false);
	cr_expect_eq(times("at most 281474976710656 in 1m"), 4);
}
