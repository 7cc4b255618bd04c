/* objective.c - objective: how soon mail is to arrive
 *
 * In     objective statements; an address
 * Out    whether a pattern fits it
 * Holds  nothing
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "conf/part/part.h"
#include "grammar/units.h"

#include "base/banned.h"

enum { WORD_PATTERN, WORD_PERCENT, WORD_SPAN };	/* of the arguments */

void
conf_apply_objective(struct conf_loader *loader,
    const struct conf_statement *statement, void *target)
{
	const struct conf_value *words = statement->args;
	struct conf *conf = loader->conf;
	struct conf_objective objective = {
		.pattern = words[WORD_PATTERN].text,
		.percent = (unsigned)words[WORD_PERCENT].number,
		.span_s = (int64_t)words[WORD_SPAN].number / 1000,
		.at = conf_at(statement->node->tokens),
	};

	if (words[WORD_PATTERN].token->kind == TOKEN_TABLE)
		conf_complain(loader, CONF_ERROR, words[WORD_PATTERN].token,
		    "write user@domain, @domain or a pattern with *",
		    "an objective cannot ask a table");
	if (strcmp(objective.pattern, "<>") == 0)
		conf_complain(loader, CONF_ERROR, words[WORD_PATTERN].token,
		    "write user@domain, @domain or a pattern with *",
		    "no recipient is empty");
	if (conf->objective_count >= CONF_OBJECTIVES_MAX)
		conf_complain(loader, CONF_ERROR, words[WORD_PATTERN].token,
		    "say it with fewer patterns",
		    "there are more than %d objectives", CONF_OBJECTIVES_MAX);
	for (size_t i = 0; i < conf->objective_count; i++)
		if (strcmp(conf->objectives[i].pattern,
		    objective.pattern) == 0)
			conf_complain(loader, CONF_ERROR,
			    words[WORD_PATTERN].token, "leave one out",
			    "there is an objective for '%.100s' already",
			    objective.pattern);
	conf->objectives = arena_grow(conf->arena, conf->objectives,
	    conf->objective_count, sizeof(*conf->objectives));
	conf->objectives[conf->objective_count++] = objective;
}

/* "@domain" stands for all its users. */
bool
conf_objective_fits(const char *pattern, struct slice address)
{
	struct slice all = slice_of(pattern);
	size_t at = address.n;

	if (pattern[0] != '@')
		return glob_match(all, address);
	while (at > 0 && address.p[at - 1] != '@')
		at--;
	return at > 0 && glob_match(all, slice_from(address, at - 1));
}

void
conf_objective_add(struct str *out, const struct conf_objective *objective)
{
	conf_add_word(out, objective->pattern);
	str_addf(out, " %u%% ", objective->percent);
	units_add_span(out, objective->span_s * 1000);
}
