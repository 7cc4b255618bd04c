/* refuse.c - statements of ACLs that refuse, as rules
 *
 * In     deny, defer, drop and warn with their conditions
 * Out    reject, defer; dnsbl, verify-origin, limit rate
 * Holds  nothing
 * Spec   the Exim specification, chapter 44.25; zmailer.conf(5), accept
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "grammar/units.h"
#include "tools/zmailer/import/exim/acl.h"

#include "base/banned.h"

/* ---- conditions --------------------------------------------------------- */

/* What has no rule here, and what to do. */
static const struct { const char *name, *text; } odd[] = {
	{ "malware", "let ClamAV speak milter (clamav-milter), and write "
	    "`milter unix:/PATH`" },
	{ "spam", "let SpamAssassin or rspamd speak milter, and write "
	    "`milter unix:/PATH`" },
	{ "condition", "what it computes cannot be said: write a rule "
	    "(zmailer help accept), a policy-service or a hook "
	    "(doc/HOOKS.md)" },
	{ "mime_regex", "let a milter look at the content" },
	{ "regex", "let a milter look at the content" },
	{ "decode", "let a milter look at the content" },
	{ "dmarc_status", "write `verify-origin yes` and `reject dmarc fail "
	    "policy reject`" },
	{ "dkim_status", "write `verify-origin yes` and `reject dkim fail`" },
	{ "dkim_signers", "write `verify-origin yes` and `reject dkim "
	    "fail`" },
	{ "csa", "nobody publishes such records" },
	{ "ratelimit", "write `limit rate COUNT/SPAN per client`" },
};

/* A list as one word or a table; NULL: none, which is why. */
static const char *
refuse_words(struct exim4 *exim, struct exim4_group *group,
    const struct exim4_condition *condition, const char *type,
    const char *front)
{
	const struct exim4_set *set = exim4_set_of(exim, type,
	    condition->value);
	struct str rows = STR_INIT;
	const char *word = NULL;
	size_t count = 0;

	for (size_t i = 0; i < set->count; i++) {
		if (set->words[i].is_not || set->words[i].text[0] == '\0')
			continue;
		word = arena_printf(exim->import->arena, "%s%s",
		    set->words[i].text[0] == '<' ||
		    strchr(set->words[i].text, '@') != NULL ? "" : front,
		    set->words[i].text);
		str_addf(&rows, "%s -\n", word);
		count++;
	}
	if (set->odd != NULL)
		group->differs = arena_printf(exim->import->arena, SLICE_FMT
		    ": \"%s\" has no place in a pattern: write it as a rule",
		    SLICE_ARG(condition->name), set->odd);
	if (count > 1)
		word = arena_printf(exim->import->arena, "<%s>",
		    import_table_add(exim->import, "", "file", "kept-out",
		    &rows, IMPORT_EVERYBODY));
	if (count == 0 && set->odd == NULL)
		group->needless = "its list is empty";
	else if (count == 0)
		group->why = "write it as `reject` with a table (zmailer "
		    "help accept)";
	str_release(&rows);
	return count == 0 ? NULL : word;
}

static bool
refuse_list(struct exim4 *exim, struct exim4_group *group,
    const struct exim4_condition *condition, struct str *out)
{
	static const struct {
		const char *theirs, *type, *ours, *front;
	} rows[] = {
		{ "hosts", "hostlist", "from", "" },
		{ "senders", "addresslist", "sender", "@" },
		{ "sender_domains", "domainlist", "sender", "@" },
		{ "recipients", "addresslist", "to", "@" },
		{ "domains", "domainlist", "to", "@" },
	};
	const char *word, *name;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (!slice_is(condition->name, rows[i].theirs))
			continue;
		if (condition->is_not && strcmp(rows[i].ours, "from") == 0) {
			str_adds(out, " strangers");
			group->differs = "strangers are clients that may not "
			    "relay";
			return true;
		}
		if (condition->is_not)
			break;
		word = refuse_words(exim, group, condition, rows[i].type,
		    rows[i].front);
		name = word != NULL && strcmp(rows[i].ours, "from") == 0 &&
		    word[0] != '<' && strspn(word,
		    "0123456789abcdefABCDEF.:/") != strlen(word) ? "name" :
		    rows[i].ours;
		if (word != NULL)
			str_addf(out, " %s %s", name, word);
		return word != NULL;
	}
	group->why = arena_printf(exim->import->arena, SLICE_FMT ": write it "
	    "as a rule (zmailer help accept)", SLICE_ARG(condition->name));
	return false;
}

