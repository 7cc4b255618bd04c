/* rules.c - restrictions of Postfix as rules
 *
 * In     smtpd_*_restrictions, in the order in which Postfix asks them
 * Out    reject, defer, accept, freeze, policy-service, dnsbl; whatever
 *        cannot be a rule is reported, word by word
 * Holds  nothing
 * Trusts no table: each unknown action is reported with its line
 * Spec   SMTPD_ACCESS_README of Postfix; zmailer.conf(5), accept
 *
 * Postfix has a list for each step, and the next list may refuse what one lets
 * pass; we have one list.  So permissions do not keep their place: refusals
 * after permit_mynetworks are for strangers, and rules about relaying follow
 * all refusals.
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "tools/zmailer/import/postfix/postfix.h"

#include "base/banned.h"

struct rules {
	struct import	*import;
	const char	*name;		/* of the setting */
	bool		 is_permitted;	/* permit_mynetworks was before */
};

/* Words that become a rule, those that need none, those that cannot. */
enum word_kind { WORD_RULE, WORD_STRANGERS, WORD_NOTHING, WORD_DIFFERS,
	WORD_LACKS };
static const struct word_row {
	const char	*word;
	enum word_kind	 kind;
	const char	*text;
} words[] = {
	/* these rules are for strangers unless they say everybody */
	{ "reject_non_fqdn_helo_hostname", WORD_STRANGERS,
	    "reject helo unqualified" },
	{ "reject_non_fqdn_hostname", WORD_STRANGERS,
	    "reject helo unqualified" },
	{ "reject_unknown_client_hostname", WORD_STRANGERS,
	    "reject name none" },
	{ "reject_unknown_client", WORD_STRANGERS, "reject name none" },
	{ "reject_unknown_sender_domain", WORD_STRANGERS,
	    "defer sender-unknown" },
	{ "permit_mynetworks", WORD_NOTHING, "see mynetworks" },
	{ "permit_sasl_authenticated", WORD_NOTHING,
	    "who logged in may relay: a preset rule" },
	{ "permit_auth_destination", WORD_NOTHING,
	    "mail for our own domains is taken when no rule refuses it" },
	{ "permit", WORD_NOTHING,
	    "mail for our own domains is taken when no rule refuses it" },
	{ "reject_unauth_destination", WORD_NOTHING,
	    "relaying is refused to all others: a preset rule" },
	{ "defer_unauth_destination", WORD_NOTHING,
	    "relaying is refused to all others: a preset rule" },
	{ "reject_unlisted_recipient", WORD_NOTHING,
	    "recipients are looked up: verify" },
	{ "reject_unverified_recipient", WORD_NOTHING,
	    "recipients are looked up: verify" },
	{ "reject_unauth_pipelining", WORD_NOTHING,
	    "commands out of turn are never waited for; greet-pause" },
	{ "reject_invalid_helo_hostname", WORD_NOTHING,
	    "the syntax of HELO is always checked" },
	{ "reject_invalid_hostname", WORD_NOTHING,
	    "the syntax of HELO is always checked" },
	{ "reject_non_fqdn_sender", WORD_DIFFERS,
	    "an address without a domain gets that of host" },
	{ "reject_non_fqdn_recipient", WORD_DIFFERS,
	    "an address without a domain gets that of host" },
	{ "reject_unknown_recipient_domain", WORD_DIFFERS,
	    "who may relay hears of it in a report" },
	{ "reject_multi_recipient_bounce", WORD_DIFFERS,
	    "reports to many are taken: limit rate 1/1s sender <>" },
	{ "reject_unlisted_sender", WORD_DIFFERS,
	    "auth ... senders own holds our users to their addresses" },
	{ "warn_if_reject", WORD_LACKS,
	    "write the rule after it with `shadow`" },
	{ "reject_unknown_helo_hostname", WORD_LACKS,
	    "no rule asks the DNS about HELO: reject helo unqualified, ours" },
	{ "reject_unknown_hostname", WORD_LACKS,
	    "no rule asks the DNS about HELO: reject helo unqualified, ours" },
	{ "reject_unknown_reverse_client_hostname", WORD_LACKS,
	    "`reject name none` is stricter: the name must lead back" },
	{ "permit_mx_backup", WORD_LACKS,
	    "name the domains: accept to @DOMAIN for any" },
	{ "permit_tls_clientcerts", WORD_LACKS,
	    "write `accept cert <FINGERPRINTS> for any`" },
	{ "permit_tls_all_clientcerts", WORD_LACKS,
	    "write `accept cert any for any`" },
	{ "reject_unverified_sender", WORD_LACKS,
	    "senders are not called back" },
	{ "reject_sender_login_mismatch", WORD_DIFFERS,
	    "auth ... senders own: who logged in has own addresses alone" },
	{ "reject_authenticated_sender_login_mismatch", WORD_DIFFERS,
	    "auth ... senders own: who logged in has own addresses alone" },
	{ "reject_unauthenticated_sender_login_mismatch", WORD_LACKS,
	    "write `reject strangers sender @DOMAIN`" },
	{ "reject_known_sender_login_mismatch", WORD_DIFFERS,
	    "auth ... senders own: who logged in has own addresses alone" },
	{ "reject", WORD_LACKS, "write what is let in, then `reject`" },
	{ "defer", WORD_LACKS, "write what is let in, then `defer`" },
	{ "defer_if_permit", WORD_LACKS, "write `defer`" },
};

