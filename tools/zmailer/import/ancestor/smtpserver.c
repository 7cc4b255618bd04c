/* smtpserver.c - smtpserver.conf of ZMailer
 *
 * In     PARAM NAME VALUE, PATTERN LOAD FLAGS
 * Out    listen, tls, auth, size, limits; reject helo
 * Holds  nothing
 * Spec   smtpserver.conf(5) of ZMailer 2.99.57; zmailer.conf(5)
 *
 * SPDX-License-Identifier: ISC
 */
#include <unistd.h>

#include "tools/zmailer/import/ancestor/ancestor.h"

#include "base/banned.h"

struct ancestor_smtp {
	struct ancestor	*old;
	const char	*cert, *key;
	bool		 has_listen;
};

/* NAME of a parameter, as a number here. */
static const struct { const char *theirs, *ours; } numbers[] = {
	{ "MaxSameIpSource", "limit sessions-per-client" },
	{ "same-ip-source-parallel-max", "limit sessions-per-client" },
	{ "MaxParallelConnections", "limit sessions" },
	{ "max-parallel-connections", "limit sessions" },
	{ "RcptLimitCount", "limit recipients" },
	{ "RcptLimitCnt", "limit recipients" },
	{ "Rcpt-Limit-Count", "limit recipients" },
	{ "max-unknown-commands", "limit errors" },
	{ "auth-failrate", "limit auth-failures" },
};
/* Statements that have the same value as a parameter. */
static const struct { const char *theirs, *ours; } plain[] = {
	{ "nochunking", "ehlo without CHUNKING BINARYMIME" },
	{ "nodsn", "ehlo without DSN" },
	{ "no8bitmime", "ehlo without 8BITMIME" },
	{ "nopipelining", "ehlo without PIPELINING" },
	{ "noetrn", "ehlo without ETRN" },
	{ "noenhancedstatuscodes", "ehlo without ENHANCEDSTATUSCODES" },
	{ "tls-ask-cert", "tls client-certificates ask" },
	{ "tls-require-cert", "tls client-certificates require" },
};
static const struct import_told notes[] = {
	{ "help", IMPORT_NOT_NEEDED, "HELP has its own words" },
	{ "hdr220", IMPORT_NOT_NEEDED, "the greeting names host" },
	{ "newgroup", IMPORT_DIFFERS, "what follows holds for all "
	    "listeners" },
	{ "ListenQueueSize", IMPORT_NOT_NEEDED, "the system's own" },
	{ "TcpRcvBufferSize", IMPORT_NOT_NEEDED, "the system's own" },
	{ "TcpXmitBufferSize", IMPORT_NOT_NEEDED, "the system's own" },
	{ "min-availspace", IMPORT_NOT_NEEDED, "a full disk is noticed, and "
	    "mail deferred" },
	{ "max-error-recipients", IMPORT_DIFFERS, "write `limit rate` with "
	    "sender <>" },
	{ "*-percent-kludge", IMPORT_NOT_NEEDED, "% and ! in an address have "
	    "no meaning" },
	{ "allowsourceroute", IMPORT_DIFFERS, "routes in addresses are left "
	    "out" },
	{ "sum-sizeoption-value", IMPORT_NOT_NEEDED, "a message is kept "
	    "once" },
	{ "use-tcp-wrapper", IMPORT_MISSING, "write `reject from NET`, with "
	    "what hosts.deny says" },
	{ "deliverby", IMPORT_NOT_NEEDED, "DELIVERBY is offered" },
	{ "policydb*", IMPORT_NOT_NEEDED, "its sources are told by "
	    "themselves" },
	{ "contentfilter-maxpar", IMPORT_NOT_NEEDED, "up to eight run" },
	{ "debug-contentfilter", IMPORT_NOT_NEEDED, "see the journal" },
	{ "perl-hook", IMPORT_MISSING, "let a hook do what the script does "
	    "(doc/HOOKS.md)" },
	{ "enable-router*", IMPORT_NOT_NEEDED, "recipients are looked up "
	    "(verify)" },
	{ "no-debugcmd", IMPORT_NOT_NEEDED, "there is no such command" },
	{ "debugcmd", IMPORT_NOT_NEEDED, "see log-level debug" },
	{ "no-*cmd", IMPORT_NOT_NEEDED, "these commands are for those that "
	    "trust names" },
	{ "expncmd", IMPORT_DIFFERS, "write `trust NET expn`" },
	{ "vrfycmd", IMPORT_DIFFERS, "write `trust NET vrfy`" },
	{ "noehlo", IMPORT_DIFFERS, "write `ehlo without KEYWORD...`" },
	{ "*-ok", IMPORT_NOT_NEEDED, "it is offered" },
	{ "no-multiline-replies", IMPORT_DIFFERS, "replies may have several "
	    "lines" },
	{ "no-smtp-auth*", IMPORT_NOT_NEEDED, "AUTH is offered on listeners "
	    "with the word submission" },
	{ "sasl-mechanisms", IMPORT_DIFFERS, "PLAIN and LOGIN, over TLS" },
	{ "smtp-auth-*prompt", IMPORT_NOT_NEEDED, "LOGIN has its prompts" },
	{ "smtp-auth-pipe", IMPORT_MISSING, "write `auth users <TABLE>` or "
	    "`auth saslauthd unix:/PATH`" },
	{ "auth-login-also-without-tls", IMPORT_DIFFERS, "passwords come "
	    "over TLS alone (auth ... clear loopback)" },
	{ "msa-mode", IMPORT_NOT_NEEDED, "see listen, submission" },
	{ "rcvd-*", IMPORT_NOT_NEEDED, "Received has one form" },
	{ "no-rcvd-*", IMPORT_NOT_NEEDED, "Received has one form" },
	{ "contact-pointer-message", IMPORT_DIFFERS, "rules have `text "
	    "\"WORDS\"`" },
	{ "use-tls", IMPORT_NOT_NEEDED, "STARTTLS is offered when there is a "
	    "certificate" },
	{ "no-use-tls", IMPORT_NOT_NEEDED, "STARTTLS is offered when there "
	    "is a certificate" },
	{ "listen-ssmtp", IMPORT_DIFFERS, "write `listen 465 submission "
	    "tls`" },
	{ "tls-CA*", IMPORT_DIFFERS, "write `tls client-certificates ask ca "
	    "FILE`" },
	{ "tls-enforce-tls", IMPORT_DIFFERS, "write `reject tls no`" },
	{ "tls-d*", IMPORT_NOT_NEEDED, "OpenSSL's own presets" },
	{ "tls-*", IMPORT_NOT_NEEDED, "OpenSSL's own presets" },
	{ "outlook-tls-bug", IMPORT_NOT_NEEDED, "programs of today need it "
	    "not" },
	{ "report-auth-file", IMPORT_NOT_NEEDED, "see zmailer metrics" },
	{ "lmtp-mode", IMPORT_DIFFERS, "write `listen ADDRESS:PORT lmtp`" },
	{ "etrn-cluster", IMPORT_MISSING, "write `cluster` (zmailer help "
	    "cluster)" },
	{ "tracking-cluster", IMPORT_MISSING, "write `cluster`, and `limit "
	    "rate ... shared`" },
	{ "spf-received", IMPORT_DIFFERS, "Authentication-Results says it "
	    "(verify-origin)" },
	{ "spf-*", IMPORT_DIFFERS, "write `reject spf RESULT`" },
	{ "force-rcpt-notify-never", IMPORT_DIFFERS, "write `ehlo without "
	    "DSN`" },
	{ "tarpit", IMPORT_DIFFERS, "write `tarpit first SPAN`, `tarpit max "
	    "SPAN`" },
};

