/* course.h - numbers over time as a picture, inline SVG
 *
 * A line for each of a few numbers, from left to right; where a moment is not
 * known, the line has a gap.  Lines differ in more than colour; the legend has
 * the name of each, with its sum or last number.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_WEB_COURSE_H
#define ZM_WEB_COURSE_H

#include "base/str.h"

enum { COURSE_POINTS_MAX = 120, COURSE_LINES_MAX = 5 };
#define COURSE_MOST (INT64_C(1) << 48)

struct course_point {
	int64_t		 at_s;		/* rising */
	int64_t		 numbers[COURSE_LINES_MAX];	/* 0 to
							 * COURSE_MOST */
};

struct course {
	const char	*id;		/* unique in the page */
	const char	*title;
	int64_t		 from_s, until_s, step_s;
	/* Words for each line; NULL: there are no more. */
	const char	*lines[COURSE_LINES_MAX];
	bool		 is_level;	/* no sums: how many there are */
	const struct course_point *points;
	size_t		 count;		/* at most COURSE_POINTS_MAX */
};

/* Draw it; its description has the sum and the maximum of each line. */
void course_draw(struct str *out, const struct course *course);

#endif
