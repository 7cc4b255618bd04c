/* terminal.c - the person's terminal, through ncurses
 *
 * In     canvases; keys
 * Out    the screen
 * Holds  the screen from open to close
 * Spec   terminal.h; ncurses(3)
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdlib.h>
#include <unistd.h>

#include "tools/screen/terminal.h"

#ifdef HAVE_NCURSES
#include <curses.h>
#endif

#include "base/banned.h"

#ifdef HAVE_NCURSES

static const struct { short pair, colour; attr_t attr; }
    looks[LOOK_COUNT] = {
	[LOOK_PLAIN] = { 0, 0, A_NORMAL },
	[LOOK_HEAD] = { 0, 0, A_BOLD },
	[LOOK_CURSOR] = { 0, 0, A_REVERSE },
	[LOOK_WARN] = { 1, COLOR_RED, A_BOLD },
	[LOOK_GOOD] = { 2, COLOR_GREEN, A_NORMAL },
};
static bool has_colour;

int
terminal_open(struct err *err)
{
	const char *term = getenv("TERM");

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO) || term == NULL)
		return err_set(err, "this needs a terminal; --batch prints "
		    "it once");
	if (newterm(NULL, stdout, stdin) == NULL)
		return err_set(err, "the terminal '%s' is not known; --batch "
		    "prints it once", term);
	cbreak();
	noecho();
	keypad(stdscr, TRUE);
	curs_set(0);
	set_escdelay(50);
	has_colour = getenv("NO_COLOR") == NULL && has_colors();
	if (has_colour) {
		start_color();
		use_default_colors();
		for (int i = 0; i < LOOK_COUNT; i++)
			if (looks[i].pair > 0)
				init_pair(looks[i].pair, looks[i].colour, -1);
	}
	return 0;
}

void
terminal_close(void)
{
	endwin();
}

void
terminal_size(unsigned *out_rows, unsigned *out_cols)
{
	*out_rows = LINES > 0 ? (unsigned)LINES : 24;
	*out_cols = COLS > 0 ? (unsigned)COLS : 80;
}

void
terminal_draw(const struct canvas *canvas)
{
	erase();
	for (unsigned row = 0; row < canvas->rows; row++) {
		for (unsigned col = 0; col < canvas->cols; col++) {
			size_t at = (size_t)row * canvas->cols + col;
			unsigned char look = canvas->looks[at];
			attr_t attr = looks[look].attr;

			if (has_colour && looks[look].pair > 0)
				attr |= COLOR_PAIR(looks[look].pair);
			mvaddch((int)row, (int)col,
			    (chtype)(unsigned char)canvas->cells[at] | attr);
		}
	}
	refresh();
}

int
terminal_key(int timeout_ms)
{
	static const struct { int curses, ours; } keys[] = {
		{ ERR, TERMINAL_NOTHING }, { KEY_UP, TERMINAL_UP },
		{ KEY_DOWN, TERMINAL_DOWN }, { KEY_PPAGE, TERMINAL_PAGE_UP },
		{ KEY_NPAGE, TERMINAL_PAGE_DOWN },
		{ KEY_HOME, TERMINAL_HOME }, { KEY_END, TERMINAL_END },
		{ KEY_ENTER, TERMINAL_ENTER }, { '\n', TERMINAL_ENTER },
		{ '\r', TERMINAL_ENTER }, { 27, TERMINAL_ESCAPE },
		{ KEY_BACKSPACE, TERMINAL_BACKSPACE },
		{ 127, TERMINAL_BACKSPACE }, { 8, TERMINAL_BACKSPACE },
		{ KEY_RESIZE, TERMINAL_RESIZED }
	};
	int key;

	timeout(timeout_ms);
	key = getch();
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (keys[i].curses == key)
			return keys[i].ours;
	return key > 0 && key < 256 ? key : TERMINAL_NOTHING;
}

#else

int
terminal_open(struct err *err)
{
	return err_set(err, "built without ncurses (apt-get install "
	    "libncurses-dev, then configure again); --batch prints it once");
}

void
terminal_close(void)
{
}

void
terminal_size(unsigned *out_rows, unsigned *out_cols)
{
	*out_rows = 24;
	*out_cols = 80;
}

void
terminal_draw(const struct canvas *canvas)
{
}

int
terminal_key(int timeout_ms)
{
	return TERMINAL_NOTHING;
}

#endif
