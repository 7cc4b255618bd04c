/* list.c - zmailer list: every message, where it is and why
 *
 * In     the spool; RUN/scheduler.sock if a scheduler runs, and only that if
 *        the caller may not read the spool: the caller's own mail
 * Out    an entry for each message, oldest first; or JSON lines, as found; or a
 *        page of either, by age
 * Spec   zmailer-list(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "base/clock.h"
#include "base/json.h"
#include "tools/queue/turns.h"
#include "tools/selection/selection.h"
#include "tools/zmailer/verbs/verb.h"

#include "base/banned.h"

struct entry {
	char	 id[SPOOL_ID_BYTES];
	char	*text;
};

struct list {
	struct selector	*selector;	/* NULL: all */
	struct selection_test test;
	bool		 is_json, is_page;
	bool		 is_own;	/* of others' mail nothing was told */
	const char	*after;		/* only what is after this id */
	size_t		 limit;
	int64_t		 now_s;
	struct entry	*entries;
	size_t		 count, room;
	struct str	 text;
};

/* Is a recipient of it (or it as a whole, without any) meant? */
static bool
is_selected(const struct list *list, const struct view *view)
{
	for (size_t i = 0; i < view->rcpt_count; i++)
		if (selection_is_meant(&list->test, view, &view->rcpts[i]))
			return true;
	return view->rcpt_count == 0 &&
	    selection_is_meant(&list->test, view, NULL);
}

static bool
list_one(void *context, const struct view *view)
{
	struct list *list = context;
	struct entry *entry;

	if (!is_selected(list, view) || (list->after != NULL &&
	    strcmp(view->id, list->after) <= 0))
		return true;
	str_reset(&list->text);
	if (list->is_json)
		view_add_json(&list->text, view);
	else
		view_add_list(&list->text, view, list->now_s);
	if (list->is_json && !list->is_page) {
		fputs(list->text.buf, stdout);
		list->count++;
		return true;
	}
	if (list->count == list->room) {
		list->room = list->room ? list->room * 2 : 64;
		list->entries = mem_grow(list->entries, list->room,
		    sizeof(*list->entries));
	}
	entry = &list->entries[list->count++];
	strlcpy(entry->id, view->id, sizeof(entry->id));
	entry->text = mem_strdup(list->text.buf);
	return true;
}

static int
list_entry_compare(const void *a, const void *b)
{
	return strcmp(((const struct entry *)a)->id,
	    ((const struct entry *)b)->id);
}

/* What the page holds; the rest is freed. */
static void
entries_print(struct list *list)
{
	if (list->count > 1)
		qsort(list->entries, list->count, sizeof(*list->entries),
		    list_entry_compare);
	if (!list->is_json && list->count > 0)
		printf("%-*s %6s %6s  %-8s %s\n", VIEW_ID_COLUMNS, "ID",
		    "AGE", "SIZE", "STATE", "FROM / TO");
	for (size_t i = 0; i < list->count; i++) {
		if (i < list->limit)
			fputs(list->entries[i].text, stdout);
		mem_free(&list->entries[i].text);
	}
}

/* After it: how many, and how to go on. */
static void
end_print(const struct list *list, bool is_up)
{
	bool has_more = list->is_page && list->count >= list->limit;
	const char *last = has_more ? list->entries[list->limit - 1].id : "";
	size_t count = has_more ? list->limit : list->count;
	struct str end = STR_INIT;

	if (list->is_json && has_more) {
		json_open_answer(&end);
		json_text(&end, "next", slice_of(last));
		json_close(&end);
		fputs(end.buf, stdout);
		str_release(&end);
	}
	if (list->is_json)
		return;
	if (count == 0)
		printf(list->selector || list->after ?
		    "No message matches.\n" : list->is_own ?
		    "None of your mail waits; what else does you may not see "
		    "(zmailer help control).\n" : "The queue is empty.\n");
	else
		printf("%zu message%s\n", count, count == 1 ? "" : "s");
	if (has_more)
		printf("There may be more: --after %s\n", last);
	if (!is_up && count > 0)
		printf("The scheduler does not run, or does not answer: "
		    "states are what the files say (zmailer start; zmailer "
		    "status).\n");
}

/* 0; -1. */
static int
list_files(struct list *list, const struct conf *conf,
    const struct selection_options *options, struct arena *arena, bool *is_up,
    struct err *err)
{
	struct spool *spool = NULL;
	struct live live;
	int result = -1;

	selection_test_init(&list->test, list->selector, conf, list->now_s);
	/* states that a selector may ask for are the files': all are read */
	if (list->is_page && (list->selector == NULL ||
	    selection_is_shared(list->selector)))
		live_ask_page(conf->run_dir, arena, options->limit,
		    options->after, list->selector == NULL ? NULL :
		    options->words.buf, &live);
	else
		live_ask(conf->run_dir, arena, &live);
	*is_up = live.is_up;
	if (conf_spool_open(conf, 0, &spool,
	    err) == 0)
		result = view_each(spool, &live, list->test.flags, list_one,
		    list, err);
	spool_close(&spool);
	return result;
}

int
verb_list(struct arguments *arguments)
{
	const char *conf_path = arguments->conf_path;
	struct list list = { .text = STR_INIT, .now_s = clock_wall_s() };
	struct arena *arena = arena_new();
	struct selection_options options;
	bool is_up = true;
	struct conf *conf;
	struct err err;
	int status;

	status = selection_options_take(arguments, &options);
	if (status == EX_OK)
		status = selection_selector(&options, arena, &list.selector);
	if (status != EX_OK) {
		arena_free(&arena);
		selection_options_release(&options);
		return status;
	}
	list.is_json = options.is_json;
	list.is_page = options.limit > 0;
	list.limit = list.is_page ? (size_t)options.limit : SIZE_MAX;
	list.after = options.after;
	conf = verb_conf_spool(conf_path);
	if ((view_is_forbidden(conf) ?
		    view_each_asked(conf->run_dir, list.selector, list_one,
			&list, &list.is_own, &err) :
		    list_files(&list, conf, &options, arena, &is_up, &err)) < 0)
		return verb_failed("list", &err, EX_NOINPUT);
	if (!list.is_json || list.is_page)
		entries_print(&list);
	end_print(&list, is_up);
	if (is_up && !list.is_json)
		turns_note("list", conf->run_dir);
	selection_options_release(&options);
	mem_free(&list.entries);
	str_release(&list.text);
	arena_free(&arena);
	conf_free(&conf);
	return list.count == 0 && list.selector != NULL ? 1 : EX_OK;
}
