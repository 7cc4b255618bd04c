/* terminal.h - the person's terminal, through ncurses
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_SCREEN_TERMINAL_H
#define ZM_TOOLS_SCREEN_TERMINAL_H

#include "base/err.h"
#include "tools/screen/canvas.h"

enum terminal_key {		/* besides characters */
	TERMINAL_NOTHING = -1,	/* the time is over */
	TERMINAL_UP = 0x10000, TERMINAL_DOWN, TERMINAL_PAGE_UP,
	TERMINAL_PAGE_DOWN, TERMINAL_HOME, TERMINAL_END, TERMINAL_ENTER,
	TERMINAL_ESCAPE, TERMINAL_BACKSPACE, TERMINAL_RESIZED
};

/* Begin full-screen output.  returns 0; -1: built without ncurses, or there is
 * no terminal (err says what to do). */
int terminal_open(struct err *err);
void terminal_close(void);
void terminal_size(unsigned *out_rows, unsigned *out_cols);
void terminal_draw(const struct canvas *canvas);
/* Wait for a key; TERMINAL_NOTHING after timeout_ms; -1 waits for ever. */
int terminal_key(int timeout_ms);

#endif
