/* access.c - the access map as rules
 *
 * In     TAG:KEY ACTION
 * Out    accept, reject, defer, freeze; tls-to; passwords of next hops
 * Holds  nothing
 * Trusts no entry: what is not known is said with its line
 * Spec   cf/README of sendmail, "ANTI-SPAM CONFIGURATION CONTROL"
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/ascii.h"
#include "grammar/smtp/path.h"
#include "tools/zmailer/import/sendmail/sendmail.h"

#include "base/banned.h"

enum { ASKS_CLIENT = 1, ASKS_SENDER = 2, ASKS_RECIPIENT = 4 };

struct access {
	struct sendmail		*mail;
	struct sendmail_row	*row;
	const char		*path;
	bool			 has_recipients; /* blocklist_recipients */
	struct sendmail_groups	 groups;
};

/* What cannot be a rule. */
static const struct { const char *tag, *text; } others[] = {
	{ "Spam", "write `accept to ADDRESS` before what rejects" },
	{ "GreetPause", "write `greet-pause SPAN`: it is one for all" },
	{ "ClientRate", "write `limit rate N/1m per client of messages`" },
	{ "ClientConn", "write `limit parallel N per client of sessions`" },
	{ "TLS_Clt", "write `reject tls no from NET`" },
	{ "TLS_Rcpt", "write `tls-to DOMAIN encrypt`" },
	{ "SRV_Features", "write `listen` and `tls` (zmailer help tls)" },
	{ "CLT_Features", "write `tls-to` (zmailer help tls-to)" },
	{ "CERTISSUER", "write `accept issuer PATTERN for any`" },
	{ "CERTSUBJECT", "write `accept cert PATTERN for any`" },
	{ "PROTECT", "write `reject strangers to ADDRESS`" },
};

static void
access_lacks(struct access *access, struct import_entry *entry,
    const char *text)
{
	sendmail_entry_note(access->mail, access->path, entry,
	    IMPORT_MISSING, "%s", text);
}

/* ---- actions ------------------------------------------------------------ */

/* returns false: it is unknown */
static bool
action_read(struct access *access, struct slice action,
    struct sendmail_group *out)
{
	const char *code, *words;

	*out = (struct sendmail_group){ .part = IMPORT_RULES, .text = "" };
	if (slice_is_nocase(action, "OK"))
		out->verb = "accept";
	else if (slice_is_nocase(action, "RELAY")) {
		out->verb = "accept";
		out->part = IMPORT_RELAYING;
		out->text = " for any";
	} else if (slice_is_nocase(action, "REJECT"))
		out->verb = "reject";
	else if (slice_is_nocase(action, "DISCARD") ||
	    slice_starts(action, "QUARANTINE:"))
		out->verb = "freeze";
	else if (slice_starts(action, "ERROR:") || (action.n > 3 &&
	    ascii_is_digit(action.p[0]) && ascii_is_digit(action.p[2]))) {
		sendmail_error(access->mail, slice_from(action,
		    slice_starts(action, "ERROR:") ? 6 : 0), &code, &words);
		out->verb = code[0] == '4' || action.p[0] == '4' ? "defer" :
		    "reject";
		out->text = arena_printf(access->mail->import->arena,
		    " text \"%s\"", words);
	} else
		return false;
	return true;
}

/* ---- keys --------------------------------------------------------------- */

static void
group_key(struct access *access, struct import_entry *entry,
    const struct sendmail_group *like, const char *key)
{
	if (!sendmail_group_add(&access->groups, like, key))
		access_lacks(access, entry, "too many different actions: "
		    "write a rule for it (zmailer help reject)");
}

/* A domain includes all below it, unless only hosts may relay. */
static void
key_domain(struct access *access, struct import_entry *entry,
    struct sendmail_group *like, const char *condition, const char *domain)
{
	like->condition = condition;
	group_key(access, entry, like, domain);
	if (domain[0] != '.' && !(like->part == IMPORT_RELAYING &&
	    sendmail_has(access->mail, "relay_hosts_only")))
		group_key(access, entry, like, arena_printf(
		    access->mail->import->arena, ".%s", domain));
}

static void
key_client(struct access *access, struct import_entry *entry,
    struct sendmail_group *like, struct slice key)
{
	const char *net = sendmail_net(access->mail, key);
	const char *domain = import_domain(access->mail->import, key);
	struct sendmail_group rule = *like;

	rule.condition = "from";
	if (net != NULL)
		group_key(access, entry, &rule, net);
	else if (domain != NULL)
		key_domain(access, entry, &rule, "name", domain);
	else
		access_lacks(access, entry, "it is no network or name: write "
		    "a rule for it (zmailer help reject)");
}

/* Addresses: user@domain, user@, domain. */
static void
key_address(struct access *access, struct import_entry *entry,
    struct sendmail_group *like, const char *condition, struct slice key)
{
	const char *word = import_word(access->mail->import, key);
	const char *domain = import_domain(access->mail->import, key);
	size_t at = slice_find(key, '@');

