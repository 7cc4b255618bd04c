/* retry.c - the item retry: waits, and rules by what went wrong
 *
 * In     retry SPAN|expo(...) ... [stop]
 *        retry on CLASS ... WAITS | suspend SPAN | end
 * Out    the clause's list of waits, or one more rule of it
 * Holds  nothing
 * Spec   zmailer.conf(5); classes: mail/classify.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/ascii.h"
#include "conf/part/part.h"
#include "grammar/units.h"
#include "mail/classify.h"

#include "base/banned.h"

enum {
	WAIT_MIN_MS = 1000,
	WAIT_MAX_MS = 28 * 86400000u,		/* 4w */
	FACTOR_MAX_HUNDREDTHS = 100 * 100
};

struct waits {			/* a list being filled */
	int64_t	*wait_s;
	size_t	 count, room;
	bool	 stops;
};

static bool
retry_complain(struct conf_loader *loader, const struct conf_token *token,
    const char *hint, const char *text)
{
	conf_complain(loader, CONF_ERROR, token, hint, "'" SLICE_FMT "' %s",
	    SLICE_ARG(slice_first(token->raw, 100)), text);
	return false;
}

static bool
add_wait(struct conf_loader *loader, const struct conf_token *token,
    struct waits *waits, int64_t wait_ms)
{
	if (waits->count == waits->room) {
		conf_complain(loader, CONF_ERROR, token,
		    "the last one repeats", "more than %zu waits",
		    waits->room);
		return false;
	}
	waits->wait_s[waits->count++] = wait_ms / 1000;
	return true;
}

/* "5" "1.5" -> hundredths. */
static bool
factor_parse(struct slice text, uint64_t *out)
{
	struct slice whole;
	uint64_t ones = 0, rest = 0;

	slice_cut(&text, '.', &whole);
	if (!slice_number(whole, 0, 100, &ones) || (text.p != NULL &&
	    (text.n > 2 || !slice_number(text, 0, 99, &rest))))
		return false;
	*out = ones * 100 + (text.n == 1 ? rest * 10 : rest);
	return *out >= 100 && *out <= FACTOR_MAX_HUNDREDTHS;
}

/* expo(FIRST,FACTOR,COUNT): COUNT waits, each FACTOR times the one before,
 * none over WAIT_MAX_MS. */
static bool
add_expo(struct conf_loader *loader, const struct conf_token *token,
    struct waits *waits)
{
	struct slice rest = slice_from(token->text, strlen("expo(")), first,
	    factor_text;
	uint64_t count, factor;
	int64_t wait_ms;

	rest.n--;
	slice_cut(&rest, ',', &first);
	slice_cut(&rest, ',', &factor_text);
	if (units_span_ms(first, &wait_ms, NULL) != 0 ||
	    wait_ms < WAIT_MIN_MS || wait_ms > WAIT_MAX_MS ||
	    !factor_parse(factor_text, &factor) ||
	    !slice_number(rest, 1, CONF_RETRIES_MAX, &count))
		return retry_complain(loader, token,
		    "the first wait, what each is "
		    "times the one before (1 to 100), how many: "
		    "expo(12s,5,5)", "is no list of waits");
	for (; count > 0; count--) {
		if (!add_wait(loader, token, waits, wait_ms))
			return false;
		wait_ms = wait_ms * (int64_t)factor / 100;
		if (wait_ms > WAIT_MAX_MS)
			wait_ms = WAIT_MAX_MS;
	}
	return true;
}

static bool
wait_is_none(struct slice text)
{
	int64_t wait_ms;

	return units_span_ms(text, &wait_ms, NULL) != 0;
}

/* The words from index on are waits. */
static bool
waits_take(struct conf_loader *loader, const struct conf_statement *statement,
    size_t index, struct waits *waits)
{
	const struct conf_token *token = statement->node->tokens;
	int64_t wait_ms;

	for (; index < statement->arg_count; index++) {
		token = statement->args[index].token;
		if (slice_is(token->text, "stop") &&
		    index + 1 == statement->arg_count && waits->count > 0) {
			waits->stops = true;
		} else if (slice_starts(token->text, "expo(") &&
		    slice_ends(token->text, ")")) {
			if (!add_expo(loader, token, waits))
				return false;
		} else if (units_span_ms(token->text, &wait_ms, NULL) != 0 ||
		    wait_ms < WAIT_MIN_MS || wait_ms > WAIT_MAX_MS) {
			const char *mend = conf_mend_span(loader->conf->arena,
			    token->text, index + 1 < statement->arg_count ?
			    statement->args[index + 1].token->text :
			    SLICE(""));

			return retry_complain(loader, token, mend != NULL &&
			    wait_is_none(token->text) ? mend : "write 1m 5m 1h "
			    "(1s to 4w), expo(12s,5,5), and stop at the end "
			    "when the last one shall not repeat",
			    "is not a length of time");
		} else if (!add_wait(loader, token, waits, wait_ms)) {
			return false;
		}
	}
	if (waits->count == 0)
		conf_complain(loader, CONF_ERROR, token, NULL,
		    "a length of time is missing after this");
	return waits->count > 0;
}

