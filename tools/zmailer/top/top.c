/* top.c - zmailer top: the mail system at a glance, live
 *
 * In     what tools/top looks at, every other second; keys
 * Out    a screen, or with --batch lines
 * Spec   zmailer-top(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "tools/screen/terminal.h"
#include "tools/zmailer/top/top.h"
#include "tools/zmailer/verbs/verb.h"

#include "base/banned.h"

enum { EVERY_MS = 2000, BATCH_ROWS = 24, BATCH_COLS = 132 };

static void
draw_now(const struct top *top, const struct conf *conf,
    struct canvas *canvas)
{
	char text[CLOCK_TEXT_BYTES];

	clock_local(clock_wall_s(), text);
	top_draw(top, conf->host, text, canvas);
}

static void
top_batch(struct top *top, const struct conf *conf, uint64_t times)
{
	for (uint64_t i = 0; i < times; i++) {
		struct str out = STR_INIT;
		struct canvas canvas;

		if (i > 0)
			poll(NULL, 0, EVERY_MS);
		top_look(top, conf);
		canvas_init(&canvas, BATCH_ROWS, BATCH_COLS);
		draw_now(top, conf, &canvas);
		canvas_print(&canvas, &out);
		fputs(out.buf, stdout);
		fflush(stdout);
		canvas_release(&canvas);
		str_release(&out);
	}
}

/* Which page a key is for; the journal is counted anew for it. */
static void
page_choose(struct top *top, int key)
{
	static const char keys[] = "dsucm";	/* -1, and enum tops_sort */
	const char *found = key > 0 && key < 128 ? strchr(keys, key) : NULL;

	if (key == 'n')
		top->by = (enum tops_by)((top->by + 1) % TOPS_BYS);
	else if (found != NULL)
		top->page = (int)(found - keys) - 1;
	else
		return;
	top->tops_ms = 0;
}

static void
top_live(struct top *top, const struct conf *conf)
{
	int key = TERMINAL_NOTHING;

	while (key != 'q' && key != TERMINAL_ESCAPE) {
		struct canvas canvas;
		unsigned rows, cols;

		if (key == TERMINAL_NOTHING)
			top_look(top, conf);
		top_look_at_journal(top, conf);
		terminal_size(&rows, &cols);
		canvas_init(&canvas, rows, cols);
		draw_now(top, conf, &canvas);
		terminal_draw(&canvas);
		canvas_release(&canvas);
		key = terminal_key(EVERY_MS);
		page_choose(top, key);
	}
}

int
verb_top(struct arguments *arguments)
{
	uint64_t times = (uint64_t)arguments_number(arguments, OPT_TIMES, 1);
	struct conf *conf;
	struct top top;
	struct err err;
	int status;

	conf = verb_conf_spool(arguments->conf_path);
	if (arguments_has(arguments, OPT_CLUSTER) ||
	    arguments_has(arguments, OPT_NODE)) {
		status = top_of_nodes(conf, arguments);
		conf_free(&conf);
		return status;
	}
	if (arguments_has(arguments, OPT_JSON)) {
		conf_free(&conf);
		return arguments_refuse(arguments, "--json is for --cluster "
		    "and --node; zmailer metrics has the numbers of this one");
	}
	top_init(&top);
	if (arguments_has(arguments, OPT_BATCH) || !isatty(STDOUT_FILENO)) {
		top_batch(&top, conf, times);
	} else if (terminal_open(&err) == 0) {
		top_live(&top, conf);
		terminal_close();
	} else {
		fprintf(stderr, "zmailer: top: %s\n", err.text);
		top_batch(&top, conf, times);
	}
	top_release(&top);
	conf_free(&conf);
	return EX_OK;
}