	like->condition = condition;
	if (slice_is(key, "<>") && strcmp(condition, "sender") == 0)
		sendmail_say(access->mail, access->row, like->part,
		    "%s sender <>%s", like->verb, like->text);
	else if (at == key.n && domain != NULL)
		key_domain(access, entry, like, condition, domain);
	else if (word != NULL && at > 0 && at < key.n && (at + 1 == key.n ||
	    domain_parse(slice_from(key, at + 1), NULL) == 0))
		group_key(access, entry, like, word);
	else
		access_lacks(access, entry, "it is no address: write a rule "
		    "for it (zmailer help reject)");
}

static void
access_rule(struct access *access, struct import_entry *entry, int asks,
    struct slice key)
{
	bool has_at = slice_find(key, '@') < key.n;
	bool is_net = sendmail_net(access->mail, key) != NULL;
	struct sendmail_group like;

	if (!action_read(access, entry->value, &like)) {
		access_lacks(access, entry, slice_is_nocase(entry->value,
		    "SKIP") ? "SKIP: leave it out of the table that it is an "
		    "exception from" : "no action that is known: write a "
		    "rule for it (zmailer help reject)");
		return;
	}
	if ((asks & ASKS_CLIENT) != 0 && !has_at)
		key_client(access, entry, &like, key);
	if ((asks & ASKS_SENDER) != 0 && !is_net &&
	    like.part != IMPORT_RELAYING)
		key_address(access, entry, &like, "sender", key);
	else if (asks == ASKS_SENDER)
		access_lacks(access, entry, "anybody could say that sender: "
		    "write `accept from NET for any` with the clients that "
		    "may relay");
	if ((asks & ASKS_RECIPIENT) != 0 && !is_net)
		key_address(access, entry, &like, "to", key);
}

/* ---- tags --------------------------------------------------------------- */

/* TLS_Srv:HOST ENCR:112, VERIFY. */
static void
access_tls(struct access *access, struct import_entry *entry,
    struct slice key)
{
	const char *host = import_domain(access->mail->import, key);
	const char *level = slice_starts(entry->value, "ENCR") ? "encrypt" :
	    slice_starts(entry->value, "VERIFY") ? "verify" :
	    slice_is_nocase(entry->value, "NO") ? "none" : NULL;

	if (host == NULL || level == NULL)
		access_lacks(access, entry, "write `tls-to PATTERN LEVEL` "
		    "(zmailer help tls-to)");
	else
		sendmail_say(access->mail, access->row, IMPORT_ROUTES,
		    "tls-to %s %s", host, level);
}

static void
access_entry(struct access *access, struct import_entry *entry)
{
	size_t at = slice_find(entry->key, ':');
	struct slice tag = slice_first(entry->key, at);
	struct slice key = slice_from(entry->key, at + 1);

	if (slice_is_nocase(tag, "Connect"))
		access_rule(access, entry, ASKS_CLIENT, key);
	else if (slice_is_nocase(tag, "From"))
		access_rule(access, entry, ASKS_SENDER, key);
	else if (slice_is_nocase(tag, "To"))
		access_rule(access, entry, ASKS_RECIPIENT, key);
	else if (slice_is_nocase(tag, "TLS_Srv") ||
	    slice_is_nocase(tag, "Try_TLS"))
		access_tls(access, entry, key);
	else if (slice_is_nocase(tag, "AuthInfo"))
		sendmail_password(access->mail, access->path, entry);
	else {
		for (size_t i = 0; i < sizeof(others) / sizeof(others[0]);
		    i++)
			if (slice_is_nocase(tag, others[i].tag)) {
				access_lacks(access, entry, others[i].text);
				return;
			}
		access_rule(access, entry, ASKS_CLIENT | ASKS_SENDER |
		    (access->has_recipients || slice_is_nocase(entry->value,
		    "RELAY") ? ASKS_RECIPIENT : 0), entry->key);
	}
}

void
sendmail_access(struct sendmail *mail, struct sendmail_row *row)
{
	struct access *access = arena_alloc(mail->import->arena,
	    sizeof(*access));
	struct import_entries entries;

	*access = (struct access){ .mail = mail, .row = row };
	access->has_recipients = sendmail_has(mail, "blacklist_recipients") ||
	    sendmail_has(mail, "blocklist_recipients");
	access->path = sendmail_path(mail, row, sendmail_argument(row, 1),
	    "/etc/mail/access");
	if (access->path == NULL || !sendmail_entries(mail, row,
	    access->path, &entries))
		return;
	for (size_t i = 0; i < entries.count; i++)
		access_entry(access, &entries.rows[i]);
	if (access->groups.count > 1)
		sendmail_note(mail, row, IMPORT_DIFFERS, "its actions are "
		    "rules in this order: accept, then the others; there the "
		    "most exact key counts, and what is discarded is frozen "
		    "here");
	sendmail_groups_say(mail, row, &access->groups);
	if (!row->item.is_told)
		sendmail_note(mail, row, IMPORT_NOT_NEEDED,
		    "no entry of it is left");
}
