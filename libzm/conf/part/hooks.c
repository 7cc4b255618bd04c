/* hooks.c - what the statements hooks and learn do to the settings
 *
 * In     a statement that agrees with its row
 * Out    hooks and learns in struct conf; how they are shown
 * Holds  nothing
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "conf/part/part.h"
#include "grammar/units.h"

#include "base/banned.h"

enum { WORD_INSTRUCTIONS, WORD_MEMORY, WORD_TIME, WORD_LATE };	/* keywords */
enum { INSTRUCTIONS = 1000000, MEMORY_BYTES = 16 << 20, TIME_MS = 1000,
	LEARN_MS = 60000 };

void
conf_apply_hooks(struct conf_loader *loader,
    const struct conf_statement *statement, void *target)
{
	const struct conf_value *words = statement->keywords;
	struct conf_hooks *hooks = &loader->conf->hooks;

	if (hooks->script != NULL) {
		conf_complain_twice(loader, statement->node->tokens,
		    hooks->at, "hooks");
		return;
	}
	*hooks = (struct conf_hooks){ statement->args[0].text, INSTRUCTIONS,
	    MEMORY_BYTES, TIME_MS, false, conf_at(statement->node->tokens) };
	if (words[WORD_INSTRUCTIONS].token != NULL)
		hooks->instructions = words[WORD_INSTRUCTIONS].number;
	if (words[WORD_MEMORY].token != NULL)
		hooks->memory_bytes = words[WORD_MEMORY].number;
	if (words[WORD_TIME].token != NULL)
		hooks->time_ms = (int64_t)words[WORD_TIME].number;
	hooks->waits_when_late = words[WORD_LATE].token != NULL &&
	    words[WORD_LATE].number == 1;
}

void
conf_show_hooks(const struct conf_hooks *hooks, struct str *out)
{
	str_addf(out, "%s instructions %llu memory ", hooks->script,
	    (unsigned long long)hooks->instructions);
	units_add_bytes(out, hooks->memory_bytes);
	str_adds(out, " time ");
	units_add_span(out, hooks->time_ms);
	str_addf(out, " late %s", hooks->waits_when_late ? "wait" : "go");
}

void
conf_apply_learn(struct conf_loader *loader,
    const struct conf_statement *statement, void *target)
{
	struct conf_learn *learn = &loader->conf->learns[
	    statement->args[0].number];
	struct conf_learn fresh = {
		.program = statement->args[1].text,
		.account = statement->keywords[0].text,
		.timeout_ms = statement->keywords[1].token != NULL ?
		    (int64_t)statement->keywords[1].number : LEARN_MS,
		.at = conf_at(statement->node->tokens),
	};

	if (fresh.program[0] != '/')
		conf_complain(loader, CONF_ERROR, statement->args[1].token,
		    "write its whole path", "'%s' is no path of a program",
		    fresh.program);
	else if (strcmp(fresh.account, "root") == 0 ||
	    strcmp(fresh.account, "0") == 0 ||
	    strcmp(fresh.account, "-") == 0)
		conf_complain(loader, CONF_ERROR,
		    statement->keywords[0].token, "name the account of the "
		    "filter", "mail of strangers is nothing for '%s'",
		    fresh.account);
	else if (learn->program != NULL)
		conf_complain_twice(loader, statement->node->tokens,
		    learn->at, "'learn' is said twice of the same");
	else
		*learn = fresh;
}

void
conf_show_learn(const struct conf_learn *learn, struct str *out)
{
	conf_add_word(out, learn->program);
	str_addf(out, " as %s timeout ", learn->account);
	units_add_span(out, learn->timeout_ms);
}
