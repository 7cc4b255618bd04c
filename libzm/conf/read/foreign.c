/* foreign.c - words of other mail systems, and what they are called here
 *
 * In     a word that is no statement, and what follows it
 * Out    what to write instead, with the value where it fits
 * Holds  a row a word: Postfix, Exim, sendmail, OpenSMTPD
 * Spec   postconf(5), spec.txt of Exim, cf/README of sendmail, smtpd.conf(5)
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/ascii.h"
#include "conf/read/read.h"

#include "base/banned.h"

/* @: the value, its first word alone.  A name that ends with * is a front. */
static const struct {
	const char	*name, *write;
} words[] = {
	/* Postfix */
	{ "myhostname", "host @" },
	{ "mydomain", "nothing: domains stand whole, in 'domain'" },
	{ "myorigin", "nothing: mail of this machine has the name of 'host'" },
	{ "mydestination", "domain NAME NAME..., without commas" },
	{ "virtual_mailbox_domains", "domain NAME... { users <table> }" },
	{ "virtual_alias_domains", "domain NAME... { users none }, and "
	    "virtual <table>" },
	{ "relay_domains", "domain NAME... { users any; deliver smtp HOST }" },
	{ "mynetworks", "accept from NETWORK for any, a line for each" },
	{ "mynetworks_style", "accept from NETWORK for any" },
	{ "relayhost", "route * via @" },
	{ "fallback_relay", "route * via mx else @" },
	{ "smtp_fallback_relay", "route * via mx else @" },
	{ "inet_interfaces", "listen 25 for all addresses, or "
	    "listen 127.0.0.1:25" },
	{ "inet_protocols", "listen 0.0.0.0:25 for IPv4 alone" },
	{ "smtp_bind_address", "zone NAME { source @ }" },
	{ "message_size_limit", "size @B" },
	{ "mailbox_size_limit", "quota, see zmailer help quota" },
	{ "alias_maps", "table aliases file:/PATH" },
	{ "alias_database", "nothing: aliases are read as they are" },
	{ "virtual_alias_maps", "table moved file:/PATH, and "
	    "virtual <moved>" },
	{ "virtual_mailbox_maps", "table people file:/PATH, and "
	    "domain NAME { users <people> }" },
	{ "local_recipient_maps", "domain NAME { users passwd }" },
	{ "relay_recipient_maps", "domain NAME { users <table> }" },
	{ "transport_maps", "table transport file:/PATH, and "
	    "routes <transport>" },
	{ "sender_dependent_relayhost_maps", "routes <table> by sender" },
	{ "canonical_maps", "canonical <table>" },
	{ "sender_canonical_maps", "canonical <table>" },
	{ "masquerade_domains", "masquerade, see zmailer help masquerade" },
	{ "mailbox_transport", "domain NAME { deliver lmtp unix:/PATH }" },
	{ "virtual_transport", "domain NAME { deliver lmtp unix:/PATH }" },
	{ "home_mailbox", "mailbox maildir {home}/@" },
	{ "mail_spool_directory", "mailbox mbox @/{user}" },
	{ "mailbox_command", "domain NAME { deliver pipe \"COMMAND\" }" },
	{ "recipient_delimiter", "recipient-delimiter @" },
	{ "smtpd_tls_cert_file", "tls certificate @ key FILE" },
	{ "smtpd_tls_key_file", "tls certificate FILE key @" },
	{ "smtpd_tls_chain_files", "tls certificate FILE key FILE" },
	{ "smtpd_tls_security_level", "tls certificate FILE key FILE: "
	    "STARTTLS is offered as soon as there is one" },
	{ "smtp_tls_security_level", "nothing: TLS is used wherever it is "
	    "offered" },
	{ "smtpd_sasl_path", "auth dovecot unix:/PATH" },
	{ "smtpd_sasl_type", "auth dovecot unix:/PATH" },
	{ "smtpd_sasl_auth_enable", "auth users <table>, or "
	    "auth dovecot unix:/PATH" },
	{ "smtp_sasl_password_maps", "auth-to <table>" },
	{ "smtp_sasl_auth_enable", "auth-to <table>" },
	{ "smtpd_milters", "milter @" },
	{ "non_smtpd_milters", "milter @ also sendmail" },
	{ "content_filter", "content-filter, see zmailer help "
	    "content-filter" },
	{ "milter_default_action", "milter SOCKET fail accept" },
	{ "maximal_queue_lifetime", "schedule */* { expire @ }" },
	{ "bounce_queue_lifetime", "schedule */* { expire @ }" },
	{ "minimal_backoff_time", "schedule */* { retry 5m 15m 1h }" },
	{ "maximal_backoff_time", "schedule */* { retry 5m 15m 1h }" },
	{ "delay_warning_time", "schedule */* { warn @ }" },
	{ "queue_directory", "spool @" },
	{ "header_checks", "hooks: a script sees the header" },
	{ "body_checks", "milter: it sees the body" },
	{ "smtpd_banner", "nothing: the greeting has the name of 'host'" },
	{ "biff", "nothing: there is no such thing here" },
	{ "append_dot_mydomain", "nothing: addresses stay as they are" },
	{ "compatibility_level", "nothing: there are no levels here" },
	{ "disable_vrfy_command", "nothing: VRFY is served to 'trust' alone" },
	{ "smtpd_helo_required", "nothing: HELO is required" },
	{ "smtpd_*_restrictions", "accept, reject and defer rules, see "
	    "zmailer help accept" },
	{ "smtpd_*_limit", "limit, see zmailer help limit" },
	{ "permit_mynetworks", "accept from NETWORK for any" },
	{ "permit_sasl_authenticated", "nothing: who logged in may send "
	    "anywhere" },
	{ "reject_unauth_destination", "nothing: mail for others is refused" },
	{ "reject_rbl_client", "dnsbl, see zmailer help dnsbl" },
	{ "check_*_access", "accept and reject rules with a <table>, see "
	    "zmailer help accept" },
	/* Exim */
	{ "primary_hostname", "host @" },
	{ "qualify_domain", "nothing: mail of this machine has the name of "
	    "'host'" },
	{ "domainlist", "domain NAME NAME..., without colons" },
	{ "hostlist", "accept from NETWORK for any, a line for each" },
	{ "local_interfaces", "listen ADDRESS:PORT, a line for each" },
	{ "daemon_smtp_ports", "listen PORT, a line for each" },
	{ "tls_certificate", "tls certificate @ key FILE" },
	{ "tls_privatekey", "tls certificate FILE key @" },
	{ "begin", "statements: there are no sections here" },
	{ "dc_*", "statements: zmailer setup asks for them" },
	/* sendmail */
	{ "DAEMON_OPTIONS*", "listen PORT, a line for each" },
	{ "define*", "statements: m4 is not asked; zmailer setup makes the "
	    "first ones" },
	{ "FEATURE*", "statements: m4 is not asked; see zmailer.conf(5)" },
	{ "MAILER*", "statements: m4 is not asked; see zmailer.conf(5)" },
	{ "OSTYPE*", "statements: m4 is not asked; see zmailer.conf(5)" },
	{ "DS*", "route * via #" },
	{ "Dj*", "host #" },
	{ "Cw*", "domain #" },
	{ "Fw*", "domain <table>, and table names file:/PATH" },
	/* OpenSMTPD */
	{ "action", "domain NAME { deliver ... }, or route NAME via HOST" },
	{ "match", "accept and reject rules, see zmailer help accept" },
	{ "pki", "tls certificate FILE key FILE" },
	{ "smtp", "limit, size, listen: see zmailer.conf(5)" },
	{ "mta", "schedule CHANNEL/HOST { ... }" },
	{ "filter", "milter unix:/PATH" },
	{ "bounce", "schedule */* { warn SPAN }" },
	{ "queue", "schedule */* { expire SPAN }" },
	/* all */
	{ "set", "the statement without 'set'" },
	{ "relay", "accept from NETWORK for any" },
	{ "relay-host", "route * via @" },
	{ "smarthost", "route * via @" },
	{ "hostname", "host @" },
	{ "port", "listen @" },
	{ "networks", "accept from NETWORK for any, a line for each" },
	{ "preset", "nothing: what is not said has a preset of its own" },
	{ "alias", "NAME: VALUE in the file of a table, and "
	    "table aliases file:/PATH" },
	{ "certificate", "tls certificate @ key FILE" },
	{ "smtps", "listen 465 submission tls" },
	{ "submissions", "listen 465 submission tls" },
	{ "ssl", "listen 465 submission tls" },
	{ "starttls", "nothing: STARTTLS is offered as soon as there is a "
	    "tls certificate" },
	{ "rbl", "dnsbl @" },
	{ "spf", "verify-origin yes, and a rule: reject spf fail" },
	{ "dmarc", "verify-origin yes, and a rule: reject dmarc fail policy "
	    "reject" },
	{ "dkim", "sign DOMAIN selector NAME key FILE; zmailer dkim new "
	    "makes the key and writes it" },
	{ "bcc", "archive PATH as ACCOUNT, see zmailer help archive" },
	{ "always_bcc", "archive PATH as ACCOUNT, see zmailer help archive" },
	{ "rewrite", "canonical <table>, see zmailer help canonical" },
	{ "ipv4", "listen 0.0.0.0:25 for IPv4 alone" },
	{ "ipv6", "listen 0.0.0.0:25 for IPv4 alone" },
	{ "protocol", "listen 0.0.0.0:25 for IPv4 alone" },
	{ "bind", "zone NAME { source @ }" },
	{ "smtp-bind", "zone NAME { source @ }" },
	{ "banner", "nothing: the greeting has the name of 'host'" },
};