static void
rule_say(struct rules *rules, bool is_spared, const char *text)
{
	const char *more = is_spared == rules->is_permitted ? "" :
	    is_spared ? " everybody" : " strangers";
	const char *words_at = strstr(text, " text ");
	size_t n = words_at == NULL ? strlen(text) :
	    (size_t)(words_at - text);

	/* its words stay last */
	import_say(rules->import, IMPORT_RULES, rules->name, "%.*s%s%s",
	    (int)n, text, more, text + n);
}

/* ---- tables of actions -------------------------------------------------- */

/* What is asked, by the restriction's name. */
static const struct access_row {
	const char	*word, *condition;
} access_rows[] = {
	{ "check_client_access", "from" }, { "check_sender_access", "sender" },
	{ "check_recipient_access", "to" }, { "check_helo_access", "helo" },
};

/* The rule for an action, without its condition: "reject" and " text ...".
 * NULL: there is none; "": nothing is to be done. */
static const char *
action_verb(struct import *import, struct slice action,
    const char **out_text)
{
	struct slice words_left = action, first;

	*out_text = "";
	if (!slice_word(&words_left, &first))
		return NULL;
	words_left = slice_trim(words_left);
	/* the enhanced code is ours */
	if (words_left.n > 4 && words_left.p[1] == '.' &&
	    (words_left.p[0] == '4' || words_left.p[0] == '5'))
		words_left = slice_trim(slice_from(words_left, slice_find(
		    words_left, ' ')));
	if (words_left.n > 0)
		*out_text = arena_printf(import->arena, " text \"%s\"",
		    import_quote(import, words_left));
	if (slice_is_nocase(first, "REJECT") || (first.n == 3 &&
	    first.p[0] == '5'))
		return "reject";
	if (slice_is_nocase(first, "DEFER") || (first.n == 3 &&
	    first.p[0] == '4') || slice_is_nocase(first, "DEFER_IF_PERMIT"))
		return "defer";
	*out_text = "";
	if (slice_is_nocase(first, "OK") || slice_is_nocase(first, "PERMIT") ||
	    slice_is_nocase(first, "RELAY"))
		return "accept";
	if (slice_is_nocase(first, "HOLD") ||
	    slice_is_nocase(first, "DISCARD"))
		return "freeze";
	return NULL;
}

/* Client: names and addresses are different conditions here. */
static const char *
access_condition(const char *condition, struct slice key)
{
	if (strcmp(condition, "from") == 0 && key.n > 0 &&
	    strspn(key.p, "0123456789abcdefABCDEF:./[]") < key.n)
		return "name";
	return condition;
}

/* A key of Postfix as a pattern of ours; NULL when it has none. */
static const char *
access_key(struct import *import, const char *condition, struct slice key)
{
	const char *word = import_word(import, key);
	size_t dots = 0;

	for (size_t i = 0; i < key.n; i++)
		dots += key.p[i] == '.';
	if (word == NULL)
		return NULL;
	if (strcmp(condition, "from") == 0 && strchr(word, '/') == NULL &&
	    strchr(word, ':') == NULL && dots < 3)
		return arena_printf(import->arena, "%s%s/%zu", word,
		    dots == 2 ? ".0" : dots == 1 ? ".0.0" : ".0.0.0",
		    (dots + 1) * 8);
	return word;
}

