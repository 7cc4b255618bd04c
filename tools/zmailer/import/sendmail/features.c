/* features.c - FEATURE(`NAME', ...): a row each
 *
 * In     features
 * Out    rules, addresses that become others; what else becomes of them
 * Holds  nothing
 * Spec   cf/README of sendmail, "FEATURES"
 *
 * SPDX-License-Identifier: ISC
 */
#include "tools/zmailer/import/sendmail/sendmail.h"

#include "base/banned.h"

/* dnsbl `ZONE', `WORDS', `temporary'; enhdnsbl has answers after these. */
static void
feature_dnsbl(struct sendmail *mail, struct sendmail_row *row)
{
	const char *zone = import_domain(mail->import, sendmail_argument(row,
	    1));
	struct slice words = sendmail_argument(row, 2);
	const char *code, *text = "";

	if (zone == NULL) {
		sendmail_note(mail, row, IMPORT_MISSING, "it names no list: "
		    "write `dnsbl ZONE` and `reject listed ZONE`");
		return;
	}
	if (words.n > 0 && slice_find(words, '$') == words.n) {
		sendmail_error(mail, words, &code, &text);
		text = arena_printf(mail->import->arena, " text \"%s\"",
		    text);
	}
	sendmail_say(mail, row, IMPORT_RULES, "dnsbl %s", zone);
	sendmail_say(mail, row, IMPORT_RULES, "reject listed %s%s", zone,
	    text);
	if (row->count > 4)
		sendmail_note(mail, row, IMPORT_DIFFERS, "every answer of the "
		    "list counts: write `dnsbl %s answer NET` for some of "
		    "them", zone);
	if (sendmail_argument(row, 3).n > 0)
		sendmail_note(mail, row, IMPORT_NOT_NEEDED, "a list that "
		    "does not answer has nobody");
}

/* In milliseconds. */
static void
feature_greet_pause(struct sendmail *mail, struct sendmail_row *row)
{
	uint64_t ms = 0;

	if (slice_number(sendmail_argument(row, 1), 1, 60000, &ms))
		sendmail_say(mail, row, IMPORT_LISTEN, "greet-pause %llums",
		    (unsigned long long)ms);
	else
		sendmail_note(mail, row, IMPORT_MISSING,
		    "write `greet-pause SPAN`, at most 60s");
}

static void
feature_helo(struct sendmail *mail, struct sendmail_row *row)
{
	sendmail_say(mail, row, IMPORT_RULES, "reject helo unqualified");
	sendmail_say(mail, row, IMPORT_RULES, "reject helo ours");
}

static void
feature_rdns(struct sendmail *mail, struct sendmail_row *row)
{
	sendmail_say(mail, row, IMPORT_RULES, "reject name none");
}

static void
feature_qualify(struct sendmail *mail, struct sendmail_row *row)
{
	sendmail_say(mail, row, IMPORT_ADDRESSES, "qualify %s", mail->host);
}

/* Clients of the machine's own domain: that is $m of the machine, which no file
 * has, and one label too few would let everybody in. */
static void
feature_relay_domain(struct sendmail *mail, struct sendmail_row *row)
{
	sendmail_note(mail, row, IMPORT_MISSING, "which domain is yours alone "
	    "no file says: write `accept name .DOMAIN for any`, or better "
	    "`accept from NET for any`");
}

/* Said with what it belongs to, unless that is missing. */
static void
feature_told(struct sendmail *mail, struct sendmail_row *row)
{
	if (!row->item.is_told)
		sendmail_note(mail, row, IMPORT_NOT_NEEDED,
		    "what it belongs to was told, or is not there");
}

static void
feature_none(struct sendmail *mail, struct sendmail_row *row)
{
	(void)mail;
	(void)row;
}

static void
feature_delay_checks(struct sendmail *mail, struct sendmail_row *row)
{
	if (sendmail_argument(row, 1).n > 0)
		sendmail_note(mail, row, IMPORT_MISSING, "who wants spam, or "
		    "none: write `accept to ADDRESS` before what rejects");
	else
		sendmail_note(mail, row, IMPORT_NOT_NEEDED,
		    "rules are tried at RCPT");
}