/* "any", "[ip]" or "iface:..." and a port. */
static void
smtp_listen(struct ancestor_smtp *smtp, struct import_item *item,
    struct slice value, const char *port, const char *words)
{
	struct import *import = smtp->old->import;
	struct slice address = SLICE("any"), rest = value;
	const char *place = "", *number = port;

	(void)slice_word(&rest, &address);
	rest = slice_trim(rest);
	if (rest.n > 0)
		number = import_word(import, rest);
	if (slice_starts(address, "[IPv6."))
		place = arena_printf(import->arena, "[" SLICE_FMT ":",
		    SLICE_ARG(slice_from(address, 6)));
	else if (slice_starts(address, "[") && slice_ends(address, "]"))
		place = arena_printf(import->arena, SLICE_FMT ":", SLICE_ARG(
		    ((struct slice){ address.p + 1, address.n - 2 })));
	else if (!slice_is(address, "any") && !slice_is(address, "any6") &&
	    !slice_is(address, ""))
		number = NULL;
	if (number == NULL) {
		import_item_note(import, item, IMPORT_MISSING, "write "
		    "`listen ADDRESS:PORT`");
		return;
	}
	smtp->has_listen = true;
	import_item_taken(import, item, import_say_once(import,
	    IMPORT_LISTEN, arena_printf(import->arena, "listen %s%s%s", place,
	    number, words)));
}

