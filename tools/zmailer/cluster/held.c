/* held.c - what the database has of a node that does not answer
 *
 * In     rows of copies; the options of list, count or why
 * Out    the entries, the sums, or the reason, as these verbs write them
 * Holds  a row at a time, and what is to be printed
 * Trusts nothing in a row: a control file that is none of its message is left
 *        out, remote words are escaped
 * Spec   cluster.h; doc/CLUSTER.md, One desk
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "base/clock.h"
#include "base/json.h"
#include "tools/copies/held.h"
#include "tools/selection/selection.h"
#include "tools/zmailer/cluster/cluster.h"

#include "base/banned.h"

struct held_look {
	const char	*verb, *node;
	struct selection_options options;
	struct selector	*selector;
	struct selection_test test;
	struct arena	*arena;		/* of a row */
	bool		 is_json;
	int64_t		 shown;		/* messages */
	int64_t		 recipients, bytes, oldest_s;
	struct str	 text;
};

/* "freezer/CAUSE"; what has a control file was in the queue. */
static void
held_view(struct held_look *look, const struct held_row *row,
    struct view *view)
{
	static const char freezer[] = "freezer/";

	*view = (struct view){ .area = slice_starts(row->area, freezer) ?
	    AREA_FREEZER : row->control.n > 0 ? AREA_TRANSPORT : AREA_ROUTER,
	    .name = "-", .why = "", .id = row->id,
	    .size_bytes = row->body_bytes };
	if (view->area == AREA_FREEZER)
		view->why = slice_dup(look->arena, slice_from(row->area,
		    sizeof(freezer) - 1));
	view_from_copy(look->arena, row->control, row->front,
	    look->test.flags, view);
}

/* How many of its recipients are meant, and not over; those of a message whose
 * are not known: none, and *out_is_meant. */
static int64_t
held_meant(const struct held_look *look, const struct view *view,
    bool *out_is_meant)
{
	int64_t count = 0;

	*out_is_meant = view->rcpt_count == 0 &&
	    selection_is_meant(&look->test, view, NULL);
	for (size_t i = 0; i < view->rcpt_count; i++)
		if (selection_is_meant(&look->test, view, &view->rcpts[i])) {
			*out_is_meant = true;
			count += !view_rcpt_is_over(&view->rcpts[i]);
		}
	return count;
}

static void
held_why(struct held_look *look, const struct view *view)
{
	struct str *out = &look->text;

	if (look->is_json) {
		json_open_answer(out);
		json_text(out, "id", slice_of(view->id));
		json_text(out, "from", view->sender);
		json_text(out, "state", SLICE(VIEW_COPY));
		json_text(out, "code", SLICE("silent"));
		json_close(out);
		return;
	}
	view_add_list(out, view, look->test.now_s);
	str_addf(out, "     cause   %s does not answer; this is what the "
	    "database has\n     try     zmailer cluster takeover %s\n",
	    look->node, look->node);
}

/* held_fn */
static void
held_show(void *context, const struct held_row *row)
{
	struct held_look *look = context;
	struct view view;
	bool is_meant;
	int64_t count;

	if ((look->options.after != NULL && strcmp(row->id,
	    look->options.after) <= 0) || (look->options.limit > 0 &&
	    look->shown >= look->options.limit))
		return;
	arena_reset(look->arena);
	held_view(look, row, &view);
	count = held_meant(look, &view, &is_meant);
	if (!is_meant)
		return;
	if (look->shown++ == 0 || view.time_s < look->oldest_s)
		look->oldest_s = view.time_s;
	look->recipients += count;
	look->bytes += (int64_t)view.size_bytes;
	if (strcmp(look->verb, "why") == 0)
		held_why(look, &view);
	else if (strcmp(look->verb, "list") != 0)
		return;
	else if (look->is_json)
		view_add_json(&look->text, &view);
	else
		view_add_list(&look->text, &view, look->test.now_s);
	fputs(look->text.buf, stdout);
	str_reset(&look->text);
}

static void
held_count(struct held_look *look)
{
	struct str *out = &look->text;

	if (look->is_json) {
		json_open_answer(out);
		json_text(out, "state", SLICE(VIEW_COPY));
		json_number(out, "messages", look->shown);
		json_number(out, "recipients", look->recipients);
		json_close(out);
		json_open_answer(out);
		json_number(out, "messages", look->shown);
		json_number(out, "bytes", look->bytes);
		json_number(out, "oldest", look->oldest_s);
		json_close(out);
	} else {
		str_addf(out, "%-10s %10s %10s\n%-10s %10" PRId64 " %10" PRId64
		    "\n", "STATE", "MESSAGES", "RECIPIENTS", VIEW_COPY,
		    look->shown, look->recipients);
	}
	fputs(out->buf, stdout);
}

static int
held_look(struct held_look *look, const struct conf *conf)
{
	struct arena *arena = arena_new();
	bool is_cut = false;
	struct err err;
	int result = -1;

	if (selection_selector(&look->options, arena, &look->selector) ==
	    EX_OK) {
		selection_test_init(&look->test, look->selector, conf,
		    clock_wall_s());
		result = held_each(conf->run_dir, look->node, held_show, look,
		    &is_cut, &err);
		if (result != 0)
			fprintf(stderr, "its copies are not shown: %s\n",
			    err_is_denied(&err) ? "root may ask for them" :
			    err.text);
	}
	if (result == 0 && strcmp(look->verb, "count") == 0)
		held_count(look);
	if (is_cut)
		fprintf(stderr, "there are more copies of it than could be "
		    "read in %d s\n", HELD_FOR_MS / 1000);
	arena_free(&arena);
	return result;
}

int
cluster_held(const struct verb_row *row, const struct arguments *arguments,
    const struct conf *conf, const char *node, bool is_json)
{
	struct held_look look = { .verb = row->name, .node = node,
	    .is_json = is_json, .text = STR_INIT };
	int result = -1;

	if (selection_options_take(arguments, &look.options) == EX_OK) {
		look.arena = arena_new();
		result = held_look(&look, conf);
		arena_free(&look.arena);
	}
	selection_options_release(&look.options);
	str_release(&look.text);
	return result;
}
