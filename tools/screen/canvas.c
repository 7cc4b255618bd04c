/* canvas.c - a screen of text as data
 *
 * In     texts and places
 * Out    cells; lines
 * Trusts nothing: places outside are skipped, controls shown as "?"
 * Spec   canvas.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "tools/screen/canvas.h"

#include "base/banned.h"

void
canvas_init(struct canvas *canvas, unsigned rows, unsigned cols)
{
	canvas->rows = rows == 0 ? 1 : rows < CANVAS_ROWS_MAX ? rows :
	    CANVAS_ROWS_MAX;
	canvas->cols = cols == 0 ? 1 : cols < CANVAS_COLS_MAX ? cols :
	    CANVAS_COLS_MAX;
	canvas->cells = mem_alloc(canvas->rows, canvas->cols);
	canvas->looks = mem_alloc(canvas->rows, canvas->cols);
	canvas_clear(canvas);
}

void
canvas_release(struct canvas *canvas)
{
	mem_free(&canvas->cells);
	mem_free(&canvas->looks);
}

void
canvas_clear(struct canvas *canvas)
{
	memset(canvas->cells, ' ', (size_t)canvas->rows * canvas->cols);
	memset(canvas->looks, LOOK_PLAIN,
	    (size_t)canvas->rows * canvas->cols);
}

void
canvas_put_slice(struct canvas *canvas, unsigned row, unsigned col,
    enum canvas_look look, struct slice text)
{
	size_t at = (size_t)row * canvas->cols + col;

	if (row >= canvas->rows || col >= canvas->cols)
		return;
	for (size_t i = 0; i < text.n && col + i < canvas->cols; i++) {
		unsigned char c = (unsigned char)text.p[i];

		canvas->cells[at + i] = c >= ' ' && c < 0x7f ? (char)c :
		    c == '\t' ? ' ' : '?';
		canvas->looks[at + i] = (unsigned char)look;
	}
}

void
canvas_put(struct canvas *canvas, unsigned row, unsigned col,
    enum canvas_look look, const char *format, ...)
{
	char text[CANVAS_COLS_MAX + 1];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	canvas_put_slice(canvas, row, col, look, slice_of(text));
}

void
canvas_row(struct canvas *canvas, unsigned row, enum canvas_look look)
{
	if (row < canvas->rows)
		memset(canvas->looks + (size_t)row * canvas->cols, (int)look,
		    canvas->cols);
}

void
canvas_print(const struct canvas *canvas, struct str *out)
{
	for (unsigned row = 0; row < canvas->rows; row++) {
		const char *line = canvas->cells +
		    (size_t)row * canvas->cols;
		size_t n = canvas->cols;

		while (n > 0 && line[n - 1] == ' ')
			n--;
		str_add(out, line, n);
		str_addc(out, '\n');
	}
}
