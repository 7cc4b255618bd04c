/* test_classify.c - what replies of the real world are taken for
 *
 * Wording as the large providers and the common servers document it or
 * postmasters quote it; names and numbers in them are changed.
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>

#include "mail/classify.h"

static const struct {
	const char	*reply, *status, *class, *scope;
} rows[] = {
	/* Gmail */
	{ "421 4.7.28 Gmail has detected an unusual rate of unsolicited mail "
	  "originating from your IP address. To protect our users from spam, "
	  "mail sent from your IP address has been temporarily rate limited.",
	    "4.7.28", "rate", "provider" },
	{ "421-4.7.0 This message does not pass authentication checks (SPF and "
	  "DKIM both do not pass).",
	    "4.7.0", "authentication", "message" },
	{ "421 4.7.0 Try again later, closing connection.", "4.7.0", "busy",
	    "host" },
	{ "450 4.2.1 The user you are trying to contact is receiving mail at a "
	  "rate that prevents additional messages from being delivered.",
	    "4.2.1", "rate", "recipient" },
	{ "452 4.2.2 The recipient's inbox is out of storage space.", "4.2.2",
	    "mailbox-full", "recipient" },
	{ "550-5.1.1 The email account that you tried to reach does not exist.",
	    "5.1.1", "unknown-user", "recipient" },
	{ "550 5.2.1 The email account that you tried to reach is inactive.",
	    "5.2.1", "disabled-user", "recipient" },
	{ "550-5.7.26 This mail has been blocked because the sender is "
	  "unauthenticated.",
	    "5.7.26", "authentication", "message" },
	{ "550-5.7.1 Our system has detected that this message is likely "
	  "unsolicited mail. To reduce the amount of spam sent, this message "
	  "has been blocked.",
	    "5.7.1", "content", "message" },
	{ "552-5.7.0 This message was blocked because its content presents a "
	  "potential security issue (attachment).",
	    "5.7.0", "content", "message" },
	{ "550-5.7.25 The IP address sending this message does not have a PTR "
	  "record setup.",
	    "5.7.25", "block", "provider" },
	{ "550-5.4.5 Daily user sending limit exceeded.", "5.4.5", "quota",
	    "provider" },
	{ "552 5.3.4 Your message exceeded Google's message size limits.",
	    "5.3.4", "size", "message" },
	{ "555 5.5.2 Syntax error, goodbye.", "5.5.2", "protocol", "host" },
	/* Microsoft */
	{ "550 5.7.1 Unfortunately, messages from [192.0.2.1] weren't sent. "
	  "Please contact your Internet service provider since part of their "
	  "network is on our block list (S3140).",
	    "5.7.1", "block", "provider" },
	{ "451 4.7.650 The mail server [192.0.2.1] has been temporarily rate "
	  "limited due to IP reputation.",
	    "4.7.650", "block", "provider" },
	{ "451 4.7.500 Server busy. Please try again later from [192.0.2.1].",
	    "4.7.500", "quota", "provider" },
	{ "550 5.7.606 Access denied, banned sending IP [192.0.2.1].",
	    "5.7.606", "block", "provider" },
	{ "550 5.1.10 RESOLVER.ADR.RecipientNotFound; Recipient not found by "
	  "SMTP address lookup",
	    "5.1.10", "unknown-user", "recipient" },
	{ "550 5.4.1 Recipient address rejected: Access denied. AS(201806281)",
	    "5.4.1", "unknown-user", "recipient" },
	{ "552 5.2.2 Mailbox full", "5.2.2", "mailbox-full", "recipient" },
	{ "554 5.2.2 mailbox full; STOREDRV.Deliver.Exception:QuotaExceeded",
	    "5.2.2", "mailbox-full", "recipient" },
	{ "421 4.3.2 The maximum number of concurrent server connections has "
	  "exceeded a limit, closing transmission channel",
	    "4.3.2", "connections", "host" },
	{ "452 4.3.1 Insufficient system resources", "4.3.1", "system",
	    "host" },
	{ "550 5.7.515 Access denied, sending domain EXAMPLE.ORG does not meet "
	  "the required authentication level.",
	    "5.7.515", "authentication", "message" },
	{ "550 5.7.509 Access denied, sending domain does not pass DMARC "
	  "verification",
	    "5.7.509", "authentication", "message" },
	{ "451 4.4.4 Temporary server error. Please try again later ATTR5",
	    "4.4.4", "system", "host" },
	{ "421 RP-001 Unfortunately, some messages from 192.0.2.1 weren't "
	  "sent. The mail server IP connecting has exceeded the rate limit "
	  "allowed.",
	    "4.0.0", "rate", "provider" },
	{ "550 SC-001 Mail rejected by Outlook for policy reasons. Reasons for "
	  "rejection may be related to content with spam-like characteristics "
	  "or IP/domain reputation.",
	    "5.0.0", "block", "provider" },
	/* Yahoo, AOL */
	{ "421 4.7.0 [TSS04] Messages from 192.0.2.1 temporarily deferred due "
	  "to unexpected volume or user complaints - 4.16.55.1",
	    "4.7.0", "rate", "provider" },
	{ "553 5.7.1 [BL21] Connections will not be accepted from 192.0.2.1, "
	  "because the ip is in Spamhaus's list",
	    "5.7.1", "block", "provider" },
	{ "554 delivery error: dd This user doesn't have a yahoo.com account "
	  "(b@yahoo.example) [0]",
	    "5.0.0", "unknown-user", "recipient" },
	{ "554 30 Sorry, your message to b@aol.example cannot be delivered. "
	  "This mailbox is disabled (554.30).",
	    "5.0.0", "disabled-user", "recipient" },
	{ "554 5.7.9 Message not accepted for policy reasons.", "5.7.9",
	    "authentication", "message" },
	{ "552 1 Requested mail action aborted, mailbox not found", "5.0.0",
	    "unknown-user", "recipient" },
	/* GMX, web.de, T-Online, Mail.ru, QQ, Orange, Comcast, iCloud */
	{ "554 Transaction failed. Reject due to policy restrictions.", "5.0.0",
	    "policy", "recipient" },
	{ "554 IP=192.0.2.1 - A problem occurred. Bad DNS PTR resource "
	  "record.",
	    "5.0.0", "block", "provider" },
	{ "450 Requested mail action not taken: mailbox unavailable. Mail send "
	  "limit exceeded.",
	    "4.0.0", "rate", "provider" },
	{ "550 Message was not accepted -- invalid mailbox.  Local mailbox "
	  "b@mail.example is unavailable: user not found",
	    "5.0.0", "unknown-user", "recipient" },
	{ "451 Mail is ratelimited: slow down", "4.0.0", "rate", "provider" },
	{ "550 Mailbox unavailable or access denied", "5.0.0", "unknown-user",
	    "recipient" },
	{ "550 Ip frequency limited. Sending too fast", "5.0.0", "rate",
	    "provider" },
	{ "421 4.7.1 mwinf5c42 ME Trop de connexions, Too many connections, "
	  "slow down. OFR004_104",
	    "4.7.1", "connections", "host" },
	{ "550 5.2.0 b@orange.example Mail rejete. Mail rejected. "
	  "blacklist OFR_506",
	    "5.2.0", "block", "provider" },
	{ "421 4.1.0 192.0.2.1 Throttled - try again later.", "4.1.0", "rate",
	    "provider" },
	{ "554 5.7.1 [CS01] Message rejected due to local policy.", "5.7.1",
	    "policy", "recipient" },
	{ "552 5.2.2 <b@icloud.example>: user is over quota", "5.2.2",
	    "mailbox-full", "recipient" },
	{ "554 t-online.example: 192.0.2.1 None/bad reputation. Ask your "
	  "postmaster for help",
	    "5.0.0", "block", "provider" },
	/* Postfix */
	{ "450 4.2.0 <b@x.example>: Recipient address rejected: Greylisted, "
	  "see http://postgrey.schweikert.ch/help/x.example.html",
	    "4.2.0", "greylist", "recipient" },
	{ "550 5.1.1 <b@x.example>: Recipient address rejected: User unknown "
	  "in local recipient table",
	    "5.1.1", "unknown-user", "recipient" },
	{ "554 5.7.1 <b@x.example>: Relay access denied", "5.7.1", "relay",
	    "host" },
	{ "454 4.7.1 <b@x.example>: Relay access denied", "4.7.1", "relay",
	    "host" },
	{ "450 4.7.25 Client host rejected: cannot find your hostname, "
	  "[192.0.2.1]",
	    "4.7.25", "block", "provider" },
	{ "554 5.7.1 Service unavailable; Client host [192.0.2.1] blocked "
	  "using zen.spamhaus.org",
	    "5.7.1", "block", "provider" },
	{ "450 4.1.8 <a@y.example>: Sender address rejected: Domain not found",
	    "4.1.8", "sender", "message" },
	{ "504 5.5.2 <mail>: Helo command rejected: need fully-qualified "
	  "hostname",
	    "5.5.2", "block", "provider" },
	{ "452 4.3.1 Insufficient system storage", "4.3.1", "system", "host" },
	{ "451 4.3.5 Server configuration error", "4.3.5", "system", "host" },
	{ "451 4.3.0 <b@x.example>: Temporary lookup failure", "4.3.0", "dns",
	    "host" },
	{ "421 4.7.0 mx.x.example Error: too many connections from 192.0.2.1",
	    "4.7.0", "connections", "host" },
	{ "450 4.7.1 Error: too much mail from 192.0.2.1", "4.7.1", "rate",
	    "provider" },
	{ "452 4.5.3 Error: too many recipients", "4.5.3", "rate", "message" },
	{ "530 5.7.0 Must issue a STARTTLS command first", "5.7.0", "tls",
	    "host" },
	{ "552 5.3.4 Message size exceeds fixed limit", "5.3.4", "size",
	    "message" },
	{ "554 5.4.0 Error: too many hops", "5.4.0", "loop", "message" },
	{ "421 4.4.2 mx.x.example Error: timeout exceeded", "4.4.2", "timeout",
	    "host" },
	{ "451 4.3.0 Error: queue file write error", "4.3.0", "system",
	    "host" },
	/* Exim, Sendmail, OpenSMTPD, qmail, Haraka, rspamd, Dovecot */
	{ "550 relay not permitted", "5.0.0", "relay", "host" },
	{ "451-192.0.2.1 is not yet authorized to deliver mail; greylisting "
	  "in action",
	    "4.0.0", "greylist", "recipient" },
	{ "550 Verification failed; the mail server could not verify: Unknown "
	  "user",
	    "5.0.0", "unknown-user", "recipient" },
	{ "550-Sender verify failed", "5.0.0", "sender", "message" },
	{ "421 Too many concurrent SMTP connections; please try again later.",
	    "4.0.0", "connections", "host" },
	{ "553 5.1.8 <a@y.example>... Domain of sender address a@y.example "
	  "does not exist",
	    "5.1.8", "unknown-user", "recipient" },
	{ "451 4.1.8 Domain of sender address a@y.example does not resolve",
	    "4.1.8", "sender", "message" },
	{ "550 5.1.1 <b@x.example>... User unknown", "5.1.1", "unknown-user",
	    "recipient" },
	{ "553 sorry, that domain isn't in my list of allowed rcpthosts; no "
	  "valid cert for gatewaying (#5.7.1)",
	    "5.0.0", "address", "recipient" },
	{ "550 sorry, no mailbox here by that name. (#5.1.1)", "5.0.0",
	    "unknown-user", "recipient" },
	{ "452 4.2.2 <b@x.example> Quota exceeded (mailbox for user is full)",
	    "4.2.2", "mailbox-full", "recipient" },
	{ "451 4.7.1 Try again later", "4.7.1", "greylist", "recipient" },
	{ "554 5.7.1 Spam message rejected", "5.7.1", "content", "message" },
	{ "550 5.7.1 Message contains a virus (Eicar-Test-Signature)", "5.7.1",
	    "content", "message" },
	{ "450 4.7.1 Please try again in 300 seconds", "4.7.1", "greylist",
	    "recipient" },
	{ "550 5.7.1 Rejected due to SPF policy", "5.7.1", "authentication",
	    "message" },
	{ "535 5.7.8 Error: authentication failed", "5.7.8", "authentication",
	    "host" },
	{ "550 5.1.2 host lookup failed for domain", "5.1.2", "domain",
	    "host" },
	{ "553 5.6.7 SMTPUTF8 is required", "5.6.7", "unsupported", "message" },
	{ "421 Service not available, closing transmission channel", "4.0.0",
	    "busy", "host" },
	{ "450 4.4.312 DNS query failed", "4.4.312", "dns", "host" },
	{ "500 5.5.1 command unrecognized", "5.5.1", "protocol", "host" },
	{ "550 5.7.1 Email rejected per DMARC policy for y.example", "5.7.1",
	    "authentication", "message" },
	{ "451 4.2.1 what", "4.2.1", "disabled-user", "recipient" },
	/* no reply: our own words */
	{ "connect: Connection refused", "4.4.1", "connect", "host" },
	{ "connect: No route to host", "4.4.1", "connect", "host" },
	{ "timed out", "4.4.1", "timeout", "host" },
	{ "timed out while waiting for the greeting", "4.4.2", "timeout",
	    "host" },
	{ "connection lost while sending the message", "4.4.2", "lost",
	    "host" },
	{ "no name server answered for x.example", "4.4.3", "dns", "host" },
	{ "the domain x.example does not exist", "5.1.2", "domain", "host" },
	{ "x.example has no address record", "5.4.4", "domain", "host" },
	{ "x.example takes no mail (null MX)", "5.1.10", "domain", "host" },
	{ "no host of x.example could be tried", "4.4.4", "connect", "host" },
	{ "the MX of x.example is this host, which does not deliver its mail",
	    "5.4.6", "loop", "message" },
	{ "the message has 99 bytes, the host takes 9", "5.3.4", "size",
	    "message" },
	{ "the transport agent died", "4.3.0", "system", "host" },
	{ "HTTP 401 Unauthorized: token expired", "4.7.8", "authentication",
	    "host" },
	/* our own words by their status alone */
	{ "x", "4.1.2", "domain", "host" },
	{ "x", "5.1.10", "domain", "host" },
	{ "x", "4.4.3", "dns", "host" },
	{ "x", "5.4.6", "loop", "message" },
	{ "x", "4.4.1", "connect", "host" },
	{ "x", "4.4.2", "lost", "host" },
	{ "x", "5.6.7", "unsupported", "recipient" },
	{ "x", "4.7.30", "tls", "host" },
	{ "x", "4.2.2", "mailbox-full", "recipient" },
	{ "x", "5.2.1", "disabled-user", "recipient" },
	{ "x", "5.1.1", "unknown-user", "recipient" },
	{ "x", "5.1.3", "address", "recipient" },
	{ "x", "5.1.6", "unknown-user", "recipient" },
	{ "x", "5.3.4", "size", "message" },
	{ "x", "4.3.1", "system", "host" },
	{ "x", "5.7.8", "authentication", "host" },
	{ "x", "5.7.1", "policy", "recipient" },
	/* nothing to go by */
	{ "", "", "other", "recipient" },
	{ "450", "", "other", "recipient" },
	{ "something", "", "other", "recipient" },
	{ "999 4.7.28 no code of SMTP", "", "other", "recipient" },
};