/* verify = WHAT in a statement that refuses: what fails it. */
static bool
refuse_verify(struct exim4 *exim, struct exim4_group *group,
    const struct exim4_condition *condition, struct str *out)
{
	struct slice what = slice_first(condition->value, slice_find(
	    condition->value, '/'));
	bool is_callout = slice_find(condition->value, '/') <
	    condition->value.n;

	if (slice_is(what, "sender")) {
		str_adds(out, " sender-unknown");
		if (is_callout)
			group->differs = "callout: only the sender's domain "
			    "is looked up, its host is not asked";
		return true;
	}
	if (slice_is(what, "reverse_host_lookup")) {
		str_adds(out, " name none");
		return true;
	}
	if (slice_is(what, "certificate")) {
		str_adds(out, " cert none");
		return true;
	}
	if (slice_is(what, "recipient"))
		group->needless = "unknown recipients are refused (verify)";
	else if (slice_starts(what, "header_"))
		group->needless = "headers are checked and noted "
		    "(header-check)";
	else
		group->why = slice_is(what, "helo") ? "helo: write `reject "
		    "helo unqualified`, `reject helo literal` or `reject helo "
		    "ours`" : "write it as a rule (zmailer help accept)";
	(void)exim;
	return false;
}

/* Conditions that many have, and that need no rule. */
static bool
refuse_is_known(struct exim4_group *group, struct slice condition)
{
	static const struct { const char *what, *text; } rows[] = {
		{ "$max_received_linelength", "lines of any length are taken "
		    "up to limit line, and folded where the next host wants "
		    "it" },
		{ "$rcpt_count", "a session with too many refusals is ended "
		    "(limit errors)" },
	};

	for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++)
		if (slice_find_text(condition, slice_of(rows[k].what)) <
		    condition.n) {
			group->needless = rows[k].text;
			return true;
		}
	return false;
}

/* Add a condition.  returns false: it makes a rule impossible (why is set) */
static bool
refuse_condition(struct exim4 *exim, struct exim4_group *group,
    const struct exim4_condition *condition, struct str *out)
{
	if (slice_is(condition->name, "condition") &&
	    refuse_is_known(group, condition->value))
		return false;
	for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++)
		if (slice_is(condition->name, odd[i].name)) {
			group->why = arena_printf(exim->import->arena,
			    "%s: %s", odd[i].name, odd[i].text);
			return false;
		}
	if (slice_is(condition->name, "dnslists") ||
	    slice_is(condition->name, "spf"))
		return true;	/* one rule for each */
	if (slice_is(condition->name, "acl")) {
		if (!condition->is_not || !exim4_acl_is_empty(exim,
		    condition->value))
			group->differs = "acl: what that ACL accepts is not "
			    "spared: write `accept` with its conditions "
			    "before this rule";
		return true;
	}
	if (slice_is(condition->name, "verify") && condition->is_not)
		return refuse_verify(exim, group, condition, out);
	if (slice_is(condition->name, "encrypted"))
		str_adds(out, condition->is_not ? " tls no" : " tls yes");
	else if (slice_is(condition->name, "authenticated"))
		str_adds(out, condition->is_not ? " user none" : " auth");
	else
		return refuse_list(exim, group, condition, out);
	return true;
}

/* ---- rules -------------------------------------------------------------- */

static void
refusal_say(struct exim4 *exim, struct exim4_group *group,
    const char *conditions)
{
	bool is_warn = slice_is(group->verb, "warn");
	const char *text = "";

	if (!is_warn && group->message.n > 0 && slice_find(group->message,
	    '$') == group->message.n)
		text = arena_printf(exim->import->arena, " text \"%s\"",
		    import_quote(exim->import, group->message));
	group->statement = import_say_once(exim->import, IMPORT_RULES,
	    arena_printf(exim->import->arena, "%s%s%s%s",
	    slice_is(group->verb, "defer") ? "defer" : "reject", is_warn ?
	    " shadow" : "", conditions[0] == '\0' ? " everybody" :
	    conditions, text));
	if (is_warn)
		group->differs = "shadow notes what it would have refused in "
		    "the journal; no header field is added";
}

