/* args.c - the command line of verbs that choose messages
 *
 * In     arguments
 * Out    options; a selector, or what is wrong with it and where
 * Trusts nothing: what is shown of the words has its controls escaped
 * Spec   selection.h; zmailer(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "base/guess.h"
#include "mail/spool/spool.h"
#include "mail/words/selector_words.h"
#include "tools/selection/selection.h"

#include "base/banned.h"

int
selection_options_take(const struct arguments *arguments,
    struct selection_options *out)
{
	const char *span = arguments_text(arguments, OPT_FOR);
	const char *reason = arguments_text(arguments, OPT_REASON);

	*out = (struct selection_options){ .arguments = arguments,
	    .verb = arguments->verb, .words = STR_INIT,
	    .is_json = arguments_has(arguments, OPT_JSON),
	    .is_yes = arguments_has(arguments, OPT_YES),
	    .is_dry = arguments_has(arguments, OPT_DRY_RUN),
	    .is_quiet = arguments_has(arguments, OPT_QUIET),
	    .is_failed = arguments_has(arguments, OPT_FAILED),
	    .allows = arguments_has(arguments, OPT_ALLOW),
	    .reason = reason != NULL ? reason : "",
	    .next = arguments_text(arguments, OPT_NEXT),
	    .expire = arguments_text(arguments, OPT_EXPIRE),
	    .to = arguments_text(arguments, OPT_TO),
	    .per_second = arguments_number(arguments, OPT_PER_SECOND, -1),
	    .limit = arguments_number(arguments, OPT_LIMIT, -1),
	    .after = arguments_text(arguments, OPT_AFTER) };
	arguments_join(arguments, &out->words);
	if (out->after != NULL && !spool_id_is(slice_of(out->after)))
		return arguments_refuse(arguments, "--after %s: the id of a "
		    "message is wanted", out->after);
	if (span != NULL) {
		snprintf(out->until_text, sizeof(out->until_text), "+%s",
		    span);
		out->until = out->until_text;
	}
	return 0;
}

void
selection_options_release(struct selection_options *options)
{
	str_release(&options->words);
}

/* ---- the selector ------------------------------------------------------- */

/* What is wrong, the words, and a mark below the place.  EX_USAGE. */
static int
selection_complain(const struct selection_options *options, size_t column,
    const char *what)
{
	struct str shown = STR_INIT, before = STR_INIT;

	str_add_escaped(&before, slice_first(str_slice(&options->words),
	    column));
	str_add_escaped(&shown, str_slice(&options->words));
	fprintf(stderr, "zmailer: %s: %s\n    %s\n    %*s^\n", options->verb,
	    what, shown.buf, (int)before.len, "");
	str_release(&before);
	str_release(&shown);
	return EX_USAGE;
}

/* Says that a key is tested with what is none of its words.  0 or EX_USAGE. */
static int
selection_key_check(const struct selection_options *options,
    const struct selector *selector, enum selector_key_row key)
{
	struct selector_word rows[SELECTOR_WORDS_MAX];
	size_t count = selector_words(key, rows);
	const char *words[SELECTOR_WORDS_MAX];
	struct str what = STR_INIT;
	struct guess guess;
	struct slice odd;
	const char *at;
	int status;

	for (size_t i = 0; i < count; i++)
		words[i] = rows[i].name;
	odd = selector_misfit(selector, key, words, count);
	guess = (struct guess){ .word = odd };
	if (odd.n == 0)
		return 0;
	at = memmem(options->words.buf, options->words.len, odd.p, odd.n);
	str_addc(&what, '\'');
	str_add_escaped(&what, slice_first(odd, 40));
	str_addf(&what, "' is no %s", selector_keys[key].name);
	for (size_t i = 0; i < count; i++)
		guess_offer(&guess, words[i]);
	if (guess.best != NULL)
		str_addf(&what, ", did you mean '%s'?", guess.best);
	for (size_t i = 0; i < count; i++)
		str_addf(&what, "%s %s", i == 0 ? ":" : ",", words[i]);
	str_adds(&what, " are");
	status = selection_complain(options, at == NULL ? 0 :
	    (size_t)(at - options->words.buf), what.buf);
	str_release(&what);
	return status;
}

/* What is no state would fit no message, and nobody would say why. */
static int
selection_words_check(const struct selection_options *options,
    const struct selector *selector)
{
	static const enum selector_key_row keys[] = { SELECTOR_KEY_STATE,
		SELECTOR_KEY_DEST_STATE, SELECTOR_KEY_AREA };
	int status = 0;

	for (size_t i = 0; status == 0 && i < sizeof(keys) / sizeof(keys[0]);
	    i++)
		status = selection_key_check(options, selector, keys[i]);
	return status;
}

int
selection_selector(const struct selection_options *options, struct arena *arena,
    struct selector **out)
{
	struct err err;
	size_t column;

	*out = NULL;
	if (options->words.len == 0)
		return 0;
	if (selector_parse(arena, str_slice(&options->words), out, &column,
		&err) != 0)
		return selection_complain(options, column, err.text);
	/* events are chosen by their own names, too */
	return strcmp(options->verb, "events") == 0 ||
	    strcmp(options->verb, "trace") == 0 ? 0 :
	    selection_words_check(options, *out);
}