Test(classify, replies_of_the_real_world)
{
	cr_assert_geq(sizeof(rows) / sizeof(rows[0]), 80);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct mail_finding found;

		classify_reply(slice_of(rows[i].reply),
		    slice_of(rows[i].status), &found);
		cr_expect_str_eq(mail_class_name(found.class), rows[i].class,
		    "%s: line %u", rows[i].reply, found.line);
		cr_expect_str_eq(mail_scope_name(found.scope), rows[i].scope,
		    "%s: line %u", rows[i].reply, found.line);
	}
}

/* Every shipped rule is reached by something: one above that takes all of
 * it would make it dead. */
Test(classify, no_shipped_rule_is_dead)
{
	struct slice rest = classify_shipped(), line;
	unsigned number = 0;

	while (slice_cut(&rest, '\n', &line)) {
		struct slice code, status, scope, class;
		struct str reply = STR_INIT, own_status = STR_INIT;
		struct mail_finding found;

		number++;
		if (!slice_word(&line, &code) || slice_starts(code, "#"))
			continue;
		slice_word(&line, &status);
		slice_word(&line, &scope);
		slice_word(&line, &class);
		for (size_t i = 0; i < status.n; i++) {
			if (strchr("*?", status.p[i]) == NULL)
				str_addc(&own_status, status.p[i]);
			else
				str_adds(&own_status, i == 0 ? "5" :
				    status.p[i] == '*' ? "77" : "9");
		}
		if (slice_is(status, "*"))
			str_reset(&own_status);
		if (!slice_is(code, "-")) {
			for (size_t i = 0; i < 3; i++)
				str_addc(&reply, i < code.n &&
				    strchr("*?", code.p[i]) == NULL ?
				    code.p[i] : i == 0 ? '4' : '9');
			str_addc(&reply, ' ');
		}
		str_add_slice(&reply, slice_trim(line));
		classify_reply(str_slice(&reply), str_slice(&own_status),
		    &found);
		cr_expect_eq(found.line, number, "line %u is never reached: "
		    "'%s' %s is found by line %u", number, reply.buf,
		    own_status.buf, found.line);
		str_release(&reply);
		str_release(&own_status);
	}
}

