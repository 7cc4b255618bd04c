/* draw.c - the mail system at a glance: the screen
 *
 * In     a struct top
 * Out    a canvas
 * Holds  nothing
 * Spec   top.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>
#include <stdio.h>

#include "tools/zmailer/top/top.h"

#include "base/banned.h"

/* Eight steps of one character: _ . - = + * # @, the largest is @. */
static void
draw_history(const double history[TOP_HISTORY], char out[TOP_HISTORY + 1])
{
	static const char steps[] = "_.-=+*#@";
	double most = 0;

	for (int i = 0; i < TOP_HISTORY; i++)
		if (history[i] > most)
			most = history[i];
	for (int i = 0; i < TOP_HISTORY; i++)
		out[i] = most <= 0 || history[i] <= 0 ? steps[0] :
		    steps[(int)(history[i] / most * 7.0)];
	out[TOP_HISTORY] = '\0';
}

static void
rate_text(double rate, char *out, size_t size)
{
	if (rate < 0)
		snprintf(out, size, "?");
	else
		snprintf(out, size, "%.1f/s", rate);
}

static void
draw_head(const struct top *top, const char *host, const char *now,
    struct canvas *canvas)
{
	char in[TOP_HISTORY + 1], out[TOP_HISTORY + 1], in_rate[24],
	    out_rate[24];

	draw_history(top->in_history, in);
	draw_history(top->out_history, out);
	rate_text(top->in_rate, in_rate, sizeof(in_rate));
	rate_text(top->out_rate, out_rate, sizeof(out_rate));
	canvas_row(canvas, 0, LOOK_HEAD);
	canvas_put(canvas, 0, 0, LOOK_HEAD, "zmailer top  %s", host);
	if (canvas->cols > 10)
		canvas_put(canvas, 0, canvas->cols - 9, LOOK_HEAD, "%s", now);
	canvas_put(canvas, 1, 1, LOOK_PLAIN, "in %s %s   out %s %s   disk "
	    "%d%% free, inodes %d%%", in_rate, in, out_rate, out,
	    top->disk_percent, top->inode_percent);
	if (!top->is_up)
		canvas_put(canvas, 1, canvas->cols > 26 ? canvas->cols - 26 :
		    0, LOOK_WARN, "SCHEDULER DOES NOT ANSWER");
	canvas_put(canvas, 2, 1, LOOK_PLAIN, "router %" PRIu64 "  queue %"
	    PRIu64 "  deferred %" PRIu64 "  freezer %" PRIu64 "  postman %"
	    PRIu64 "  trash %" PRIu64, top->areas[AREA_ROUTER],
	    top->areas[AREA_TRANSPORT], top->areas[AREA_DEFERRED],
	    top->areas[AREA_FREEZER], top->areas[AREA_POSTMAN],
	    top->areas[AREA_TRASH]);
	if (top->only_copies > 0)
		canvas_put(canvas, 3, 1, LOOK_WARN, "%" PRIu64 " ONLY COPIES "
		    "in postman/ need a person: zmailer review",
		    top->only_copies);
}

static unsigned
draw_destinations(const struct top *top, unsigned row, struct canvas *canvas)
{
	canvas_row(canvas, row, LOOK_HEAD);
	canvas_put(canvas, row++, 1, LOOK_HEAD,
	    "%-28s %6s %6s %4s %5s  %-22s %s", "DESTINATION", "READY",
	    "WAIT", "ACT", "HELD", "STATE", "LAST WORDS");
	for (size_t i = 0; i < top->count && row + 1 < canvas->rows;
	    i++, row++) {
		const struct top_destination *d = &top->destinations[i];
		bool is_fine = d->is_fine;

		canvas_put(canvas, row, 1, is_fine ? LOOK_PLAIN : LOOK_WARN,
		    "%-28.28s %6" PRId64 " %6" PRId64 " %4" PRId64 " %5"
		    PRId64 "  %-22.22s %s", d->name, d->ready, d->waiting,
		    d->active, d->parked, d->state, d->words);
	}
	return row;
}

/* Who has most: the first line is the head. */
static void
draw_tops(const struct top *top, unsigned row, struct canvas *canvas)
{
	struct slice rest = str_slice(&top->tops), line;
	bool is_head = true;

	while (slice_cut(&rest, '\n', &line) && row + 1 < canvas->rows) {
		if (is_head)
			canvas_row(canvas, row, LOOK_HEAD);
		canvas_put(canvas, row++, 1, is_head ? LOOK_HEAD :
		    LOOK_PLAIN, SLICE_FMT, SLICE_ARG(line));
		is_head = false;
	}
}

void
top_draw(const struct top *top, const char *host, const char *now,
    struct canvas *canvas)
{
	unsigned row = 4;

	canvas_clear(canvas);
	draw_head(top, host, now, canvas);
	for (size_t i = 0; i < top->standstill.count && row + 4 < canvas->rows;
	    i++)
		if (!top->standstill.rows[i].is_good)
			canvas_put(canvas, row++, 1,
			    top->standstill.rows[i].is_note ?
			    LOOK_PLAIN : LOOK_WARN, "%s -> %s",
			    top->standstill.rows[i].text,
			    top->standstill.rows[i].next);
	if (top->page >= 0)
		draw_tops(top, row, canvas);
	else if (top->count == 0)
		canvas_put(canvas, draw_destinations(top, row, canvas), 1,
		    LOOK_GOOD, "No destination has mail.");
	else
		(void)draw_destinations(top, row, canvas);
	if (canvas->rows > 6)
		canvas_put(canvas, canvas->rows - 1, 0, LOOK_HEAD, "%s",
		    top->page < 0 ? "q quit   s u c m most of senders, users, "
		    "clients, domains   zmailer why ID" :
		    "q quit   d destinations   s u c m senders, users, "
		    "clients, domains   n by the next number");
}
