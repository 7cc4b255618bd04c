/* classify.c - what went wrong, out of a reply's code and words
 *
 * In     one line of a peer, or of our own
 * Out    a class and a scope
 * Holds  the rules: the shipped ones, a site's before them
 * Trusts nothing in the line; it is only compared
 * Spec   classify.h; RFC 3463 section 2, RFC 5321 section 4.2
 *
 * SPDX-License-Identifier: ISC
 */
#include <pthread.h>

#include "base/ascii.h"
#include "grammar/units.h"
#include "mail/classes.inc"	/* shipped[], out of mail/classes */
#include "mail/classify.h"

#include "base/banned.h"

enum {
	RULES_MAX = 5000,
	REPLY_BYTES_MAX = VERDICT_TEXT_BYTES	/* that are looked at */
};

struct rule {
	struct slice	code, status;
	struct slice	words;		/* "*...*", or empty: any */
	uint8_t		class, scope;
	uint16_t	line;
};

struct rules {
	struct arena	*arena;
	struct rule	*rules;
	size_t		 count;
};

static struct rules own, ours;		/* a site's, the shipped ones */

static const struct {
	const char	*name, *text;
} classes[CLASS_COUNT] = {
#define CLASS(symbol, name, text) [CLASS_##symbol] = { name, text },
	MAIL_CLASSES(CLASS)
#undef CLASS
};

static const char *const scopes[SCOPE_COUNT] = {
	[SCOPE_RECIPIENT] = "recipient", [SCOPE_MESSAGE] = "message",
	[SCOPE_HOST] = "host", [SCOPE_PROVIDER] = "provider"
};

const char *
mail_class_name(enum mail_class class)
{
	return classes[class].name;
}

const char *
mail_class_text(enum mail_class class)
{
	return classes[class].text;
}

int
mail_class_parse(struct slice name)
{
	for (int i = 0; i < CLASS_COUNT; i++)
		if (slice_is(name, classes[i].name))
			return i;
	return -1;
}

const char *
mail_scope_name(enum mail_scope scope)
{
	return scopes[scope];
}

static int
scope_parse(struct slice name)
{
	for (int i = 0; i < SCOPE_COUNT; i++)
		if (slice_is(name, scopes[i]))
			return i;
	return -1;
}

/* ---- reading rules ------------------------------------------------- */

/* 1 a rule, 0 nothing on this line, -1. */
static int
rule_parse(struct arena *arena, struct slice line, struct rule *out,
    struct err *err)
{
	struct slice rest = line, class, scope;
	int number;

	if (!slice_word(&rest, &out->code) || slice_starts(out->code, "#"))
		return 0;
	if (!slice_word(&rest, &out->status) || !slice_word(&rest, &scope) ||
	    !slice_word(&rest, &class))
		return err_set(err, "write: CODE ENHANCED SCOPE CLASS "
		    "[WORDS]");
	if ((number = scope_parse(scope)) < 0)
		return err_set(err, "'" SLICE_FMT "' is no scope; there are "
		    "recipient, message, host, provider",
		    SLICE_ARG(slice_first(scope, 40)));
	out->scope = (uint8_t)number;
	if ((number = mail_class_parse(class)) < 0)
		return err_set(err, "'" SLICE_FMT "' is no class",
		    SLICE_ARG(slice_first(class, 40)));
	out->class = (uint8_t)number;
	rest = slice_trim(rest);
	out->words = (struct slice){ NULL, 0 };
	if (rest.n > 0)
		out->words = slice_of(arena_printf(arena, "*" SLICE_FMT "*",
		    SLICE_ARG(rest)));
	return 1;
}