struct access_group {
	const char	*verb, *condition, *text;
	struct str	 rows;
};
enum { ACCESS_GROUPS_MAX = 30 };

static struct access_group *
access_group_of(struct access_group *groups, size_t *count,
    const struct access_group *like)
{
	for (size_t i = 0; i < *count; i++)
		if (strcmp(groups[i].verb, like->verb) == 0 &&
		    strcmp(groups[i].condition, like->condition) == 0 &&
		    strcmp(groups[i].text, like->text) == 0)
			return &groups[i];
	if (*count == ACCESS_GROUPS_MAX)
		return NULL;
	groups[*count] = *like;
	str_init(&groups[*count].rows);
	return &groups[(*count)++];
}

/* An entry into its group. */
static void
access_sort(struct import *import, const struct import_map *map,
    const char *condition, struct access_group *groups, size_t *count)
{
	for (size_t i = 0; i < map->entries.count; i++) {
		struct import_entry *entry = &map->entries.rows[i];
		struct access_group like = { .verb = NULL };
		struct access_group *group = NULL;
		const char *key;

		like.condition = access_condition(condition, entry->key);
		like.verb = action_verb(import, entry->value, &like.text);
		key = access_key(import, like.condition, entry->key);
		if (like.verb != NULL && key != NULL)
			group = access_group_of(groups, count, &like);
		if (group == NULL)
			import_entry_note(import, map, entry, IMPORT_MISSING,
			    "write a rule for it (zmailer help reject), in "
			    "front of those of this table");
		else
			str_addf(&group->rows, "%s -\n", key);
	}
}

static void
access_say(struct rules *rules, const struct import_map *map,
    const char *condition)
{
	struct import *import = rules->import;
	struct access_group groups[ACCESS_GROUPS_MAX];
	size_t count = 0;

	access_sort(import, map, condition, groups, &count);
	/* exceptions stand before what they are exceptions from */
	for (int turn = 0; turn < 2; turn++)
		for (size_t i = 0; i < count; i++) {
			struct access_group *group = &groups[i];
			bool is_accept = strcmp(group->verb, "accept") == 0;

			if (is_accept != (turn == 0))
				continue;
			rule_say(rules, strcmp(group->condition, "from") != 0
			    && (strcmp(group->condition, "name") == 0 ||
			    strcmp(group->condition, "helo") == 0) &&
			    !is_accept, arena_printf(import->arena,
			    "%s %s <%s>%s", group->verb, group->condition,
			    import_table_add(import, rules->name, "file",
			    is_accept ? "let-in" : "kept-out", &group->rows,
			    IMPORT_EVERYBODY), group->text));
		}
	for (size_t i = 0; i < count; i++)
		if (strcmp(groups[i].verb, "accept") == 0 &&
		    (strcmp(rules->name, "smtpd_relay_restrictions") == 0 ||
		    strcmp(rules->name, "smtpd_recipient_restrictions") == 0))
			import_note(import, rules->name, map->spec,
			    IMPORT_DIFFERS, "accept speaks of mail for our "
			    "own domains; add `for any` where OK was to allow "
			    "relaying");
	if (count > 1)
		import_note(import, rules->name, map->spec, IMPORT_DIFFERS,
		    "its actions are rules in this order: accept, then the "
		    "others; Postfix takes the most exact key");
}

/* ---- words with an argument --------------------------------------------- */

static void
list_say(struct rules *rules, struct slice zone)
{
	size_t at = slice_find(zone, '=');
	const char *name = import_word(rules->import, slice_first(zone, at));
	const char *answer = import_word(rules->import, slice_from(zone,
	    at + 1));

	if (name == NULL || (at < zone.n && (answer == NULL ||
	    strspn(answer, "0123456789.") != strlen(answer)))) {
		import_note(rules->import, rules->name, zone, IMPORT_MISSING,
		    "write `dnsbl ZONE answer NET` and `reject listed ZONE`");
		return;
	}
	import_say(rules->import, IMPORT_RULES, rules->name, "dnsbl %s%s%s",
	    name, answer == NULL ? "" : " answer ", answer == NULL ? "" :
	    answer);
	rule_say(rules, true, arena_printf(rules->import->arena,
	    "reject listed %s", name));
}