static void
smtp_number(struct ancestor_smtp *smtp, struct import_item *item,
    struct slice value, const char *ours, const char *unit)
{
	struct import *import = smtp->old->import;
	uint64_t number;

	if (slice_number(value, 1, INT64_MAX, &number))
		import_item_taken(import, item, import_say_once(import,
		    IMPORT_SITE, arena_printf(import->arena, "%s %llu%s",
		    ours, (unsigned long long)number, unit)));
	else
		import_item_note(import, item, IMPORT_MISSING, "it is no "
		    "number: write `%s N`", ours);
}

static void
smtp_filter(struct ancestor_smtp *smtp, struct import_item *item,
    struct slice value)
{
	struct import *import = smtp->old->import;
	const char *path = import_word(import, ancestor_filled(smtp->old,
	    value));

	if (path == NULL || path[0] != '/')
		import_item_note(import, item, IMPORT_MISSING, "write "
		    "`content-filter \"/PROGRAM\"` or `content-filter "
		    "unix:/PATH`");
	else
		import_item_taken(import, item, import_say_once(import,
		    IMPORT_RULES, arena_printf(import->arena,
		    "content-filter \"%s\"", path)));
}

static void
smtp_auth(struct ancestor_smtp *smtp, struct import_item *item)
{
	struct import *import = smtp->old->import;

	import_item_taken(import, item, import_say_once(import,
	    IMPORT_LISTEN, "auth pam senders any"));
	import_item_note(import, item, IMPORT_DIFFERS, "users may give any "
	    "sender, as before: `senders own` holds them to their own "
	    "addresses");
}

/* Both are wanted. */
static void
smtp_certificate(struct ancestor_smtp *smtp, struct import_item *item,
    struct slice value, bool is_key)
{
	struct import *import = smtp->old->import;
	const char *path = import_word(import, slice_of(import_file_here(
	    import, ancestor_filled(smtp->old, value))));

	if (path == NULL || access(path, F_OK) != 0) {
		import_item_note(import, item, IMPORT_MISSING, "there is no "
		    "such file: zmailer cert install FILE KEY");
		return;
	}
	smtp->cert = is_key ? smtp->cert : path;
	smtp->key = is_key ? path : smtp->key;
	if (smtp->cert != NULL && smtp->key != NULL)
		import_item_taken(import, item, import_say_once(import,
		    IMPORT_LISTEN, arena_printf(import->arena,
		    "tls certificate %s key %s", smtp->cert, smtp->key)));
	else
		import_item_note(import, item, IMPORT_NOT_NEEDED, "the "
		    "statement tls has it");
}

