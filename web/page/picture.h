/* picture.h - numbers as a picture, inline SVG
 *
 * A picture has a title, and its numbers in its description; the page has the
 * same numbers as a table.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_WEB_PICTURE_H
#define ZM_WEB_PICTURE_H

#include "base/str.h"

enum { PICTURE_BARS_MAX = 20 };

struct picture_bar {
	struct slice	 label;
	int64_t		 number;
};

/* Draw bars, the longest as wide as the picture; at most PICTURE_BARS_MAX of
 * them.  id is unique in the page. */
void picture_bars(struct str *out, const char *id, const char *title,
    const struct picture_bar *bars, size_t count);

/* ---- a line of time ----------------------------------------------------- */

enum { PICTURE_MOMENTS_MAX = 100 };
enum picture_look { PICTURE_PLAIN, PICTURE_GOOD, PICTURE_WAIT, PICTURE_BAD };

struct picture_moment {
	struct slice	 label;
	int64_t		 at_ms;		/* since 1970 */
	enum picture_look look;
};

/* Draw a dot for each, from the first (at the left) to the last; at most
 * PICTURE_MOMENTS_MAX of them, at least one, in their order. */
void picture_life(struct str *out, const char *id, const char *title,
    const struct picture_moment *moments, size_t count);

#endif
