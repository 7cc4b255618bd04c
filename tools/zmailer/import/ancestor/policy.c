/* policy.c - ZMailer's policy database, read as the text of its sources
 *
 * In     smtp-policy.src, .relay, .mx, .spam below db
 * Out    accept, reject, freeze; dnsbl; what has no rule is named
 * Holds  nothing
 * Spec   the manual of ZMailer 2.99.57, "Policy"; zmailer.conf(5), accept
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "grammar/net.h"
#include "tools/zmailer/import/ancestor/ancestor.h"

#include "base/banned.h"

/* "[10.0.0.0]/8", "[ipv6.2001:db8::]/32" as a network; NULL: it is not one. */
static const char *
policy_net(struct ancestor *old, struct slice key)
{
	size_t end = slice_find(key, ']');
	struct slice address = slice_starts(key, "[") ? slice_first(
	    slice_from(key, 1), end - 1) : SLICE("");
	const char *text;
	struct net net;

	if (address.n == 0 || end == key.n)
		return NULL;
	if (slice_starts(address, "ipv6.") || slice_starts(address, "IPv6."))
		address = slice_from(address, 5);
	text = arena_printf(old->import->arena, SLICE_FMT SLICE_FMT,
	    SLICE_ARG(address), SLICE_ARG(slice_from(key, end + 1)));
	return net_parse(slice_of(text), &net, NULL) == 0 ? text : NULL;
}

/* A key as the condition of a rule; NULL: it is a tag, or the preset. */
static const char *
policy_condition(struct ancestor *old, struct slice key, const char *name)
{
	struct arena *arena = old->import->arena;
	const char *net = policy_net(old, key), *word;

	if (net != NULL)
		return arena_printf(arena, "from %s", net);
	if (slice_is(key, ".") || slice_starts(key, "_") ||
	    (word = import_word(old->import, key)) == NULL)
		return NULL;
	if (strcmp(name, "name") == 0)
		return arena_printf(arena, "name %s", word);
	if (slice_ends(key, "@"))
		return arena_printf(arena, "%s %s*", name, word);
	return slice_find(key, '@') < key.n ? arena_printf(arena, "%s %s",
	    name, word) : word[0] == '.' ? arena_printf(arena, "%s *@*%s",
	    name, word) : arena_printf(arena, "%s @%s", name, word);
}

/* An attribute with + (and a zone) and the rule that it is. */
static const struct { const char *name, *sign, *condition, *format;
	enum import_part part; } attributes[] = {
	{ "rejectnet", "+", "name", "reject %s", IMPORT_RULES },
	{ "freezenet", "+", "name", "freeze %s", IMPORT_RULES },
	{ "rejectsource", "+", "sender", "reject %s", IMPORT_RULES },
	{ "freezesource", "+", "sender", "freeze %s", IMPORT_RULES },
	{ "freeze", "+", "to", "freeze %s", IMPORT_RULES },
	{ "relaytarget", "-", "to", "reject %s", IMPORT_RULES },
	{ "relaytarget", "+", "to", "accept %s for any", IMPORT_RELAYING },
	{ "relaycustnet", "+", "name", "accept %s for any",
	    IMPORT_RELAYING },
	{ "fulltrustnet", "+", "name", "accept %s for any",
	    IMPORT_RELAYING },
	{ "trustrecipients", "+", "name", "accept %s for any",
	    IMPORT_RELAYING },
};
enum { POLICY_ATTRIBUTES = sizeof(attributes) / sizeof(attributes[0]) };

/* The statement of an attribute; -1: it has no rule. */
static int
policy_say(struct ancestor *old, struct slice key, struct slice name,
    struct slice value)
{
	struct import *import = old->import;

	for (size_t i = 0; i < POLICY_ATTRIBUTES; i++) {
		const char *condition;
		size_t at;

		if (!slice_is(name, attributes[i].name) || !slice_is(value,
		    attributes[i].sign))
			continue;
		condition = policy_condition(old, key,
		    attributes[i].condition);
		if (condition == NULL)
			return -1;
		at = strcspn(attributes[i].format, "%");
		return import_say_once(import, attributes[i].part,
		    arena_printf(import->arena, "%.*s%s%s", (int)at,
		    attributes[i].format, condition,
		    attributes[i].format + at + 2));
	}
	return -1;
}

