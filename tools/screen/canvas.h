/* canvas.h - a screen of text as data
 *
 * Full-screen verbs draw on a canvas; terminal.c shows it, --batch prints
 * it, tests look at it.  Cells hold printable ASCII: whatever mail brings,
 * nothing else reaches a terminal.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_SCREEN_CANVAS_H
#define ZM_TOOLS_SCREEN_CANVAS_H

#include "base/str.h"

enum canvas_look {		/* never colour alone: words say it too */
	LOOK_PLAIN, LOOK_HEAD, LOOK_CURSOR, LOOK_WARN, LOOK_GOOD, LOOK_COUNT
};

enum { CANVAS_ROWS_MAX = 500, CANVAS_COLS_MAX = 500 };

struct canvas {
	unsigned	 rows, cols;
	char		*cells;		/* rows * cols */
	unsigned char	*looks;		/* enum canvas_look each */
};

/* An empty one; sizes are cut to the limits, at least 1. */
void canvas_init(struct canvas *canvas, unsigned rows, unsigned cols);
void canvas_release(struct canvas *canvas);
void canvas_clear(struct canvas *canvas);

/* Text at a place, cut at the right edge; nothing happens outside. */
void canvas_put(struct canvas *canvas, unsigned row, unsigned col,
    enum canvas_look look, const char *format, ...)
	__attribute__((format(printf, 5, 6)));
void canvas_put_slice(struct canvas *canvas, unsigned row, unsigned col,
    enum canvas_look look, struct slice text);
/* The whole row in this look. */
void canvas_row(struct canvas *canvas, unsigned row, enum canvas_look look);

/* Rows as lines without blanks at their ends. */
void canvas_print(const struct canvas *canvas, struct str *out);

#endif