/* "zone/$sender_host_address", "zone=127.0.0.2": each is a list of its own. */
static void
rule_lists(struct exim4 *exim, struct exim4_group *group,
    const struct exim4_condition *lists, const char *conditions)
{
	struct exim4_list list;
	struct slice item, zone, answer;
	const char *name, *net;

	exim4_list_begin(lists->value, &list);
	while (exim4_list_next(exim->import->arena, &list, &item)) {
		zone = slice_first(item, slice_find(item, '='));
		answer = slice_from(item, zone.n + 1);
		zone = slice_first(zone, slice_find(zone, '/'));
		name = import_domain(exim->import, zone);
		net = import_word(exim->import, answer);
		if (name == NULL || slice_find(answer, ',') < answer.n ||
		    slice_find(item, '$') < item.n ||
		    slice_find(item, '&') < item.n) {
			group->why = "dnslists: write `dnsbl ZONE answer NET` "
			    "and `reject listed ZONE`; a list of domains has "
			    "no place here";
			return;
		}
		(void)import_say_once(exim->import, IMPORT_RULES,
		    arena_printf(exim->import->arena, "dnsbl %s%s%s", name,
		    answer.n > 0 && net != NULL ? " answer " : "",
		    answer.n > 0 && net != NULL ? net : ""));
		refusal_say(exim, group, arena_printf(exim->import->arena,
		    "%s listed %s", conditions, name));
	}
}

static void
rule_spf(struct exim4 *exim, struct exim4_group *group,
    const struct exim4_condition *spf, const char *conditions)
{
	static const char known[] = " none pass fail softfail neutral "
	    "temperror permerror ";
	struct exim4_list list;
	struct slice item;

	(void)import_say_once(exim->import, IMPORT_RULES,
	    "verify-origin yes");
	exim4_list_begin(spf->value, &list);
	while (exim4_list_next(exim->import->arena, &list, &item)) {
		if (strstr(known, arena_printf(exim->import->arena,
		    " " SLICE_FMT " ", SLICE_ARG(item))) == NULL)
			group->differs = "spf: a result of this name is not "
			    "known";
		else
			refusal_say(exim, group, arena_printf(
			    exim->import->arena, "%s spf " SLICE_FMT,
			    conditions, SLICE_ARG(item)));
	}
}

void
exim4_refuse(struct exim4 *exim, struct exim4_group *group)
{
	const struct exim4_condition *lists = exim4_condition_of(group,
	    "dnslists");
	const struct exim4_condition *spf = exim4_condition_of(group, "spf");
	struct str conditions = STR_INIT;
	bool is_good = true;

	for (size_t i = 0; i < group->count && is_good; i++)
		is_good = refuse_condition(exim, group,
		    &group->conditions[i], &conditions);
	if (is_good && lists != NULL && !lists->is_not)
		rule_lists(exim, group, lists, conditions.buf);
	else if (is_good && spf != NULL && !spf->is_not)
		rule_spf(exim, group, spf, conditions.buf);
	else if (is_good && (lists != NULL || spf != NULL))
		group->why = "write it as a rule (zmailer help accept)";
	else if (is_good)
		refusal_say(exim, group, conditions.buf);
	str_release(&conditions);
}

void
exim4_verify_say(struct exim4 *exim, struct exim4_group *group,
    const struct exim4_condition *verify)
{
	struct exim4_condition turned = *verify;
	struct str conditions = STR_INIT;

	turned.is_not = !turned.is_not;
	if (slice_find(verify->value, '/') < verify->value.n &&
	    slice_starts(verify->value, "recipient"))
		group->differs = "callout: the next host is asked only when "
		    "the mail is sent: write `domain NAME { users <TABLE> }` "
		    "with those it has";
	if (!turned.is_not)
		group->why = "write it as a rule (zmailer help accept)";
	else if (refuse_verify(exim, group, &turned, &conditions))
		refusal_say(exim, group, conditions.buf);
	str_release(&conditions);
}
