/* picture.c - numbers as a picture, inline SVG
 *
 * In     labels and numbers
 * Out    bars, with title and description; colours are the style sheet's
 * Spec   picture.h; SVG 2 section 5.6
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/clock.h"
#include "web/page/html.h"
#include "web/page/picture.h"

#include "base/banned.h"

enum { ROW = 26, WIDTH = 560, LABEL_BYTES_MAX = 30, LETTER = 9,
	LABEL_MIN = 90, LABEL_MAX = 250, NUMBER = 70 };

static void
picture_describe(struct str *out, const char *id, const char *title,
    const struct picture_bar *bars, size_t count)
{
	str_addf(out, "<title id=\"%s-t\">", id);
	html_words(out, title);
	str_addf(out, "</title>\n<desc id=\"%s-d\">", id);
	for (size_t i = 0; i < count; i++) {
		str_adds(out, i > 0 ? ", " : "");
		html_bare(out, slice_first(bars[i].label, LABEL_BYTES_MAX));
		str_addf(out, " %" PRId64, bars[i].number);
	}
	str_adds(out, "</desc>\n");
}

/* The room at the left for the longest label. */
static int
picture_label_width(const struct picture_bar *bars, size_t count)
{
	size_t longest = 0;
	int width;

	for (size_t i = 0; i < count; i++)
		if (bars[i].label.n > longest)
			longest = bars[i].label.n;
	width = (int)(longest > LABEL_BYTES_MAX ? LABEL_BYTES_MAX : longest) *
	    LETTER + 10;
	return width < LABEL_MIN ? LABEL_MIN : width > LABEL_MAX ? LABEL_MAX :
	    width;
}

void
picture_bars(struct str *out, const char *id, const char *title,
    const struct picture_bar *bars, size_t count)
{
	int64_t most = 1;
	int label, room;

	if (count > PICTURE_BARS_MAX)
		count = PICTURE_BARS_MAX;
	label = picture_label_width(bars, count);
	room = WIDTH - label - NUMBER;
	for (size_t i = 0; i < count; i++)
		if (bars[i].number > most)
			most = bars[i].number;
	str_addf(out, "<svg class=\"bars\" role=\"img\" viewBox=\"0 0 %d %zu\""
	    " aria-labelledby=\"%s-t %s-d\">", WIDTH, count * ROW, id, id);
	picture_describe(out, id, title, bars, count);
	for (size_t i = 0; i < count; i++) {
		size_t y = i * ROW;

		str_addf(out, "<text x=\"%d\" y=\"%zu\" text-anchor=\"end\">",
		    label - 8, y + 17);
		html_bare(out, slice_first(bars[i].label, LABEL_BYTES_MAX));
		str_addf(out, "</text>\n<rect x=\"%d\" y=\"%zu\" width=\"%"
		    PRId64 "\" height=\"%d\" rx=\"3\"/><text x=\"%" PRId64
		    "\" y=\"%zu\">%" PRId64 "</text>\n", label, y + 3,
		    bars[i].number * room / most, ROW - 6, label + 6 +
		    bars[i].number * room / most, y + 17, bars[i].number);
	}
	str_adds(out, "</svg>\n");
}

/* ---- a line of time ----------------------------------------------------- */

enum { LIFE_HEIGHT = 56, LIFE_EDGE = 14, LIFE_Y = 20 };

static void
life_describe(struct str *out, const char *id, const char *title,
    const struct picture_moment *moments, size_t count)
{
	str_addf(out, "<title id=\"%s-t\">", id);
	html_words(out, title);
	str_addf(out, "</title>\n<desc id=\"%s-d\">", id);
	for (size_t i = 0; i < count; i++) {
		int64_t since_ms = moments[i].at_ms - moments[0].at_ms;

		str_adds(out, i > 0 ? ", " : "");
		html_bare(out, slice_first(moments[i].label,
		    LABEL_BYTES_MAX));
		str_addf(out, " after %" PRId64 ".%03" PRId64 " s",
		    since_ms / 1000, since_ms % 1000);
	}
	str_adds(out, "</desc>\n");
}

void
picture_life(struct str *out, const char *id, const char *title,
    const struct picture_moment *moments, size_t count)
{
	static const char *const looks[] = { [PICTURE_PLAIN] = "plain",
	    [PICTURE_GOOD] = "good", [PICTURE_WAIT] = "wait",
	    [PICTURE_BAD] = "bad" };
	int64_t span_ms = moments[count - 1].at_ms - moments[0].at_ms;
	int width = WIDTH - 2 * LIFE_EDGE;
	char text[CLOCK_TEXT_BYTES];

	str_addf(out, "<svg class=\"life\" role=\"img\" viewBox=\"0 0 %d %d\""
	    " aria-labelledby=\"%s-t %s-d\">", WIDTH, LIFE_HEIGHT, id, id);
	life_describe(out, id, title, moments, count);
	str_addf(out, "<line x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\"/>",
	    LIFE_EDGE, LIFE_Y, WIDTH - LIFE_EDGE, LIFE_Y);
	for (size_t i = 0; i < count; i++) {
		int64_t since_ms = moments[i].at_ms - moments[0].at_ms;
		int64_t x = since_ms <= 0 || span_ms <= 0 ? 0 :
		    since_ms > span_ms ? width : since_ms * width / span_ms;

		str_addf(out, "<circle class=\"%s\" cx=\"%" PRId64
		    "\" cy=\"%d\" r=\"7\"/>", looks[moments[i].look],
		    x + LIFE_EDGE, LIFE_Y);
	}
	clock_local(moments[0].at_ms / 1000, text);
	str_addf(out, "<text x=\"%d\" y=\"%d\">%s</text>\n", LIFE_EDGE,
	    LIFE_HEIGHT - 6, text);
	if (span_ms < 1000)
		snprintf(text, sizeof(text), "%dms", (int)(span_ms > 0 ?
		    span_ms : 0));
	else
		clock_span(span_ms / 1000, text);
	str_addf(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">+%s"
	    "</text>\n</svg>\n", WIDTH - LIFE_EDGE, LIFE_HEIGHT - 6, text);
}
