/* verb_review.c - zmailer review: what waits for a person
 *
 * In     freezer/, postman/ and deferred/; keys
 * Out    a screen, or lines; messages released and deleted
 * Trusts the person at the keyboard
 * Spec   zmailer-review(8); tools/review/review.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/event.h"
#include "daemon/skeleton.h"
#include "tools/review/review.h"
#include "tools/screen/terminal.h"
#include "tools/verb.h"

#include "base/banned.h"

enum { AREAS = 1 << AREA_FREEZER | 1 << AREA_POSTMAN | 1 << AREA_DEFERRED };

static bool
do_row(struct review *review, struct review_row *row, enum review_act act,
    const struct desk_options *options, struct err *err)
{
	desk_act_fn *fn = act == REVIEW_DELETE ? desk_act_delete :
	    desk_act_release;

	if (row->is_gone || fn(review->choice, row->item, options, err) != 1)
		return false;
	row->is_gone = true;
	row->is_marked = false;
	return true;
}

static void
do_act(struct review *review, enum review_act act,
    const struct desk_options *options)
{
	struct err err = { "" };
	unsigned done = 0, marked = 0;

	for (size_t i = 0; i < review->count; i++)
		if (review->rows[i].is_marked) {
			marked++;
			done += do_row(review, &review->rows[i], act, options,
			    &err);
		}
	if (marked == 0 && review->cursor < review->count)
		done = do_row(review, &review->rows[review->cursor], act,
		    options, &err);
	event_flush();
	if (err.text[0] != '\0')
		snprintf(review->said, sizeof(review->said), "%.190s",
		    err.text);
	else
		snprintf(review->said, sizeof(review->said), "%u %s%s", done,
		    act == REVIEW_DELETE ? "deleted" : "released",
		    act == REVIEW_DELETE ? ": zmailer undelete brings back" :
		    "");
}

/* Until a key ends or reloads it. */
static enum review_act
screen_loop(struct review *review, const struct desk_options *options)
{
	for (;;) {
		struct canvas canvas;
		enum review_act act;
		unsigned rows, cols;

		terminal_size(&rows, &cols);
		review_read(review);
		canvas_init(&canvas, rows, cols);
		review_draw(review, &canvas);
		terminal_draw(&canvas);
		canvas_release(&canvas);
		act = review_key(review, terminal_key(-1), rows);
		if (act == REVIEW_QUIT || act == REVIEW_RELOAD)
			return act;
		if (act != REVIEW_NO_ACT)
			do_act(review, act, options);
	}
}

static int
show_lines(struct review *review, const struct desk_options *options)
{
	struct str out = STR_INIT;

	review_list(review, options->is_json, &out);
	if (review->count == 1 && !options->is_json) {
		review_read(review);
		str_addc(&out, '\n');
		str_add_slice(&out, str_slice(&review->text));
	}
	fputs(out.buf, stdout);
	str_release(&out);
	return review->count == 0 && options->words.len > 0 ? 1 : EX_OK;
}

static int
review_once(const struct conf *conf, const struct desk_options *options,
    const struct selector *selector, bool is_screen, bool *out_again)
{
	struct desk_choice choice;
	struct review review;
	struct err err;
	int status = EX_OK;

	*out_again = false;
	if (desk_choose(conf, AREAS, selector, &choice, &err) < 0) {
		if (is_screen)
			terminal_close();
		fprintf(stderr, "zmailer: review: %s\n", err.text);
		desk_choice_release(&choice);
		return EX_NOINPUT;
	}
	review_init(&review, &choice);
	if (is_screen)
		*out_again = screen_loop(&review, options) == REVIEW_RELOAD;
	else
		status = show_lines(&review, options);
	review_release(&review);
	desk_choice_release(&choice);
	return status;
}

static int
run(const struct conf *conf, const struct desk_options *options,
    bool is_list)
{
	struct arena *arena = arena_new();
	struct selector *selector;
	struct err err;
	bool is_screen = !is_list && !options->is_json &&
	    isatty(STDOUT_FILENO), again = true;
	int status = desk_selector(options, arena, &selector);

	if (status == EX_OK && daemon_drop(conf, ROLE_ROUTER, &err) < 0) {
		fprintf(stderr, "zmailer: review: %s\n", err.text);
		status = EX_NOPERM;
	}
	if (status == EX_OK && is_screen && terminal_open(&err) < 0) {
		fprintf(stderr, "zmailer: review: %s\n", err.text);
		is_screen = false;
	}
	event_open(conf->log_dir);
	while (status == EX_OK && again)
		status = review_once(conf, options, selector, is_screen,
		    &again);
	if (is_screen)
		terminal_close();
	arena_free(&arena);
	return status;
}

int
verb_review(int argc, char **argv, const char *conf_path)
{
	struct desk_options options;
	bool is_list = false;
	struct conf *conf;
	int status, kept = 1;

	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--list") == 0 ||
		    strcmp(argv[i], "--batch") == 0)
			is_list = true;
		else
			argv[kept++] = argv[i];
	}
	status = desk_args(kept, argv, 0, &options);
	if (status == EX_OK) {
		conf = verb_conf(conf_path);
		status = run(conf, &options, is_list);
		conf_free(&conf);
	}
	desk_options_release(&options);
	return status;
}
