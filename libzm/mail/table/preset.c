/* preset.c - ready questions to databases of programs that manage accounts
 *
 * In     the name of a schema and what is asked of it
 * Out    the question, in the words of all engines
 * Holds  nothing
 * Spec   preset.h; zmailer-table(8), "Ready questions"
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "mail/table/preset.h"

#include "base/banned.h"

/* What is kept as 0 and 1 by one and as a boolean by another is a condition
 * of its own.  An alias of a whole domain is a value of aliases, @OTHER. */
static const struct table_preset presets[] = {
	/* our own: doc/examples/accounts.sql; zmailer user writes it */
	{ "zmailer", "domains", "SELECT name FROM domains WHERE name = $1",
	    NULL, "SELECT name FROM domains" },
	{ "zmailer", "mailboxes",
	    "SELECT address FROM users WHERE address = $1", NULL,
	    "SELECT address FROM users" },
	{ "zmailer", "aliases",
	    "SELECT target FROM aliases WHERE address = $1", NULL,
	    "SELECT DISTINCT address FROM aliases" },
	{ "zmailer", "passwords",
	    "SELECT password FROM users WHERE address = $1", NULL,
	    "SELECT address FROM users" },
	/* PostfixAdmin; ALL is what its superadmins manage */
	{ "postfixadmin", "domains",
	    "SELECT domain FROM domain WHERE domain = $1 AND active AND NOT "
	    "backupmx AND domain <> 'ALL'", NULL,
	    "SELECT domain FROM domain WHERE active AND NOT backupmx AND "
	    "domain <> 'ALL'" },
	{ "postfixadmin", "relay-domains",
	    "SELECT domain FROM domain WHERE domain = $1 AND active AND "
	    "backupmx", NULL,
	    "SELECT domain FROM domain WHERE active AND backupmx" },
	{ "postfixadmin", "mailboxes",
	    "SELECT username FROM mailbox WHERE username = $1 AND active",
	    NULL, "SELECT username FROM mailbox WHERE active" },
	{ "postfixadmin", "aliases",
	    "SELECT goto FROM alias WHERE address = $1 AND active", NULL,
	    "SELECT address FROM alias WHERE active" },
	{ "postfixadmin", "alias-domains",
	    "SELECT '@' || target_domain FROM alias_domain WHERE "
	    "alias_domain = $3 AND $2 = '' AND active",
	    "SELECT CONCAT('@', target_domain) FROM alias_domain WHERE "
	    "alias_domain = $3 AND $2 = '' AND active",
	    "SELECT alias_domain FROM alias_domain WHERE active" },
	{ "postfixadmin", "owners",
	    "SELECT username FROM mailbox WHERE username = $1 AND active "
	    "UNION SELECT goto FROM alias WHERE address = $1 AND active",
	    NULL, NULL },
	/* not password_expiry: where nobody sets it, it is long ago */
	{ "postfixadmin", "passwords",
	    "SELECT password FROM mailbox WHERE username = $1 AND active AND "
	    "domain IN (SELECT domain FROM domain WHERE active)", NULL,
	    NULL },
	/* mailcow: 2 is an account that has mail and no login */
	{ "mailcow", "domains",
	    "SELECT domain FROM domain WHERE domain = $1 AND active = 1 AND "
	    "backupmx = 0 UNION SELECT alias_domain FROM alias_domain WHERE "
	    "alias_domain = $1 AND active = 1", NULL,
	    "SELECT domain FROM domain WHERE active = 1 AND backupmx = 0 "
	    "UNION SELECT alias_domain FROM alias_domain WHERE active = 1" },
	{ "mailcow", "relay-domains",
	    "SELECT domain FROM domain WHERE domain = $1 AND active = 1 AND "
	    "backupmx = 1", NULL,
	    "SELECT domain FROM domain WHERE active = 1 AND backupmx = 1" },
	{ "mailcow", "mailboxes",
	    "SELECT username FROM mailbox WHERE username = $1 AND active IN "
	    "(1, 2)", NULL,
	    "SELECT username FROM mailbox WHERE active IN (1, 2)" },
	{ "mailcow", "aliases",
	    "SELECT goto FROM alias WHERE address = $1 AND active IN (1, 2)",
	    NULL, "SELECT address FROM alias WHERE active IN (1, 2)" },
	{ "mailcow", "alias-domains",
	    "SELECT '@' || target_domain FROM alias_domain WHERE "
	    "alias_domain = $3 AND $2 = '' AND active = 1",
	    "SELECT CONCAT('@', target_domain) FROM alias_domain WHERE "
	    "alias_domain = $3 AND $2 = '' AND active = 1",
	    "SELECT alias_domain FROM alias_domain WHERE active = 1" },
	{ "mailcow", "spam-aliases",
	    "SELECT goto FROM spamalias WHERE address = $1 AND validity >= "
	    "CAST(EXTRACT(EPOCH FROM CURRENT_TIMESTAMP) AS INTEGER)",
	    "SELECT goto FROM spamalias WHERE address = $1 AND validity >= "
	    "UNIX_TIMESTAMP()", NULL },
	/* who has the whole domain has what nobody else has in it */
	{ "mailcow", "owners",
	    "SELECT username FROM mailbox WHERE username = $1 AND active = 1 "
	    "UNION SELECT goto FROM alias WHERE active = 1 AND (address = $1 "
	    "OR (address = '@' || $3 AND NOT EXISTS (SELECT 1 FROM alias AS "
	    "own WHERE own.address = $1 AND own.active IN (1, 2)))) "
	    "UNION SELECT username FROM mailbox, alias_domain WHERE "
	    "alias_domain = $3 AND username = $2 || '@' || target_domain AND "
	    "mailbox.active = 1 AND alias_domain.active = 1 "
	    "UNION SELECT logged_in_as FROM sender_acl WHERE send_as = $1 OR "
	    "send_as = '*' OR send_as = $3 OR send_as = '@' || $3",
	    "SELECT username FROM mailbox WHERE username = $1 AND active = 1 "
	    "UNION SELECT goto FROM alias WHERE active = 1 AND (address = $1 "
	    "OR (address = CONCAT('@', $3) AND NOT EXISTS (SELECT 1 FROM "
	    "alias AS own WHERE own.address = $1 AND own.active IN (1, 2)))) "
	    "UNION SELECT username FROM mailbox, alias_domain WHERE "
	    "alias_domain = $3 AND username = CONCAT($2, '@', target_domain) "
	    "AND mailbox.active = 1 AND alias_domain.active = 1 "
	    "UNION SELECT logged_in_as FROM sender_acl WHERE send_as = $1 OR "
	    "send_as = '*' OR send_as = $3 OR send_as = CONCAT('@', $3)",
	    NULL },
	{ "mailcow", "canonical",
	    "SELECT new_dest FROM recipient_maps WHERE old_dest = $1 AND "
	    "active = 1", NULL,
	    "SELECT old_dest FROM recipient_maps WHERE active = 1" },
	{ "mailcow", "passwords",
	    "SELECT password FROM mailbox WHERE username = $1 AND active = 1 "
	    "AND domain IN (SELECT domain FROM domain WHERE active = 1)",
	    "SELECT password FROM mailbox WHERE username = $1 AND active = 1 "
	    "AND domain IN (SELECT domain FROM domain WHERE active = 1) AND "
	    "IFNULL(JSON_UNQUOTE(JSON_VALUE(attributes, '$.smtp_access')), "
	    "'1') = '1' AND IFNULL(JSON_UNQUOTE(JSON_VALUE(attributes, "
	    "'$.force_pw_update')), '0') <> '1'", NULL },
	/* ISPmail */
	{ "ispmail", "domains",
	    "SELECT name FROM virtual_domains WHERE name = $1", NULL,
	    "SELECT name FROM virtual_domains" },
	{ "ispmail", "mailboxes",
	    "SELECT email FROM virtual_users WHERE email = $1", NULL,
	    "SELECT email FROM virtual_users" },
	{ "ispmail", "aliases",
	    "SELECT destination FROM virtual_aliases WHERE source = $1", NULL,
	    "SELECT source FROM virtual_aliases" },
	{ "ispmail", "passwords",
	    "SELECT password FROM virtual_users WHERE email = $1", NULL,
	    NULL },
	/* vmail, of iRedMail */
	{ "vmail", "domains",
	    "SELECT domain FROM domain WHERE domain = $1 AND active = 1 AND "
	    "backupmx = 0 UNION SELECT alias_domain FROM alias_domain WHERE "
	    "alias_domain = $1 AND active = 1", NULL,
	    "SELECT domain FROM domain WHERE active = 1 AND backupmx = 0 "
	    "UNION SELECT alias_domain FROM alias_domain WHERE active = 1" },
	{ "vmail", "relay-domains",
	    "SELECT domain FROM domain WHERE domain = $1 AND active = 1 AND "
	    "backupmx = 1", NULL,
	    "SELECT domain FROM domain WHERE active = 1 AND backupmx = 1" },
	{ "vmail", "mailboxes",
	    "SELECT username FROM mailbox WHERE username = $1 AND active = 1 "
	    "AND enabledeliver = 1", NULL,
	    "SELECT username FROM mailbox WHERE active = 1 AND "
	    "enabledeliver = 1" },
	/* all of a domain is called by its name there, without an @; a mailbox
	 * stands for itself, if it gets mail */
	{ "vmail", "aliases",
	    "SELECT forwarding FROM forwardings WHERE $3 <> '' AND (address "
	    "= $1 OR (address = $3 AND $2 = '')) AND active = 1", NULL,
	    "SELECT address FROM forwardings WHERE active = 1" },
	{ "vmail", "alias-domains",
	    "SELECT '@' || target_domain FROM alias_domain WHERE "
	    "alias_domain = $3 AND $2 = '' AND active = 1",
	    "SELECT CONCAT('@', target_domain) FROM alias_domain WHERE "
	    "alias_domain = $3 AND $2 = '' AND active = 1",
	    "SELECT alias_domain FROM alias_domain WHERE active = 1" },
	{ "vmail", "passwords",
	    "SELECT password FROM mailbox WHERE username = $1 AND active = 1 "
	    "AND enablesmtpsecured = 1 AND domain IN (SELECT domain FROM "
	    "domain WHERE active = 1 AND backupmx = 0)", NULL, NULL },
};
static const struct table_writing writings[] = {
	{ "zmailer", "passwords",
	    "INSERT INTO users (address, password) VALUES ($1, $4)",
	    "UPDATE users SET password = $4 WHERE address = $1",
	    "DELETE FROM users WHERE address = $1" },
};
enum { PRESETS = sizeof(presets) / sizeof(presets[0]) };

