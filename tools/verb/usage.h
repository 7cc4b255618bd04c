/* usage.h - the grammar of a verb's usage
 *
 * A usage is the text for people, and also tells the parser of arguments and
 * completion what a verb takes:
 *
 * 	list | check [--json] | install FILE KEY [--for NAME]; [--yes]
 *
 * Bars separate forms; after a semicolon come the options that each form takes.
 * A form that begins with words in lower case is chosen by one of them.
 * Brackets: optional; dots: may be repeated; bars inside a word: one of these.
 * A SELECTOR is all remaining words.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_USAGE_H
#define ZM_TOOLS_USAGE_H

#include "base/str.h"

enum option_kind {
	OPTION_FLAG, OPTION_TEXT, OPTION_NUMBER, OPTION_SPAN, OPTION_CHOICE
};

enum option_id {
#define OPTION(id, name, value, kind, low, high, text) OPT_##id,
#include "tools/verb/options.h"
#undef OPTION
	OPTIONS
};

struct option_row {			/* a row of options.h */
	const char	*name;		/* with its dashes */
	const char	*value;		/* NULL: a flag */
	enum option_kind kind;
	uint64_t	 low, high;	/* of a number */
	const char	*text;
};
extern const struct option_row option_rows[OPTIONS];

struct usage_form {
	struct slice	rest;
	int		depth;		/* brackets that are open */
	bool		is_common;	/* options that each form takes */
};
/* Step through the forms of a usage; *usage advances.  returns whether there
 * was another one */
bool usage_form_next(const char **usage, struct usage_form *out);

struct usage_word {
	struct slice	 text;		/* "--for", "NET|SENDER", "list" */
	const struct option_row *option;	/* NULL: no option */
	bool		 is_literal;	/* typed as it is written */
	bool		 is_optional, is_repeated;
};
/* Step through the words of a form; an option's value is no word.  An option
 * without a row in options.h has an empty one.  returns whether there was
 * another one */
bool usage_word_next(struct usage_form *form, struct usage_word *out);

/* Is this one of "a|b|c"? */
bool usage_is_one_of(struct slice alternatives, const char *word);

/* The option of that name in any form of the usage; NULL: none. */
const struct option_row *usage_option(const char *usage, struct slice name);

/* Append the usage: the verb's name and a form on each line, the first line
 * after `first`, the others after blanks of the same width. */
void usage_add(struct str *out, const char *first, const char *verb,
    const char *usage);
/* Append a line for each of its options: " --for SPAN for how long". */
void usage_add_options(struct str *out, const char *usage);

#endif
