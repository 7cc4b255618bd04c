/* search.c - zmailer search: selectors that a person saved under a name
 *
 * In     argv; lines of the scheduler
 * Out    a line a search, by name; the scheduler's orders save-search and
 *        remove-search
 * Trusts no line: what is shown has its controls escaped
 * Spec   zmailer-search(8); doc/protocol/control.md sections 4 and 6
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <stdlib.h>
#include <sysexits.h>

#include "base/json.h"
#include "tools/queue/control.h"
#include "tools/selection/selection.h"
#include "tools/zmailer/verbs/verb.h"

#include "base/banned.h"

enum { SEARCH_NAME_BYTES_MAX = 64, SEARCH_SELECTOR_BYTES_MAX = 512 };

static bool
search_print(void *context, struct slice line)
{
	const bool *is_json = context;
	struct str name = STR_INIT, words = STR_INIT, text = STR_INIT;

	if (*is_json) {
		control_put_line(line);
		return true;
	}
	(void)json_get(line, "name", &name);
	(void)json_get(line, "select", &words);
	str_add_escaped(&text, str_slice(&name));
	str_adds(&text, "\t");
	str_add_escaped(&text, str_slice(&words));
	printf("%s\n", text.buf);
	str_release(&name);
	str_release(&words);
	str_release(&text);
	return true;
}

/* The words after the name. */
static void
search_selector(const struct arguments *arguments, struct str *out)
{
	const char *word;

	for (int i = 1; (word = arguments_word(arguments, i)) != NULL; i++)
		str_addf(out, "%s%s", i > 1 ? " " : "", word);
}

/* What is saved must be what list takes: who comes back to it later would see
 * an empty list.  0 or EX_USAGE. */
static int
search_selector_check(const struct arguments *arguments)
{
	struct selection_options options = { .arguments = arguments,
	    .verb = arguments->verb, .words = STR_INIT };
	struct arena *arena = arena_new();
	struct selector *parsed;
	int status;

	search_selector(arguments, &options.words);
	status = options.words.len > SEARCH_SELECTOR_BYTES_MAX ?
	    arguments_refuse(arguments, "the selector has %zu bytes; at most "
	    "%d are saved", options.words.len, SEARCH_SELECTOR_BYTES_MAX) :
	    selection_selector(&options, arena, &parsed);
	str_release(&options.words);
	arena_free(&arena);
	return status;
}

/* 0 or EX_USAGE. */
static int
search_check(const struct arguments *arguments)
{
	const char *name = arguments_word(arguments, 0);

	if (arguments_is(arguments, "list"))
		return EX_OK;
	if (slice_of(name).n == 0 ||
	    slice_of(name).n > SEARCH_NAME_BYTES_MAX)
		return arguments_refuse(arguments, "a name has 1 to %d bytes; "
		    "this one has %zu", SEARCH_NAME_BYTES_MAX,
		    slice_of(name).n);
	return arguments_is(arguments, "save") ?
	    search_selector_check(arguments) : EX_OK;
}

static void
search_begin(const struct arguments *arguments, struct str *request)
{
	bool is_saved = arguments_is(arguments, "save");
	struct str words = STR_INIT;
	char who[64];

	verb_who(who, sizeof(who));
	control_begin(request, arguments_is(arguments, "list") ? "searches" :
	    is_saved ? "save-search" : "remove-search");
	json_text(request, "who", slice_of(who));
	if (!arguments_is(arguments, "list"))
		json_text(request, "name", slice_of(arguments_word(arguments,
		    0)));
	if (is_saved) {
		search_selector(arguments, &words);
		json_text(request, "select", str_slice(&words));
		str_release(&words);
	}
}

/* returns an exit status */
static int
search_conclude(const struct arguments *arguments, bool is_json,
    struct slice last)
{
	bool is_missing = arguments_is(arguments, "remove") &&
	    json_get_number(last, "searches") == 0;

	if (is_missing)
		fprintf(stderr, "zmailer search: no search of that name is "
		    "saved; `zmailer search list` has yours\n");
	else if (!arguments_is(arguments, "list") && is_json)
		control_put_line(last);
	else if (!arguments_is(arguments, "list"))
		puts(arguments_is(arguments, "save") ? "saved" : "removed");
	return is_missing ? EXIT_FAILURE : EX_OK;
}

static int
search_ask(const struct arguments *arguments, const struct conf *conf)
{
	bool is_json = arguments_has(arguments, OPT_JSON);
	struct str request = STR_INIT, last = STR_INIT;
	struct control control;
	struct err err;
	enum control_reached reached = control_connect(conf->run_dir,
	    &control, &err);
	int status;

	if (reached == CONTROL_ABSENT)
		return control_stopped(arguments->verb, conf->run_dir, NULL);
	search_begin(arguments, &request);
	if (reached == CONTROL_REACHED && control_ask(&control, &request,
	    search_print, &is_json, &last, &err) == 0)
		status = search_conclude(arguments, is_json, str_slice(&last));
	else
		status = control_failed(arguments->verb, &control, &err);
	control_hang_up(&control);
	str_release(&request);
	str_release(&last);
	return status;
}

int
verb_search(struct arguments *arguments)
{
	int status = search_check(arguments);
	struct conf *conf;

	if (status != EX_OK)
		return status;
	conf = verb_conf_spool(arguments->conf_path);
	status = search_ask(arguments, conf);
	conf_free(&conf);
	return status;
}