/* test-dns-rbl zone:zone, only for all clients. */
static int
policy_lists(struct ancestor *old, struct slice key, struct slice value)
{
	struct import *import = old->import;
	struct slice zone;
	int statement = -1;

	if (!slice_starts(key, "_default") && !slice_starts(key, "_rbl") &&
	    !slice_is(key, "."))
		return -1;
	while (slice_cut(&value, ':', &zone)) {
		const char *name = import_domain(import, zone);

		if (name == NULL)
			continue;
		(void)import_say_once(import, IMPORT_RULES, arena_printf(
		    import->arena, "dnsbl %s", name));
		statement = import_say_once(import, IMPORT_RULES,
		    arena_printf(import->arena, "reject listed %s", name));
	}
	return statement;
}

static void
policy_attribute(struct ancestor *old, struct import_item *item,
    struct slice key, struct slice name, struct slice value)
{
	int statement = slice_ends(name, "dns-rbl") ? policy_lists(old, key,
	    value) : policy_say(old, key, name, value);

	if (statement >= 0)
		import_item_taken(old->import, item, statement);
	else if (slice_is(value, "-"))
		import_item_note(old->import, item, IMPORT_NOT_NEEDED,
		    SLICE_FMT " -: it is so without a rule",
		    SLICE_ARG(name));
	else if (slice_is(name, "senderokwithdns"))
		import_item_taken(old->import, item, import_say_once(
		    old->import, IMPORT_RULES, "defer sender-unknown"));
	else
		import_item_note(old->import, item, IMPORT_MISSING, SLICE_FMT
		    ": write it as a rule (zmailer help accept)",
		    SLICE_ARG(name));
}

/* KEY ATTRIBUTE VALUE ATTRIBUTE VALUE..., or = _tag: what the tag has. */
static void
policy_line(struct ancestor *old, struct import_item *item,
    const struct ancestor_line *line, const char *attribute)
{
	struct slice rest = line->value, name, value;

	if (attribute != NULL) {
		policy_attribute(old, item, line->name, slice_of(attribute),
		    SLICE("+"));
		return;
	}
	while (slice_word(&rest, &name)) {
		value = SLICE("");
		(void)slice_word(&rest, &value);
		if (slice_is(name, "=") && slice_starts(value,
		    "_full_rights"))
			policy_attribute(old, item, line->name,
			    SLICE("relaycustnet"), SLICE("+"));
		else if (slice_is(name, "=") && slice_starts(value,
		    "_bulk_mail"))
			policy_attribute(old, item, line->name,
			    SLICE("rejectsource"), SLICE("+"));
		else if (slice_is(name, "=") && slice_starts(value,
		    "_relaytarget"))
			policy_attribute(old, item, line->name,
			    SLICE("relaytarget"), SLICE("+"));
		else if (slice_is(name, "=") && slice_starts(value,
		    "_localnames"))
			import_item_note(old->import, item,
			    IMPORT_NOT_NEEDED, "domain says it");
		else
			policy_attribute(old, item, line->name, name, value);
	}
	if (!item->is_told)
		import_item_note(old->import, item, IMPORT_NOT_NEEDED,
		    "it says nothing");
}

static void
policy_file(struct ancestor *old, const char *name, const char *attribute)
{
	struct import *import = old->import;
	const char *path = import_file_here(import, slice_of(arena_printf(
	    import->arena, "%s/db/%s", old->var, name)));
	struct ancestor_lines lines = { .line = 0 };
	struct ancestor_line line;

	if (import_file_take(import->arena, path, &lines.rest, NULL) != 0)
		return;
	while (ancestor_line_next(&lines, &line)) {
		struct import_item item = import_item_at(import, path,
		    line.line, line.name, line.value);

		if (line.wrong != NULL)
			import_item_note(import, &item, IMPORT_MISSING, "%s",
			    line.wrong);
		else
			policy_line(old, &item, &line, line.value.n > 0 ?
			    NULL : attribute);
	}
}

void
ancestor_policy(struct ancestor *old)
{
	policy_file(old, "smtp-policy.src", NULL);
	policy_file(old, "smtp-policy.relay", "relaycustnet");
	policy_file(old, "smtp-policy.relay.manual", "relaycustnet");
	policy_file(old, "smtp-policy.mx", "relaytarget");
	policy_file(old, "smtp-policy.mx.manual", "relaytarget");
	policy_file(old, "smtp-policy.spam", "rejectsource");
	policy_file(old, "smtp-policy.spam.manual", "rejectsource");
}
