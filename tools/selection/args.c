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
#include <sysexits.h>

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

int
selection_selector(const struct selection_options *options, struct arena *arena,
    struct selector **out)
{
	struct str shown = STR_INIT, before = STR_INIT;
	struct err err;
	size_t column;

	*out = NULL;
	if (options->words.len == 0)
		return 0;
	if (selector_parse(arena, str_slice(&options->words), out, &column,
		&err) == 0)
		return 0;
	str_add_escaped(&before, slice_first(str_slice(&options->words),
	    column));
	str_add_escaped(&shown, str_slice(&options->words));
	fprintf(stderr, "zmailer: %s: %s\n    %s\n    %*s^\n", options->verb,
	    err.text, shown.buf, (int)before.len, "");
	str_release(&before);
	str_release(&shown);
	return EX_USAGE;
}
