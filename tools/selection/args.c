/* args.c - the command line of verbs that choose messages
 *
 * In     argv
 * Out    options; a selector, or what is wrong with it and where
 * Trusts nothing: what is shown of the words has its controls escaped
 * Spec   selection.h; zmailer(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "grammar/units.h"
#include "tools/selection/selection.h"
#include "tools/zmailer/verb.h"

#include "base/banned.h"

enum { PAGE_MAX = 1000000 };

static int
take_for(const char *text, struct desk_options *out)
{
	struct err err = { "" };
	int64_t ms;

	if (units_span_ms(slice_of(text), &ms, &err) != 1 || ms <= 0)
		return verb_usage(out->verb, "--for %s: %s", text,
		    err.text[0] ? err.text : "a span is wanted: 90s 2h 3d");
	snprintf(out->until_text, sizeof(out->until_text), "+%s", text);
	out->until = out->until_text;
	return 0;
}

static int
take_pace(const char *text, struct desk_options *out)
{
	uint64_t number;

	if (!slice_number(slice_of(text), 0, 100000, &number))
		return verb_usage(out->verb, "--per-second %s: a number from "
		    "0 (all at once) to 100000 is wanted", text);
	out->per_second = (int64_t)number;
	return 0;
}

static int
take_page(const char *word, const char *value, struct desk_options *out)
{
	uint64_t number;

	if (strcmp(word, "--after") == 0) {
		if (!spool_id_is(slice_of(value)))
			return verb_usage(out->verb, "--after %s: the id of a "
			    "message is wanted", value);
		out->after = value;
		return 0;
	}
	if (!slice_number(slice_of(value), 1, PAGE_MAX, &number))
		return verb_usage(out->verb, "--limit %s: a number of "
		    "messages from 1 to %d is wanted", value, PAGE_MAX);
	out->limit = (int64_t)number;
	return 0;
}

/* A flag with a value.  0 taken, -1 not one of this verb's, else a status. */
static int
args_take_value(const char *word, const char *value, enum desk_flags flags,
    struct desk_options *out)
{
	if ((flags & DESK_WRITES) != 0 && strcmp(word, "--reason") == 0)
		out->reason = value;
	else if ((flags & DESK_TO) != 0 && strcmp(word, "--to") == 0)
		out->to = value;
	else if ((flags & DESK_FOR) != 0 && strcmp(word, "--for") == 0)
		return take_for(value, out);
	else if ((flags & DESK_PACE) != 0 &&
	    strcmp(word, "--per-second") == 0)
		return take_pace(value, out);
	else if ((flags & DESK_MOMENTS) != 0 && strcmp(word, "--next") == 0)
		out->next = value;
	else if ((flags & DESK_MOMENTS) != 0 &&
	    strcmp(word, "--expire") == 0)
		out->expire = value;
	else if ((flags & DESK_PAGE) != 0 && (strcmp(word, "--limit") == 0 ||
	    strcmp(word, "--after") == 0))
		return take_page(word, value, out);
	else
		return -1;
	return 0;
}

static bool
args_take_flag(const char *word, enum desk_flags flags,
    struct desk_options *out)
{
	bool writes = (flags & DESK_WRITES) != 0;

	if (strcmp(word, "--json") == 0)
		out->is_json = true;
	else if ((flags & DESK_ALLOW) != 0 && strcmp(word, "--allow") == 0)
		out->allows = true;
	else if (writes && strcmp(word, "--yes") == 0)
		out->is_yes = true;
	else if (writes && strcmp(word, "--dry-run") == 0)
		out->is_dry = true;
	else
		return false;
	return true;
}

int
desk_args(int argc, char **argv, enum desk_flags flags,
    struct desk_options *out)
{
	bool is_over = false;

	*out = (struct desk_options){ .verb = argv[0], .reason = "",
	    .per_second = -1, .limit = -1, .words = STR_INIT };
	for (int i = 1; i < argc; i++) {
		int status;

		if (is_over || argv[i][0] != '-') {
			if (out->words.len > 0)
				str_addc(&out->words, ' ');
			str_adds(&out->words, argv[i]);
			continue;
		}
		if (strcmp(argv[i], "--") == 0) {
			is_over = true;
			continue;
		}
		if (args_take_flag(argv[i], flags, out))
			continue;
		status = i + 1 == argc ? -1 :
		    args_take_value(argv[i], argv[i + 1], flags, out);
		if (status > 0)
			return status;
		if (status < 0)
			return verb_usage(argv[0], "unknown word '%s'",
			    argv[i]);
		i++;
	}
	return 0;
}

void
desk_options_release(struct desk_options *options)
{
	str_release(&options->words);
}

int
desk_selector(const struct desk_options *options, struct arena *arena,
    struct selector **out)
{
	struct str shown = STR_INIT, before = STR_INIT;
	struct err err;
	size_t column;

	*out = NULL;
	if (options->words.len == 0)
		return 0;
	if (selector_parse(arena, str_slice(&options->words), out, &column,
		&err) == 1)
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