Test(classify, a_sites_rules_stand_before_the_shipped_ones)
{
	struct mail_finding found;
	struct err err;

	cr_assert_eq(classify_load(SLICE("# ours\n\n"
	    "550 5.7.* host rate odd words\n"), &err), 0);
	classify_reply(SLICE("550 5.7.1 some ODD WORDS here"), SLICE(""),
	    &found);
	cr_expect_eq(found.class, CLASS_RATE);
	cr_expect_eq(found.scope, SCOPE_HOST);
	cr_expect(found.is_own);
	cr_expect_eq(found.line, 3);
	cr_assert_eq(classify_load(SLICE("a b c\n"), &err), -1);
	cr_expect_str_eq(err.text, "line 1: write: CODE ENHANCED SCOPE CLASS "
	    "[WORDS]");
	cr_assert_eq(classify_load(SLICE("\n* * here rate\n"), &err), -1);
	cr_expect(strstr(err.text, "line 2: 'here' is no scope") != NULL);
	cr_assert_eq(classify_load(SLICE("* * host rates\n"), &err), -1);
	cr_expect(strstr(err.text, "'rates' is no class") != NULL);
	classify_reply(SLICE("550 5.7.1 odd words"), SLICE(""), &found);
	cr_expect(found.is_own, "a bad file must not take the good one away");
	cr_assert_eq(classify_load(SLICE(""), &err), 0);
	classify_reply(SLICE("550 5.7.1 odd words"), SLICE(""), &found);
	cr_expect_not(found.is_own);
}

Test(classify, trouble_with_a_host_is_never_one_recipients)
{
	struct verdict verdict;
	struct mail_finding found;

	verdict_set(&verdict, VERDICT_DEFERRED, "4.2.1", "x",
	    "421 4.2.1 come back");
	verdict.host_trouble = true;
	classify_verdict(&verdict, &found);
	cr_expect_eq(found.scope, SCOPE_HOST);
}

Test(classify, names_go_both_ways)
{
	for (int i = 0; i < CLASS_COUNT; i++) {
		cr_expect_eq(mail_class_parse(slice_of(
		    mail_class_name((enum mail_class)i))), i);
		cr_expect_gt(strlen(mail_class_text((enum mail_class)i)), 5);
	}
	cr_expect_eq(mail_class_parse(SLICE("nothing")), -1);
}