/* inet:HOST:PORT, unix:PATH. */
static void
service_say(struct rules *rules, struct slice socket)
{
	struct import *import = rules->import;
	struct slice one;
	const char *word;

	if (!import_list_next(&socket, &one))
		one = SLICE("");
	word = import_socket(import, one);
	if (word == NULL)
		import_note(import, rules->name, one, IMPORT_MISSING,
		    "write `policy-service unix:/PATH|inet:ADDRESS:PORT`");
	else
		rule_say(rules, true, arena_printf(import->arena,
		    "policy-service %s", word));
}

static void
access_maps_say(struct rules *rules, struct slice word, struct slice spec)
{
	const char *condition = NULL;
	struct import_map map;

	for (size_t i = 0; i < sizeof(access_rows) / sizeof(access_rows[0]);
	    i++)
		if (slice_is(word, access_rows[i].word))
			condition = access_rows[i].condition;
	if (condition != NULL && slice_trim(spec).n == 0) {
		import_note(rules->import, rules->name, word, IMPORT_MISSING,
		    "it names no table");
		return;
	}
	if (condition == NULL) {
		import_note(rules->import, rules->name, word, IMPORT_MISSING,
		    "no rule asks this (zmailer help reject)");
		return;
	}
	while (import_map_next(rules->import, rules->name, &spec, &map)) {
		if (map.is_networks) {
			import_read_table(rules->import->arena,
			    map.entries.rows[0].key, &map.entries);
			map.is_lines = true;
		}
		if (map.is_lines)
			access_say(rules, &map, condition);
		else
			import_note(rules->import, rules->name, map.spec,
			    IMPORT_MISSING, "patterns with actions: write "
			    "`reject %s PATTERN` for each, * and ? may stand "
			    "in it", condition);
	}
}

/* ---- lists -------------------------------------------------------------- */

static void
word_say(struct rules *rules, struct slice word)
{
	static const enum import_kind kinds[] = {
		[WORD_NOTHING] = IMPORT_NOT_NEEDED,
		[WORD_DIFFERS] = IMPORT_DIFFERS, [WORD_LACKS] = IMPORT_MISSING,
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		const struct word_row *row = &words[i];

		if (!slice_is(word, row->word))
			continue;
		if (row->kind <= WORD_STRANGERS)
			rule_say(rules, row->kind == WORD_STRANGERS,
			    row->text);
		else
			import_note(rules->import, rules->name, word,
			    kinds[row->kind], "%s", row->text);
		rules->is_permitted |= slice_is(word, "permit_mynetworks");
		return;
	}
	import_note(rules->import, rules->name, word, IMPORT_MISSING,
	    "not known: see zmailer help reject");
}

static void
rules_visit(struct import *import, const char *name)
{
	struct rules rules = { import, name, false };
	struct slice rest = import_value(import, name), word, next;

	if (import_setting(import, name) == NULL)
		return;
	while (import_list_next(&rest, &word)) {
		bool is_list = slice_is(word, "reject_rbl_client") ||
		    slice_is(word, "reject_rbl");

		/* { check_x y } came as one */
		if (slice_find(word, ' ') < word.n) {
			next = slice_trim(slice_from(word, slice_find(word,
			    ' ')));
			word = slice_first(word, slice_find(word, ' '));
		} else if (is_list || slice_starts(word, "check_") ||
		    slice_starts(word, "reject_rhsbl") ||
		    slice_starts(word, "permit_dnswl") ||
		    slice_starts(word, "permit_rhswl") ||
		    slice_is(word, "sleep")) {
			if (!import_list_next(&rest, &next))
				next = SLICE("");
		} else {
			word_say(&rules, word);
			continue;
		}
		if (is_list)
			list_say(&rules, next);
		else if (slice_is(word, "check_policy_service"))
			service_say(&rules, next);
		else
			access_maps_say(&rules, word, next);
	}
}

#define RULES(function) \
	void import_##function(struct import *import, const char *name) \
	{ \
		rules_visit(import, name); \
	}
RULES(client_rules)
RULES(helo_rules)
RULES(sender_rules)
RULES(relay_rules)
RULES(recipient_rules)
RULES(data_rules)
RULES(end_of_data_rules)
