/* acl.c - Exim's ACLs as rules
 *
 * In     the ACLs that acl_smtp_* name
 * Out    accept, reject, defer; dnsbl, verify-origin
 * Holds  nothing
 * Spec   the Exim specification, chapter 44; zmailer.conf(5), accept
 *
 * There each ACL ends with its first answer.  Here rules are one list: rules
 * about relaying follow those that refuse, and users who logged in may send by
 * a preset rule.
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "tools/zmailer/import/exim/acl.h"

#include "base/banned.h"

/* Words of an ACL that are no conditions. */
static bool
acl_is_modifier(struct slice name)
{
	static const char *const names[] = { "message", "log_message",
		"delay", "control", "logwrite", "set", "add_header",
		"remove_header", "endpass", "continue", "log_reject_target",
		"queue", "udpsend" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (slice_is(name, names[i]))
			return true;
	return name.n == 0;
}

/* Rows of a statement: from one verb up to the next. */
static void
group_read(struct exim4 *exim, const struct exim4_driver *acl, size_t first,
    struct exim4_group *out)
{
	*out = (struct exim4_group){ .first = first, .end = first,
		.verb = exim->rows[first].said.verb, .statement = -1,
		.message = SLICE("") };
	for (size_t i = first; i < acl->end && (i == first ||
	    exim->rows[i].said.verb.n == 0); i++) {
		struct exim4_row *row = &exim->rows[i];
		struct slice name = row->said.name;
		bool is_not = slice_starts(name, "!");

		out->end = i + 1;
		if (row->said.kind != EXIM4_CONDITION ||
		    row->said.wrong != NULL)
			continue;
		name = slice_from(name, is_not);
		if (slice_is(name, "message"))
			out->message = row->value;
		if (acl_is_modifier(name))
			continue;
		if (out->count == EXIM4_CONDITIONS_MAX) {
			out->why = "more than 20 conditions";
			continue;
		}
		out->conditions[out->count++] = (struct exim4_condition){
		    name, row->value, is_not };
	}
}

const struct exim4_condition *
exim4_condition_of(const struct exim4_group *group, const char *name)
{
	for (size_t i = 0; i < group->count; i++)
		if (slice_is(group->conditions[i].name, name))
			return &group->conditions[i];
	return NULL;
}

/* What became of a statement holds for each of its rows. */
static void
group_tell(struct exim4 *exim, const struct exim4_group *group)
{
	for (size_t i = group->first; i < group->end; i++) {
		struct exim4_row *row = &exim->rows[i];

		if (row->item.is_told || row->said.kind != EXIM4_CONDITION)
			continue;
		if (group->why != NULL)
			exim4_note(exim, row, IMPORT_MISSING, "%s",
			    group->why);
		else if (group->statement >= 0)
			import_item_taken(exim->import, &row->item,
			    group->statement);
		else
			exim4_note(exim, row, IMPORT_NOT_NEEDED, "%s",
			    group->needless != NULL ? group->needless :
			    "nothing is decided by it");
		if (group->differs != NULL && i == group->first)
			exim4_note(exim, row, IMPORT_DIFFERS, "%s",
			    group->differs);
	}
}

/* ---- who may relay ------------------------------------------------------ */

/* accept ... for any, for each domain that is not ours. */
static void
relay_to(struct exim4 *exim, struct exim4_group *group,
    const struct exim4_condition *domains)
{
	const struct exim4_set *set = exim4_set_of(exim, "domainlist",
	    domains->value);

	for (size_t i = 0; i < set->count; i++) {
		const char *word = set->words[i].text;

		if (import_name_number(&exim->local, slice_of(word)) != 0 ||
		    word[0] == '\0' || strcmp(word, "*") == 0 ||
		    strcmp(word, exim->host) == 0)
			continue;
		group->statement = import_say_once(exim->import,
		    IMPORT_RELAYING, arena_printf(exim->import->arena,
		    word[0] == '.' ? "accept to *@*%s for any" : word[0] ==
		    '<' ? "accept to %s for any" : "accept to @%s for any",
		    word));
	}
	if (set->odd != NULL)
		group->differs = arena_printf(exim->import->arena, "domains: "
		    "\"%s\" is no name that is known when it is read: write "
		    "`accept to PATTERN for any`", set->odd);
	if (group->statement < 0)
		group->needless = "mail for our own domains is accepted, and "
		    "no other without `for any`";
}

static void
relay_from(struct exim4 *exim, struct exim4_group *group,
    const struct exim4_condition *hosts)
{
	const struct exim4_set *set = exim4_set_of(exim, "hostlist",
	    hosts->value);

	for (size_t i = 0; i < set->count; i++) {
		const char *word = set->words[i].text;

		if (set->words[i].is_not || word[0] == '\0' ||
		    strncmp(word, "127.", 4) == 0 || strcmp(word, "::1") == 0)
			continue;
		if (strcmp(word, "*") == 0) {
			group->why = "everybody could send through this host: "
			    "write `accept from NET for any` with the "
			    "networks that may";
			return;
		}
		group->statement = import_say_once(exim->import,
		    IMPORT_RELAYING, arena_printf(exim->import->arena,
		    strspn(word, "0123456789abcdefABCDEF.:/") ==
		    strlen(word) || word[0] == '<' ?
		    "accept from %s for any" : "accept name %s for any",
		    word));
	}
	if (set->odd != NULL)
		group->differs = arena_printf(exim->import->arena, "hosts: "
		    "\"%s\" is no address: write `accept from NET for any` or "
		    "`accept name HOST for any`", set->odd);
	if (group->statement < 0)
		group->needless = "this machine may send by a preset rule";
}

/* ---- verbs -------------------------------------------------------------- */

static void
group_accept(struct exim4 *exim, struct exim4_group *group, bool is_rcpt)
{
	const struct exim4_condition *hosts = exim4_condition_of(group,
	    "hosts");
	const struct exim4_condition *domains = exim4_condition_of(group,
	    "domains");

	if (exim4_condition_of(group, "condition") != NULL)
		group->why = "condition: write it as a rule (zmailer help "
		    "accept)";
	else if (hosts != NULL && slice_is(slice_trim(hosts->value), ":"))
		group->needless = "sendmail(1) asks no rules";
	else if (exim4_condition_of(group, "authenticated") != NULL)
		group->needless = "users who logged in may send by a preset "
		    "rule";
	else if (exim4_condition_of(group, "local_parts") != NULL &&
	    domains != NULL)
		group->needless = "mail for our own postmaster is accepted "
		    "always; of others the later rules decide";
	else if (group->count == 0)
		group->needless = "what no rule refuses is accepted";
	else if (!is_rcpt)
		group->differs = "who is accepted here is asked nothing more "
		    "of this kind there: write it as `accept` before what "
		    "refuses";
	else if (hosts != NULL && !hosts->is_not && domains == NULL)
		relay_from(exim, group, hosts);
	else if (domains != NULL && !domains->is_not && hosts == NULL)
		relay_to(exim, group, domains);
	else
		group->why = "write it as `accept` with these conditions "
		    "(zmailer help accept)";
}

static void
group_require(struct exim4 *exim, struct exim4_group *group)
{
	const struct exim4_condition *domains = exim4_condition_of(group,
	    "domains");
	const struct exim4_condition *verify = exim4_condition_of(group,
	    "verify");

	if (group->count != 1)
		group->why = "write what it refuses as `reject` with these "
		    "conditions (zmailer help accept)";
	else if (domains != NULL && !domains->is_not)
		relay_to(exim, group, domains);
	else if (verify != NULL)
		exim4_verify_say(exim, group, verify);
	else {
		group->conditions[0].is_not = !group->conditions[0].is_not;
		exim4_refuse(exim, group);
	}
}

static void
group_refuse(struct exim4 *exim, struct exim4_group *group)
{
	const struct exim4_condition *domains = exim4_condition_of(group,
	    "domains");
	const struct exim4_condition *parts = exim4_condition_of(group,
	    "local_parts");

	if (parts != NULL && slice_starts(parts->value, "^"))
		group->needless = "such bytes in a local part lead nowhere "
		    "else here";
	else if (group->count == 1 && domains != NULL && domains->is_not)
		relay_to(exim, group, domains);
	else if (group->count == 1 && domains != NULL &&
	    slice_starts(domains->value, "!"))
		relay_to(exim, group, domains);
	else
		exim4_refuse(exim, group);
}

static void
group_visit(struct exim4 *exim, struct exim4_group *group, bool is_rcpt)
{
	struct slice verb = group->verb;

	if (group->why != NULL)
		return;
	if (slice_is(verb, "accept"))
		group_accept(exim, group, is_rcpt);
	else if (slice_is(verb, "require"))
		group_require(exim, group);
	else if (slice_is(verb, "warn") && group->count == 0)
		group->needless = "it only sets what other statements of "
		    "Exim read";
	else if (slice_is(verb, "discard"))
		group->why = "write it as `freeze` with these conditions, or "
		    "`route` via discard";
	else if (group->count == 0)
		group->needless = "what no rule accepts is refused";
	else
		group_refuse(exim, group);
}

/* ---- all of them -------------------------------------------------------- */

static void
acl_visit(struct exim4 *exim, struct exim4_driver *acl, bool is_rcpt)
{
	struct exim4_group *group = arena_alloc(exim->import->arena,
	    sizeof(*group));
	size_t i = acl->first + 1;

	acl->is_walked = true;
	while (i < acl->end) {
		if (exim->rows[i].said.section != EXIM4_ACLS ||
		    exim->rows[i].said.kind != EXIM4_CONDITION ||
		    exim->rows[i].item.is_told) {
			i++;
			continue;
		}
		group_read(exim, acl, i, group);
		group_visit(exim, group, is_rcpt);
		group_tell(exim, group);
		i = group->end;
	}
}

/* An ACL that another one asks: can it say yes at all? */
bool
exim4_acl_is_empty(struct exim4 *exim, struct slice name)
{
	struct exim4_driver *acl = exim4_driver_of(exim, EXIM4_ACLS, name);

	if (acl == NULL)
		return false;
	for (size_t i = acl->first + 1; i < acl->end; i++) {
		struct exim4_row *row = &exim->rows[i];

		if (row->said.kind == EXIM4_CONDITION &&
		    !acl_is_modifier(row->said.name) &&
		    slice_trim(row->value).n > 0)
			return false;
	}
	return true;
}

void
exim4_acls(struct exim4 *exim)
{
	static const char front[] = "acl_smtp_";

	for (size_t i = 0; i < exim->count; i++) {
		struct exim4_row *row = &exim->rows[i];
		struct exim4_driver *acl;

		if (row->said.section != EXIM4_MAIN ||
		    row->said.kind != EXIM4_OPTION ||
		    !slice_starts(row->said.name, front))
			continue;
		acl = exim4_driver_of(exim, EXIM4_ACLS, row->value);
		if (acl == NULL) {
			exim4_note(exim, row, row->value.n == 0 ?
			    IMPORT_NOT_NEEDED : IMPORT_MISSING,
			    row->value.n == 0 ? "it is empty" : "there is no "
			    "ACL of this name: write its rules (zmailer help "
			    "accept)");
			continue;
		}
		acl_visit(exim, acl, slice_is(row->said.name,
		    "acl_smtp_rcpt"));
		exim4_note(exim, row, IMPORT_NOT_NEEDED,
		    "its statements are told by themselves");
	}
}