static bool
word_fits(const char *name, struct slice word)
{
	const char *star = strchr(name, '*');
	size_t front = star == NULL ? 0 : (size_t)(star - name);

	if (star == NULL)
		return slice_is_nocase(word, name);
	return word.n > front && slice_equal(slice_first(word, front),
	    (struct slice){ name, front }) && slice_ends(word, star + 1) &&
	    (front > 2 || !ascii_is_upper(word.p[front]));
}

/* The first word of the value, without the sign in front of it. */
static struct slice
value_of(struct slice rest)
{
	struct slice value = SLICE("");

	rest = slice_trim(rest);
	if (rest.n > 0 && ascii_is_among(rest.p[0], "=:"))
		rest = slice_from(rest, 1);
	if (!slice_word(&rest, &value) || slice_trim(rest).n > 0)
		return SLICE("");
	if (slice_ends(value, ","))
		value.n--;
	return value;
}

static const char *
hint_fill(struct arena *arena, const char *write, struct slice value,
    struct slice inside)
{
	struct str text = STR_INIT;
	const char *hint;

	str_adds(&text, "write ");
	for (; *write != '\0'; write++)
		if (*write == '#')
			str_add_slice(&text, inside);
		else if (*write != '@')
			str_addc(&text, *write);
		else if (value.n > 0)
			str_add_slice(&text, value);
		else
			str_adds(&text, "VALUE");
	hint = slice_dup(arena, str_slice(&text));
	str_release(&text);
	return hint;
}

static const char *
foreign_hint_find(struct arena *arena, struct slice word, struct slice rest)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		struct slice value = value_of(rest);
		const char *star = strchr(words[i].name, '*');

		if (!word_fits(words[i].name, word))
			continue;
		if (strcmp(words[i].name, "relayhost") == 0 && value.n == 0)
			return "write route * via mx, which holds anyway";
		return hint_fill(arena, words[i].write, value,
		    slice_from(word, star == NULL ? word.n :
		    (size_t)(star - words[i].name)));
	}
	if (slice_starts(slice_trim(rest), "=") &&
	    slice_find(word, '_') < word.n)
		return "this is a parameter of Postfix: delete it, "
		    "zmailer.conf(5) has the statements";
	return NULL;
}

const char *
conf_foreign_hint(struct arena *arena, struct slice word, struct slice rest)
{
	size_t at = slice_find(word, '=');

	if (at >= word.n)
		return foreign_hint_find(arena, word, rest);
	/* NAME=VALUE without blanks; of more than one word none is taken */
	return foreign_hint_find(arena, slice_first(word, at),
	    slice_trim(rest).n > 0 ? SLICE("=") : slice_from(word, at));
}