static int
rules_read(struct rules *rules, struct slice text, struct err *err)
{
	struct slice rest, line;
	size_t lines = 1;
	int got = 0;

	*rules = (struct rules){ .arena = arena_new() };
	rest = text = slice_copy(rules->arena, text);
	for (size_t i = 0; i < text.n; i++)
		lines += text.p[i] == '\n';
	if (lines > RULES_MAX) {
		err_set(err, "more than %d lines", RULES_MAX);
		arena_free(&rules->arena);
		return -1;
	}
	rules->rules = arena_alloc(rules->arena,
	    lines * sizeof(*rules->rules));
	for (uint16_t number = 1; got >= 0 && slice_cut(&rest, '\n', &line);
	    number++) {
		struct rule *rule = &rules->rules[rules->count];

		rule->line = number;
		got = rule_parse(rules->arena, line, rule, err);
		rules->count += got == 1;
		if (got < 0) {
			struct err why = *err;

			err_set(err, "line %u: %s", number, why.text);
		}
	}
	if (got < 0)
		arena_free(&rules->arena);
	return got < 0 ? -1 : 1;
}

int
classify_load(struct slice text, struct err *err)
{
	struct rules fresh;

	if (rules_read(&fresh, text, err) < 0)
		return -1;
	if (own.arena != NULL)
		arena_free(&own.arena);
	own = fresh;
	return 0;
}

struct slice
classify_shipped(void)
{
	return SLICE(shipped);
}

/* ---- a reply ------------------------------------------------------- */

struct reply_parts {
	struct slice	code, status, text;
};

/* RFC 3463 section 2: "4.7.28". */
static bool
classify_is_status(struct slice word)
{
	struct slice piece;
	uint64_t number;
	size_t pieces = 0;

	if (word.n < 5 || word.p[1] != '.' ||
	    !ascii_is_among(word.p[0], "245"))
		return false;
	while (slice_cut(&word, '.', &piece)) {
		if (piece.n > 3 || !slice_number(piece, 0, 999, &number))
			return false;
		pieces++;
	}
	return pieces == 3;
}

static void
reply_cut(struct slice reply, struct slice status, struct reply_parts *out)
{
	struct slice rest, word;
	uint64_t code;

	reply = slice_first(reply, REPLY_BYTES_MAX);
	*out = (struct reply_parts){ SLICE("-"), status, reply };
	if (reply.n >= 3 && (reply.n == 3 || reply.p[3] == ' ' ||
	    reply.p[3] == '-') && slice_number(slice_first(reply, 3), 200,
	    599, &code)) {
		out->code = slice_first(reply, 3);
		out->text = slice_from(reply, reply.n > 3 ? 4 : 3);
	}
	rest = out->text;
	if (slice_word(&rest, &word) && classify_is_status(word))
		out->status = word;
}

static bool
rule_fits(const struct rule *rule, const struct reply_parts *parts)
{
	bool is_ours = slice_is(parts->code, "-");

	/* "*" means any code: words of our own are no reply */
	return is_ours == slice_is(rule->code, "-") &&
	    glob_match(rule->code, parts->code) &&
	    glob_match(rule->status, parts->status) &&
	    (rule->words.n == 0 || glob_match(rule->words, parts->text));
}

static bool
rules_find(const struct rules *rules, const struct reply_parts *parts,
    struct mail_finding *out)
{
	for (size_t i = 0; i < rules->count; i++) {
		const struct rule *rule = &rules->rules[i];

		if (!rule_fits(rule, parts))
			continue;
		*out = (struct mail_finding){ (enum mail_class)rule->class,
		    (enum mail_scope)rule->scope, rule->line,
		    rules == &own };
		return true;
	}
	return false;
}

/* Several sessions of an agent may meet their first refusal at once. */
static void
rules_read_shipped(void)
{
	struct err err;

	if (rules_read(&ours, SLICE(shipped), &err) < 0)
		panic("the shipped classes: %s", err.text);
}

void
classify_reply(struct slice reply, struct slice status,
    struct mail_finding *out)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct reply_parts parts;

	pthread_once(&once, rules_read_shipped);
	reply_cut(reply, status, &parts);
	if (!rules_find(&own, &parts, out) &&
	    !rules_find(&ours, &parts, out))
		*out = (struct mail_finding){ CLASS_OTHER, SCOPE_RECIPIENT, 0,
		    false };
}

void
classify_verdict(const struct verdict *verdict, struct mail_finding *out)
{
	classify_reply(slice_of(verdict->text), slice_of(verdict->status),
	    out);
	if (verdict->host_trouble && out->scope < SCOPE_HOST)
		out->scope = SCOPE_HOST;
}
