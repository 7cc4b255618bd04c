/* move.c - a verb that moves files which were set aside
 *
 * In     argv, areas, what to do with one file
 * Out    each file moved and told; a count
 * Trusts the person at the keyboard, once the choice was confirmed
 * Spec   desk.h; doc/INTERNALS.md rows D1 to D6
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <sysexits.h>

#include "base/event.h"
#include "daemon/skeleton.h"
#include "tools/desk/desk.h"
#include "tools/verb.h"

#include "base/banned.h"

static void
say(const struct desk_options *options, const struct desk_choice *choice,
    const struct desk_item *item, const char *done, const struct err *err)
{
	struct str line = STR_INIT;

	if (options->is_json) {
		desk_add_json(&line, item, err == NULL ? done : NULL,
		    err == NULL ? NULL : err->text);
	} else if (err == NULL) {
		str_addf(&line, "%-9s ", done);
		desk_add_item(&line, item, choice->now_s);
	}
	fputs(line.buf, stdout);
	if (err != NULL)
		fprintf(stderr, "zmailer: %s: %s\n", options->verb,
		    err->text);
	str_release(&line);
}

static int
act_on_all(struct desk_choice *choice, const struct desk_options *options,
    const char *done, desk_act_fn *act)
{
	size_t moved = 0;
	struct err err;

	for (size_t i = 0; i < choice->count; i++) {
		struct desk_item *item = &choice->items[i];

		if (act(choice, item, options, &err) == 1) {
			moved++;
			say(options, choice, item, done, NULL);
		} else {
			say(options, choice, item, done, &err);
		}
	}
	if (!options->is_json)
		printf("%zu message%s %s\n", moved, moved == 1 ? "" : "s",
		    done);
	return moved == choice->count ? EX_OK : 1;
}

static int
run(struct desk_options *options, const struct conf *conf, unsigned areas,
    const char *done, desk_act_fn *act)
{
	struct arena *arena = arena_new();
	struct desk_choice choice = { .count = 0 };
	struct selector *selector;
	struct err err = { "" };
	int status;

	if (options->words.len == 0)
		status = verb_usage(options->verb, "which messages? 'all' "
		    "means every one");
	else
		status = desk_selector(options, arena, &selector);
	if (status == EX_OK && (daemon_drop(conf, ROLE_ROUTER, &err) < 0 ||
	    desk_choose(conf, areas, selector, &choice, &err) < 0)) {
		fprintf(stderr, "zmailer: %s: %s\n", options->verb, err.text);
		status = EX_NOPERM;
	}
	if (status == EX_OK && desk_confirm(options, &choice, &status)) {
		event_open(conf->log_dir);
		status = act_on_all(&choice, options, done, act);
		event_flush();
	}
	if (choice.arena != NULL)
		desk_choice_release(&choice);
	arena_free(&arena);
	return status;
}

int
desk_move(int argc, char **argv, const char *conf_path, unsigned areas,
    const char *done, desk_act_fn *act)
{
	struct desk_options options;
	struct conf *conf;
	int status = desk_args(argc, argv, DESK_WRITES, &options);

	if (status == EX_OK) {
		conf = verb_conf(conf_path);
		status = run(&options, conf, areas, done, act);
		conf_free(&conf);
	}
	desk_options_release(&options);
	return status;
}