static const struct sendmail_rule rules[] = {
	{ "access_db", sendmail_access, IMPORT_TAKEN, "" },
	{ "virtusertable", sendmail_virtusertable, IMPORT_TAKEN, "" },
	{ "genericstable", feature_told, IMPORT_TAKEN, "" },
	{ "domaintable", feature_told, IMPORT_TAKEN, "" },
	{ "mailertable", sendmail_mailertable, IMPORT_TAKEN, "" },
	{ "nullclient", sendmail_nullclient, IMPORT_TAKEN, "" },
	{ "authinfo", sendmail_authinfo, IMPORT_TAKEN, "" },
	{ "dnsbl", feature_dnsbl, IMPORT_TAKEN, "" },
	{ "enhdnsbl", feature_dnsbl, IMPORT_TAKEN, "" },
	{ "greet_pause", feature_greet_pause, IMPORT_TAKEN, "" },
	{ "block_bad_helo", feature_helo, IMPORT_TAKEN, "" },
	{ "require_rdns", feature_rdns, IMPORT_TAKEN, "" },
	{ "always_add_domain", feature_qualify, IMPORT_TAKEN, "" },
	{ "relay_entire_domain", feature_relay_domain, IMPORT_TAKEN, "" },
	{ "delay_checks", feature_delay_checks, IMPORT_TAKEN, "" },
	{ "use_cw_file", feature_told, IMPORT_TAKEN, "" },
	{ "masquerade_entire_domain", feature_told, IMPORT_TAKEN, "" },
	{ "accept_unresolvable_domains", feature_none, IMPORT_TAKEN, "" },
	NEEDLESS("masquerade_envelope", "canonical of MASQUERADE_AS has it"),
	NEEDLESS("allmasquerade", "canonical of MASQUERADE_AS has it"),
	NEEDLESS("limited_masquerade", "canonical of MASQUERADE_AS has it"),
	NEEDLESS("local_no_masquerade", "mail for our own mailboxes is "
	    "rewritten, too, in its header"),
	NEEDLESS("blacklist_recipients", "rules of access have it"),
	NEEDLESS("blocklist_recipients", "rules of access have it"),
	NEEDLESS("lookupdotdomain", "a name covers what is below it"),
	NEEDLESS("relay_hosts_only", "rules of relaying have it"),
	NEEDLESS("use_ct_file", "sendmail(1) notes who submitted; there is "
	    "no list of who may say -f"),
	NEEDLESS("no_default_msa", "a listener is there when it is said"),
	NEEDLESS("nouucp", "addresses with ! are no addresses here"),
	NEEDLESS("nodns", "route says where mail goes"),
	NEEDLESS("nocanonify", "names are not changed"),
	NEEDLESS("notsticky", "an address with a domain of ours is ours"),
	DIFFERS("stickyhost", "user and user@host are the same user"),
	NEEDLESS("local_lmtp", "our own agent writes mailboxes"),
	LACKS("local_procmail", "procmail delivers: let each user's .forward "
	    "run it (\"|/usr/bin/procmail\"), or write `deliver pipe "
	    "\"COMMAND\" as ACCOUNT`"),
	LACKS("smrsh", "programs of aliases are bound by no directory: look "
	    "at each of them"),
	NEEDLESS("accept_unqualified_senders", "an address without a domain "
	    "gets that of host"),
	NEEDLESS("loose_relay_check", "user%other@here is a user of ours"),
	LACKS("promiscuous_relay", "everybody could send through this host "
	    "to everywhere: write `accept from NET for any` with the "
	    "networks that may"),
	LACKS("relay_based_on_MX", "whoever has an MX record for this host "
	    "could relay: write `accept to @DOMAIN for any` for each"),
	LACKS("relay_mail_from", "anybody could say that sender: write "
	    "`accept from NET for any` with the clients that may relay"),
	LACKS("relay_local_from", "anybody could say that sender: write "
	    "`accept from NET for any` with the clients that may relay"),
	LACKS("bestmx_is_local", "name the domains: `domain NAME...`"),
	LACKS("virtuser_entire_domain", "what is below a domain: write "
	    "`@.DOMAIN` rows for each name into the table of virtual"),
	LACKS("generics_entire_domain", "what is below a domain: write a "
	    "row for each name into the table of canonical"),
	LACKS("ldap_routing", "write `table NAME ldap:FILE` and `virtual "
	    "<NAME>` (zmailer-table(8))"),
	LACKS("bitdomain", "there are no such addresses any more"),
	LACKS("uucpdomain", "write `route .uucp via sm uucp/HOST`"),
	LACKS("rhsbl", "names in lists are not asked for: policy-service"),
	LACKS("mtamark", "the DNS is not asked for that"),
	LACKS("badmx", "write `defer sender-unknown`"),
	LACKS("compat_check", "pairs of sender and recipient: write `reject "
	    "sender ADDRESS to ADDRESS`"),
	LACKS("check_other", "write `limit errors N`"),
	LACKS("ratecontrol", "write `limit rate N/1m per client of "
	    "messages`"),
	LACKS("conncontrol", "write `limit parallel N per client of "
	    "sessions`"),
	LACKS("redirect", "write `reject to ADDRESS text \"WORDS\"` for "
	    "each alias that ends in .REDIRECT"),
	LACKS("msp", "this is the file of the submission program: import "
	    "the daemon's, sendmail.mc"),
	LACKS("queuegroup", "write `schedule` for these destinations"),
	NEEDLESS("preserve_local_plus_detail", "the detail is known: "
	    "mailbox has {detail}"),
	NEEDLESS("preserve_luser_host", "no LUSER_RELAY is taken"),
	NEEDLESS("tls_session_features", "tls-to and rules have tls"),
	NEEDLESS("tls_failures", "tls-to says what is wanted"),
	DIFFERS("sts", "write `sts yes` and `tls-to * sts`"),
	NEEDLESS("cert_altnames", "certificates are matched by all names"),
	NEEDLESS("use_client_ptr", "a client's name leads back to it, or is "
	    "none"),
	NEEDLESS("unqualified_host", "domain has whole names"),
	{ NULL, NULL, IMPORT_TAKEN, NULL },
};

void
sendmail_feature(struct sendmail *mail, struct sendmail_row *row)
{
	struct slice name = sendmail_argument(row, 0);

	if (!sendmail_apply(mail, row, rules, name))
		sendmail_note(mail, row, IMPORT_MISSING, "not known: see "
		    "cf/README of sendmail, and `zmailer help`");
	else if (slice_is(name, "accept_unresolvable_domains"))
		sendmail_note(mail, row, IMPORT_NOT_NEEDED, "no rule asks "
		    "for it: defer sender-unknown would");
}
