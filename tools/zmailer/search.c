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
#include "tools/zmailer/verbs/verb.h"

#include "base/banned.h"

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
search_add_selector(const struct arguments *arguments, struct str *request)
{
	struct str words = STR_INIT;
	const char *word;

	for (int i = 1; (word = arguments_word(arguments, i)) != NULL; i++)
		str_addf(&words, "%s%s", i > 1 ? " " : "", word);
	json_text(request, "select", str_slice(&words));
	str_release(&words);
}

static void
search_begin(const struct arguments *arguments, struct str *request)
{
	bool is_saved = arguments_is(arguments, "save");
	char who[64];

	verb_who(who, sizeof(who));
	control_begin(request, arguments_is(arguments, "list") ? "searches" :
	    is_saved ? "save-search" : "remove-search");
	json_text(request, "who", slice_of(who));
	if (!arguments_is(arguments, "list"))
		json_text(request, "name", slice_of(arguments_word(arguments,
		    0)));
	if (is_saved)
		search_add_selector(arguments, request);
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
	struct conf *conf = verb_conf_spool(arguments->conf_path);
	int status = search_ask(arguments, conf);

	conf_free(&conf);
	return status;
}