static bool
smtp_word(struct ancestor_smtp *smtp, struct import_item *item,
    struct slice name, struct slice value)
{
	if (slice_is(name, "BindSmtp") || slice_is(name, "BindAddress"))
		smtp_listen(smtp, item, value, "25", "");
	else if (slice_is(name, "BindPort"))
		smtp_listen(smtp, item, slice_of(arena_printf(
		    smtp->old->import->arena, "any " SLICE_FMT, SLICE_ARG(
		    value))), "25", "");
	else if (slice_is(name, "BindSmtpS"))
		smtp_listen(smtp, item, value, "465", " submission tls");
	else if (slice_is(name, "BindSubmit"))
		smtp_listen(smtp, item, value, "587", " submission");
	else if (slice_is(name, "maxsize"))
		smtp_number(smtp, item, value, "size", "B");
	else if (slice_is(name, "contentfilter"))
		smtp_filter(smtp, item, value);
	else if (slice_is(name, "smtp-auth") || slice_is(name,
	    "smtp-auth-sasl"))
		smtp_auth(smtp, item);
	else if (slice_is(name, "tls-cert-file") || slice_is(name,
	    "tls-key-file"))
		smtp_certificate(smtp, item, value, slice_is(name,
		    "tls-key-file"));
	else
		return false;
	return true;
}

static void
smtp_param(struct ancestor_smtp *smtp, struct import_item *item,
    struct slice name, struct slice value)
{
	struct import *import = smtp->old->import;

	if (smtp_word(smtp, item, name, value))
		return;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (slice_is(name, numbers[i].theirs)) {
			smtp_number(smtp, item, value, numbers[i].ours, "");
			return;
		}
	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
		if (slice_is(name, plain[i].theirs)) {
			import_item_taken(import, item, import_say_once(
			    import, IMPORT_LISTEN, plain[i].ours));
			return;
		}
	if (!import_item_tell(import, item, notes, sizeof(notes) /
	    sizeof(notes[0]), name))
		import_item_note(import, item, IMPORT_MISSING, "not known: "
		    "no parameter of this name is in the tables of zmailer "
		    "import; see smtpserver.conf(5), and `zmailer help`");
}

/* PATTERN LOAD FLAGS, or PATTERN LOAD !TEXT */
static void
smtp_style(struct ancestor_smtp *smtp, struct import_item *item,
    const struct ancestor_line *line)
{
	struct import *import = smtp->old->import;
	struct slice rest = line->value, flags = line->value, word;
	const char *pattern = import_word(import, line->name);

	if (slice_word(&rest, &word) && !slice_starts(word, "!") &&
	    slice_trim(rest).n > 0)
		flags = slice_trim(rest);
	if (!slice_starts(flags, "!"))
		import_item_note(import, item, IMPORT_NOT_NEEDED,
		    "recipients are looked up (verify), and syntax is "
		    "strict");
	else if (pattern == NULL)
		import_item_note(import, item, IMPORT_MISSING, "write "
		    "`reject helo PATTERN text \"WORDS\"`");
	else
		import_item_taken(import, item, import_say_once(import,
		    IMPORT_RULES, arena_printf(import->arena,
		    "reject helo %s text \"%s\"", pattern, import_quote(
		    import, slice_trim(slice_from(flags, 1))))));
}

void
ancestor_smtpserver(struct ancestor *old)
{
	struct ancestor_smtp smtp = { .old = old };
	struct ancestor_lines lines = { .line = 0 };
	struct ancestor_line line;
	const char *path = import_file_here(old->import, slice_of(
	    arena_printf(old->import->arena, "%s/smtpserver.conf",
	    old->share)));

	(void)import_file_take(old->import->arena, path, &lines.rest, NULL);
	while (ancestor_line_next(&lines, &line)) {
		bool is_param = slice_is(line.name, "PARAM");
		struct import_item item;

		if (is_param) {
			line.name = SLICE("");
			(void)slice_word(&line.value, &line.name);
			line.value = slice_trim(line.value);
		}
		item = import_item_at(old->import, path, line.line, line.name,
		    line.value);
		if (line.wrong != NULL)
			import_item_note(old->import, &item, IMPORT_MISSING,
			    "%s", line.wrong);
		else if (is_param)
			smtp_param(&smtp, &item, line.name, line.value);
		else
			smtp_style(&smtp, &item, &line);
	}
	if (!smtp.has_listen)
		(void)import_say_once(old->import, IMPORT_LISTEN,
		    "listen 25");
}
