/* canvas.h - a screen of text as data
 *
 * Full-screen verbs draw on a canvas; terminal.c shows it, --batch prints
 * it, tests read it.  Cells have only printable ASCII, so nothing else in mail
 * reaches a terminal.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_SCREEN_CANVAS_H
#define ZM_TOOLS_SCREEN_CANVAS_H

#include "base/str.h"

enum canvas_look {		/* never only colour: words say it, too */
	LOOK_PLAIN, LOOK_HEAD, LOOK_CURSOR, LOOK_WARN, LOOK_GOOD, LOOK_COUNT
};

enum { CANVAS_ROWS_MAX = 500, CANVAS_COLS_MAX = 500 };

struct canvas {
	unsigned	 rows, cols;
	char		*cells;		/* rows * cols */
	unsigned char	*looks;		/* enum canvas_look each */
};

/* Make an empty canvas; sizes are bounded by the limits, at least 1. */
void canvas_init(struct canvas *canvas, unsigned rows, unsigned cols);
void canvas_release(struct canvas *canvas);
void canvas_clear(struct canvas *canvas);

/* Write text at a place, cut at the right edge; does nothing outside. */
void canvas_put(struct canvas *canvas, unsigned row, unsigned col,
    enum canvas_look look, const char *format, ...)
	__attribute__((format(printf, 5, 6)));
void canvas_put_slice(struct canvas *canvas, unsigned row, unsigned col,
    enum canvas_look look, struct slice text);
/* Give the whole row this look. */
void canvas_row(struct canvas *canvas, unsigned row, enum canvas_look look);

/* Append the rows as lines without blanks at their ends. */
void canvas_print(const struct canvas *canvas, struct str *out);

#endif
