/* trace.c - zmailer trace: what became of a message
 *
 * In     a spool id, a message id, an address, a client, a selector, a
 *        window in time; the journal
 * Out    a table a message, or the journal's own lines
 * Spec   zmailer(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <sysexits.h>

#include "base/json.h"
#include "tools/answers/answers.h"
#include "tools/selection/selection.h"
#include "tools/journal/ask.h"
#include "tools/journal/facts.h"
#include "past/names.h"
#include "tools/zmailer/verbs/verb.h"

#include "base/banned.h"

static void
trace_lines_put(const struct life *life)
{
	struct str text = STR_INIT;

	for (size_t i = 0; i < life->count; i++) {
		str_reset(&text);
		json_add_answer(&text, life->lines[i].line);
		fputs(text.buf, stdout);
	}
	str_release(&text);
}

static int
trace_message(struct journal *journal, const struct journal_ask *ask,
    const char *what, const struct conf *conf, bool is_json)
{
	struct arena *arena = arena_new();
	struct str text = STR_INIT;
	struct life life;
	int status = EX_OK;

	life_find(journal, ask, arena, &life);
	if (life.count == 0 && ask->kind == ASK_ID) {
		struct journal_ask refused = *ask;	/* "(ref ID)" */

		refused.kind = ASK_SESSION;
		life_find(journal, &refused, arena, &life);
	}
	if (life.count == 0) {
		fprintf(stderr, "zmailer: trace: the journal of the last %d "
		    "days does not know %s%s\n",
		    (int)(conf->journal_keep_ms / JOURNAL_DAY_MS),
		    what ? what : "any message",
		    ask->span.since_ms != INT64_MIN ||
		    ask->span.until_ms != INT64_MAX ? " at that time" : "");
		status = 1;
	} else if (is_json) {
		trace_lines_put(&life);
	} else {
		life_print(&life, &text);
		fputs(text.buf, stdout);
		if (life.is_cut)
			printf("\nOnly the newest %d messages are shown; "
			    "--since and --until show others.\n",
			    JOURNAL_IDS_MAX);
	}
	str_release(&text);
	arena_free(&arena);
	return status;
}

struct words {
	struct selection_options options;	/* its words alone are used */
	struct journal_ask	 ask;
	struct arena	*arena;
	struct selector	*selector;	/* of ASK_SELECTOR */
	struct facts	*facts;
};

/* Whom: the words together are one of ask.h, or a selector. */
static int
trace_whom(struct words *words, const struct journal_ask *window)
{
	struct slice what = str_slice(&words->options.words);
	struct err err;
	int status;

	if (!ask_is_selector(what)) {
		if (ask_parse(what.n > 0 ? words->options.words.buf : NULL,
		    &words->ask, &err) < 0)
			return arguments_refuse(words->options.arguments,
			    "%s", err.text);
		words->ask.span = window->span;
		return EX_OK;
	}
	status = selection_selector(&words->options, words->arena,
	    &words->selector);
	if (status != EX_OK)
		return status;
	words->ask = *window;
	words->ask.kind = ASK_SELECTOR;
	return EX_OK;
}

/* The window is read into an ask of its own, for what comes first resets
 * it. */
static int
trace_arguments(const struct arguments *arguments, struct words *words)
{
	static const enum option_id ids[] = { OPT_DAY, OPT_SINCE, OPT_UNTIL };
	struct journal_ask window;
	struct err err;
	int status = selection_options_take(arguments, &words->options);

	if (status != EX_OK)
		return status;
	(void)ask_parse(NULL, &window, &err);
	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++)
		if (arguments_has(arguments, ids[i]) &&
		    ask_option(ids[i], arguments_text(arguments, ids[i]),
		    &window, &err) != 0)
			return arguments_refuse(arguments, "%s", err.text);
	if (words->options.words.len == 0 &&
	    window.span.since_ms == INT64_MIN)
		return arguments_refuse(arguments, "which message, or --day?");
	return trace_whom(words, &window);
}

static int
trace_conf(const struct conf *conf, struct words *words)
{
	const struct str *what = &words->options.words;
	const struct rights_peer *asker = answers_asker();
	struct journal *journal;
	struct err err;
	int status;

	if (journal_open_all(conf->log_dir, &journal, &err) < 0)
		return verb_failed("trace", &err, EX_NOINPUT);
	ask_set_host(&words->ask, conf->host);
	if (words->ask.kind == ASK_SELECTOR)
		words->ask.facts = words->facts = facts_new(words->selector,
		    conf->host);
	if (asker != NULL && asker->right < RIGHT_READ)
		words->ask.owner = asker->name;
	status = trace_message(journal, &words->ask,
	    what->len > 0 ? what->buf : NULL, conf, words->options.is_json);
	journal_close(&journal);
	return status;
}

int
verb_trace(struct arguments *arguments)
{
	struct words words = { .arena = arena_new() };
	struct conf *conf = NULL;
	int status = trace_arguments(arguments, &words);

	if (status == EX_OK) {
		conf = verb_conf_spool(arguments->conf_path);
		if (!answers_have(conf, conf->log_dir, arguments, &status))
			status = trace_conf(conf, &words);
		conf_free(&conf);
	}
	if (words.facts != NULL)
		facts_free(&words.facts);
	selection_options_release(&words.options);
	arena_free(&words.arena);
	return status;
}