static bool
class_take(struct conf_loader *loader, const struct conf_token *token,
    struct slice name, uint32_t *classes)
{
	struct guess guess = { .word = name };
	int class = mail_class_parse(name);
	const char *hint;

	if (class >= 0) {
		*classes |= UINT32_C(1) << class;
		return true;
	}
	for (int i = 0; i < CLASS_COUNT; i++)
		guess_offer(&guess, mail_class_name((enum mail_class)i));
	hint = guess_hint(&guess, loader->conf->arena);
	return retry_complain(loader, token, hint ? hint :
	    "zmailer classify --list names them", "is no class of replies");
}

/* Class names, up to the first word that begins what is done; its index,
 * 0 after a complaint. */
static size_t
classes_take(struct conf_loader *loader,
    const struct conf_statement *statement, uint32_t *classes)
{
	size_t i;

	for (i = 1; i < statement->arg_count; i++) {
		const struct conf_token *token = statement->args[i].token;
		struct slice rest = token->text, name;

		if (slice_is(rest, "suspend") || slice_is(rest, "end") ||
		    slice_starts(rest, "expo(") || (rest.n > 0 &&
		    ascii_is_digit(rest.p[0])))
			break;
		while (slice_cut(&rest, ',', &name))
			if (!class_take(loader, token, name, classes))
				return 0;
	}
	if (i > 1 && i < statement->arg_count)
		return i;
	conf_complain(loader, CONF_ERROR, statement->node->tokens,
	    "write: retry on CLASS... SPAN..., suspend SPAN or end",
	    "'retry on' needs classes and what to do");
	return 0;
}

static bool
suspend_take(struct conf_loader *loader,
    const struct conf_statement *statement, size_t index,
    struct conf_retry_rule *rule)
{
	int64_t span_ms;

	rule->action = RETRY_ON_SUSPEND;
	if (index + 2 != statement->arg_count ||
	    units_span_ms(statement->args[index + 1].token->text, &span_ms,
	    NULL) != 0 || span_ms < WAIT_MIN_MS || span_ms > WAIT_MAX_MS)
		return retry_complain(loader, statement->args[index].token,
		    "write: suspend 6h", "needs one length of time");
	rule->suspend_s = span_ms / 1000;
	return true;
}

static bool
rule_take(struct conf_loader *loader, const struct conf_statement *statement,
    struct conf_retry_rule *rule)
{
	struct waits waits = { .wait_s = rule->wait_s,
	    .room = CONF_RULE_WAITS_MAX };
	size_t index = classes_take(loader, statement, &rule->classes);
	struct slice word;

	if (index == 0)
		return false;
	word = statement->args[index].token->text;
	if (slice_is(word, "suspend"))
		return suspend_take(loader, statement, index, rule);
	if (slice_is(word, "end")) {
		rule->action = RETRY_ON_END;
		return index + 1 == statement->arg_count ||
		    retry_complain(loader,
		    statement->args[index + 1].token, NULL,
		    "stands after 'end', where nothing follows");
	}
	if (!waits_take(loader, statement, index, &waits))
		return false;
	rule->wait_count = waits.count;
	rule->stops = waits.stops;
	return true;
}

/* All its classes have a rule already. */
static bool
is_hidden(const struct conf_schedule *schedule,
    const struct conf_retry_rule *rule)
{
	uint32_t left = rule->classes;

	for (size_t i = 0; i < schedule->rule_count; i++)
		left &= ~schedule->rules[i].classes;
	return left == 0;
}

void
conf_apply_retry(struct conf_loader *loader,
    const struct conf_statement *statement, void *target)
{
	struct conf_clause *clause = target;
	struct conf_schedule *schedule = &clause->schedule;
	struct conf_retry_rule rule = { .action = RETRY_ON_WAIT };
	struct waits waits = { .wait_s = schedule->retry_s,
	    .room = CONF_RETRIES_MAX };

	if (!slice_is(statement->args[0].token->text, "on")) {
		conf_clause_say(loader, statement, clause);
		if (waits_take(loader, statement, 0, &waits)) {
			schedule->retry_count = waits.count;
			schedule->retry_stops = waits.stops;
		}
		return;
	}
	if (!rule_take(loader, statement, &rule))
		return;
	if (is_hidden(schedule, &rule))
		conf_complain(loader, CONF_WARNING, statement->node->tokens,
		    "the first rule for a class wins",
		    "'retry' can never match: all its classes have a rule "
		    "above");
	if (schedule->rule_count == CONF_RETRY_RULES_MAX)
		conf_complain(loader, CONF_ERROR, statement->node->tokens,
		    NULL, "more than %d rules of a clause",
		    CONF_RETRY_RULES_MAX);
	else
		schedule->rules[schedule->rule_count++] = rule;
}

void
conf_retry_inherit(struct conf_schedule *schedule,
    const struct conf_schedule *below)
{
	uint32_t spoken_for = 0;

	for (size_t i = 0; i < schedule->rule_count; i++)
		spoken_for |= schedule->rules[i].classes;
	for (size_t i = 0; i < below->rule_count &&
	    schedule->rule_count < CONF_RETRY_RULES_MAX; i++)
		if (below->rules[i].classes & ~spoken_for)
			schedule->rules[schedule->rule_count++] =
			    below->rules[i];
}