/* The kinds of a schema, or all schemas. */
static void
preset_tell(struct slice schema, struct err *err)
{
	struct str names = STR_INIT;

	for (size_t i = 0; i < PRESETS; i++)
		if (slice_is(schema, presets[i].schema))
			str_addf(&names, " %s", presets[i].kind);
	if (names.len > 0)
		err_set(err, "write one of%s after " SLICE_FMT, names.buf,
		    SLICE_ARG(schema));
	else
		err_set(err, "write zmailer, postfixadmin, mailcow, ispmail or "
		    "vmail, and what is asked: domains, mailboxes, aliases "
		    "...");
	str_release(&names);
}

const struct table_preset *
table_preset_find(struct slice words, struct err *err)
{
	struct slice schema = SLICE(""), kind;

	(void)slice_word(&words, &schema);
	kind = slice_trim(words);
	for (size_t i = 0; i < PRESETS; i++)
		if (slice_is(schema, presets[i].schema) &&
		    slice_is(kind, presets[i].kind))
			return &presets[i];
	preset_tell(schema, err);
	return NULL;
}

const char *
table_preset_query(const struct table_preset *preset, const char *type)
{
	return preset->mysql != NULL && strcmp(type, "mysql") == 0 ?
	    preset->mysql : preset->query;
}

bool
table_preset_has_addresses(const struct table_preset *preset)
{
	return strstr(preset->kind, "alias") != NULL;
}

const struct table_writing *
table_preset_writing(const struct table_preset *preset)
{
	for (size_t i = 0; i < sizeof(writings) / sizeof(writings[0]); i++)
		if (strcmp(preset->schema, writings[i].schema) == 0 &&
		    strcmp(preset->kind, writings[i].kind) == 0)
			return &writings[i];
	return NULL;
}
