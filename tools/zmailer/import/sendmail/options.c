/* options.c - define(`confNAME', `VALUE'): a row each
 *
 * In     definitions
 * Out    limits, times, TLS; what else becomes of them
 * Holds  nothing
 * Spec   cf/README of sendmail, "TWEAKING CONFIGURATION OPTIONS"
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/ascii.h"
#include "grammar/units.h"
#include "tools/zmailer/import/sendmail/sendmail.h"

#include "base/banned.h"

/* Numbers and times: a statement with the value in it. */
static const struct option_value {
	const char	*name, *statement;
	enum import_part part;
	char		 unit;		/* of a time without one; 0: number */
} values[] = {
	{ "confMAX_MESSAGE_SIZE", "size %sB", IMPORT_SITE, 0 },
	{ "confMAX_RCPTS_PER_MESSAGE", "limit recipients %s", IMPORT_SITE, 0 },
	{ "confMAX_DAEMON_CHILDREN", "limit sessions %s", IMPORT_SITE, 0 },
	{ "confMAX_HOP", "limit received %s", IMPORT_SITE, 0 },
	{ "confMAX_HEADERS_LENGTH", "limit header %sB", IMPORT_SITE, 0 },
	{ "confMAX_ALIAS_RECURSION", "limit expansion-depth %s", IMPORT_SITE,
	    0 },
	{ "confTO_QUEUERETURN", "schedule */* { expire %s }",
	    IMPORT_QUEUE, 'd' },
	{ "confTO_QUEUERETURN_NORMAL", "schedule */* { expire %s }",
	    IMPORT_QUEUE, 'd' },
	{ "confTO_QUEUEWARN", "schedule */* { warn %s }", IMPORT_QUEUE, 'h' },
	{ "confTO_QUEUEWARN_NORMAL", "schedule */* { warn %s }",
	    IMPORT_QUEUE, 'h' },
	{ "confMIN_QUEUE_AGE", "schedule */* { retry %s }", IMPORT_QUEUE, 'm' },
	{ "confTO_CONNECT", "timeout connect %s", IMPORT_SITE, 'm' },
	{ "confTO_INITIAL", "timeout greeting %s", IMPORT_SITE, 'm' },
	{ "confTO_HELO", "timeout helo %s", IMPORT_SITE, 'm' },
	{ "confTO_MAIL", "timeout mail %s", IMPORT_SITE, 'm' },
	{ "confTO_RCPT", "timeout rcpt %s", IMPORT_SITE, 'm' },
	{ "confTO_DATAINIT", "timeout data-start %s", IMPORT_SITE, 'm' },
	{ "confTO_DATABLOCK", "timeout data-block %s", IMPORT_SITE, 'm' },
	{ "confTO_DATAFINAL", "timeout data-end %s", IMPORT_SITE, 'm' },
	{ "confTO_QUIT", "timeout quit %s", IMPORT_SITE, 'm' },
	{ "confTO_COMMAND", "timeout command %s", IMPORT_SITE, 'm' },
	{ "confTO_STARTTLS", "timeout handshake %s", IMPORT_SITE, 'm' },
};
enum { OPTION_VALUES = sizeof(values) / sizeof(values[0]) };

/* A time as ours; a bare number has the unit of that option. */
static const char *
option_span(struct sendmail *mail, struct slice text, char unit)
{
	bool is_bare = text.n > 0 && ascii_is_digit(text.p[text.n - 1]);
	const char *span = arena_printf(mail->import->arena, is_bare ?
	    SLICE_FMT "%c" : SLICE_FMT, SLICE_ARG(text), unit);
	int64_t ms;

	return units_span_ms(slice_of(span), &ms, NULL) == 0 && ms > 0 ?
	    span : NULL;
}

static void
option_value_say(struct sendmail *mail, struct sendmail_row *row,
    const struct option_value *value)
{
	struct slice text = sendmail_argument(row, 1);
	const char *word = slice_dup(mail->import->arena, text);
	size_t at = strcspn(value->statement, "%");
	uint64_t number;

	if (slice_is(text, "0")) {
		sendmail_note(mail, row, IMPORT_DIFFERS, "no limit there; "
		    "the preset of `%.*s` counts here", (int)strcspn(
		    value->statement, "%{"), value->statement);
		return;
	}
	if (value->unit != 0)
		word = option_span(mail, text, value->unit);
	else if (!slice_number(text, 1, INT64_MAX, &number))
		word = NULL;
	if (word == NULL)
		sendmail_note(mail, row, IMPORT_MISSING, "it is no %s: see "
		    "zmailer help %.*s", value->unit != 0 ? "time" : "number",
		    (int)strcspn(value->statement, " "), value->statement);
	else
		sendmail_say(mail, row, value->part, "%.*s%s%s", (int)at,
		    value->statement, word, value->statement + at + 2);
}

/* $z/.forward.$w:$z/.forward: the last of them. */
static void
option_forward(struct sendmail *mail, struct sendmail_row *row)
{
	struct slice rest = sendmail_argument(row, 1), one, last = rest;

	while (slice_cut(&rest, ':', &one))
		last = one;
	if (slice_is(last, "$z/.forward"))
		sendmail_note(mail, row, IMPORT_NOT_NEEDED,
		    "{home}/.forward is the preset here");
	else if (last.n == 0)
		sendmail_say(mail, row, IMPORT_DELIVERY, "forward none");
	else
		sendmail_note(mail, row, IMPORT_MISSING, "write `forward "
		    "PATH` (zmailer help forward)");
}

static void
option_postmaster(struct sendmail *mail, struct sendmail_row *row)
{
	const char *word = import_word(mail->import, sendmail_argument(row,
	    1));

	if (word != NULL)
		sendmail_say(mail, row, IMPORT_SITE, "postmaster %s", word);
	else
		sendmail_note(mail, row, IMPORT_MISSING,
		    "write `postmaster ADDRESS`");
}

/* Each flag. */
static void
option_privacy(struct sendmail *mail, struct sendmail_row *row)
{
	static const struct import_told flags[] = {
		{ "needmailhelo", IMPORT_NOT_NEEDED, "HELO is always wanted" },
		{ "noexpn", IMPORT_NOT_NEEDED, "trust NET expn allows it, no "
		    "one else may" },
		{ "novrfy", IMPORT_NOT_NEEDED, "trust NET vrfy allows it" },
		{ "noetrn", IMPORT_NOT_NEEDED, "trust NET etrn allows it" },
		{ "noverb", IMPORT_NOT_NEEDED, "there is no VERB" },
		{ "goaway", IMPORT_NOT_NEEDED, "EXPN and VRFY tell strangers "
		    "nothing" },
		{ "public", IMPORT_NOT_NEEDED, "it is the preset" },
		{ "needexpnhelo", IMPORT_NOT_NEEDED, "trust says who may" },
		{ "needvrfyhelo", IMPORT_NOT_NEEDED, "trust says who may" },
		{ "authwarnings", IMPORT_NOT_NEEDED, "Received names who "
		    "submitted it" },
		{ "restrictqrun", IMPORT_NOT_NEEDED, "the queue is its "
		    "operators' alone" },
		{ "restrictmailq", IMPORT_NOT_NEEDED, "the queue is its "
		    "operators' alone" },
		{ "restrictexpand", IMPORT_NOT_NEEDED, "sendmail(1) has no "
		    "rights of its own" },
		{ "nobodyreturn", IMPORT_DIFFERS, "reports have what the "
		    "sender asked for; limit dsn bounds it" },
		{ "noreceipts", IMPORT_DIFFERS, "write `ehlo without DSN`" },
		{ "noactualrecipient", IMPORT_DIFFERS, "reports name whom "
		    "they are about" },
	};
	struct slice rest = sendmail_argument(row, 1), word;

	while (import_list_next(&rest, &word)) {
		const struct import_told *told = import_told_of(flags,
		    sizeof(flags) / sizeof(flags[0]), word);

		if (told != NULL)
			sendmail_note(mail, row, told->kind, "%s: %s",
			    told->name, told->text);
		else
			sendmail_note(mail, row, IMPORT_MISSING, "\"" SLICE_FMT
			    "\" is not known: see zmailer help trust",
			    SLICE_ARG(word));
	}
}

/* What was said with something else. */
static void
option_told(struct sendmail *mail, struct sendmail_row *row)
{
	if (!row->item.is_told)
		sendmail_note(mail, row, IMPORT_NOT_NEEDED,
		    "what names it was told by itself");
}

static const struct sendmail_rule rules[] = {
	{ "confFORWARD_PATH", option_forward, IMPORT_TAKEN, "" },
	{ "confPRIVACY_FLAGS", option_privacy, IMPORT_TAKEN, "" },
	{ "confDOUBLE_BOUNCE_ADDRESS", option_postmaster, IMPORT_TAKEN, "" },
	{ "SMART_HOST", sendmail_smart_host, IMPORT_TAKEN, "" },
	{ "confDOMAIN_NAME", option_told, IMPORT_TAKEN, "" },
	{ "confSERVER_CERT", option_told, IMPORT_TAKEN, "" },
	{ "confSERVER_KEY", option_told, IMPORT_TAKEN, "" },
	{ "confCW_FILE", option_told, IMPORT_TAKEN, "" },
	{ "confCR_FILE", option_told, IMPORT_TAKEN, "" },
	{ "confCT_FILE", option_told, IMPORT_TAKEN, "" },
	{ "ALIAS_FILE", option_told, IMPORT_TAKEN, "" },
	{ "MAIL_HUB", option_told, IMPORT_TAKEN, "" },
	{ "RELAY_MAILER_ARGS", option_told, IMPORT_TAKEN, "" },
	{ "ESMTP_MAILER_ARGS", option_told, IMPORT_TAKEN, "" },
	{ "SMTP_MAILER_ARGS", option_told, IMPORT_TAKEN, "" },
	{ "CERT_DIR", option_told, IMPORT_TAKEN, "" },
	{ "MAIL_SETTINGS_DIR", option_told, IMPORT_TAKEN, "" },
	LACKS("confAUTH_MECHANISMS", "passwords of users: write `auth pam`, "
	    "`auth saslauthd unix:/PATH` or `auth users <table>`"),
	LACKS("confAUTH_OPTIONS", "write `auth` (zmailer help auth); "
	    "passwords are asked for under TLS only"),
	LACKS("confAUTH_REALM", "write `auth` (zmailer help auth)"),
	LACKS("LUSER_RELAY", "users that are not known here: write "
	    "`@DOMAIN: @HOST` or `@DOMAIN: USER` into the table of aliases"),
	DIFFERS("LOCAL_RELAY", "an address without a domain gets that of "
	    "host, and ends here"),
	NEEDLESS("UUCP_RELAY", "addresses with ! are no addresses here"),
	NEEDLESS("BITNET_RELAY", "addresses with ! or .BITNET are not known"),
	NEEDLESS("DECNET_RELAY", "there are no such addresses any more"),
	NEEDLESS("FAX_RELAY", "write `route` if there are such addresses"),
	LACKS("LOCAL_MAILER_PATH", "another program delivers: write `deliver "
	    "lmtp unix:/PATH` or `mailbox` (zmailer help deliver)"),
	LACKS("LOCAL_MAILER_ARGS", "another program delivers: write `deliver "
	    "lmtp unix:/PATH` or `mailbox` (zmailer help deliver)"),
	NEEDLESS("LOCAL_MAILER_FLAGS", "flags of a mailer"),
	NEEDLESS("LOCAL_SHELL_PATH", "programs of aliases run without a "
	    "shell of their own choice"),
	LACKS("confLOCAL_MAILER", "another program delivers: write `deliver "
	    "lmtp unix:/PATH` into the block of the domain"),
	LACKS("CYRUSV2_MAILER_ARGS", "write `deliver lmtp unix:/PATH` into "
	    "the block of the domain"),
	LACKS("PROCMAIL_MAILER_PATH", "write `mailbox`, or let each user's "
	    ".forward run it: \"|/usr/bin/procmail\""),
	NEEDLESS("STATUS_FILE", "zmailer metrics counts"),
	NEEDLESS("HELP_FILE", "HELP has words of its own"),
	NEEDLESS("QUEUE_DIR", "spool says where ours is"),
	NEEDLESS("MSP_QUEUE_DIR", "there is one queue"),
	NEEDLESS("confLOG_LEVEL", "the journal has each event"),
	NEEDLESS("confPID_FILE", "run says where the daemons' files are"),
	NEEDLESS("confDEF_USER_ID", "programs of aliases run as their "
	    "table's owner, else as nobody"),
	NEEDLESS("confTRUSTED_USER", "the daemons have accounts of their "
	    "own"),
	NEEDLESS("confRUN_AS_USER", "the daemons have accounts of their own"),
	NEEDLESS("confTRUSTED_USERS", "sendmail(1) notes who submitted"),
	NEEDLESS("confDONT_PROBE_INTERFACES", "only what domain names is "
	    "ours"),
	NEEDLESS("confDONT_BLAME_SENDMAIL", "files that others can write "
	    "are refused"),
	NEEDLESS("confSMTP_LOGIN_MSG", "the greeting names host"),
	NEEDLESS("confDELIVERY_MODE", "mail is queued, and tried at once"),
	NEEDLESS("confSAFE_QUEUE", "each message is on disk before 250"),
	NEEDLESS("confSUPER_SAFE", "each message is on disk before 250"),
	NEEDLESS("confTRY_NULL_MX_LIST", "a host without MX is met by its "
	    "address"),
	NEEDLESS("confDIAL_DELAY", "schedule says when it is tried again"),
	NEEDLESS("confEIGHT_BIT_HANDLING", "8BITMIME, converted where the "
	    "next hop does not have it"),
	NEEDLESS("confBIND_OPTS", "the resolver is asked as DNS has it"),
	NEEDLESS("confHOST_STATUS_DIRECTORY", "the scheduler knows its "
	    "destinations"),
	NEEDLESS("confSINGLE_THREAD_DELIVERY", "schedule has parallel"),
	NEEDLESS("confMCI_CACHE_SIZE", "schedule has idle and warm"),
	NEEDLESS("confMCI_CACHE_TIMEOUT", "schedule has idle"),
	NEEDLESS("confQUEUE_SORT_ORDER", "senders take turns: schedule has "
	    "fair and order"),
	NEEDLESS("confMAX_QUEUE_CHILDREN", "schedule has agents"),
	NEEDLESS("confMAX_RUNNERS_PER_QUEUE", "schedule has agents"),
	NEEDLESS("confUSERDB_SPEC", "write `aliases <table>` if it is used"),
	NEEDLESS("confCOLON_OK_IN_ADDR", "addresses are those of RFC 5321"),
	NEEDLESS("confALLOW_BOGUS_HELO", "HELO is noted as it comes"),
	NEEDLESS("confUNSAFE_GROUP_WRITES", "files that others can write are "
	    "refused"),
	NEEDLESS("confREJECT_MSG", "rules have text \"WORDS\""),
	NEEDLESS("confRELAY_MSG", "rules have text \"WORDS\""),
	NEEDLESS("confCF_VERSION", "it only names the file"),
	NEEDLESS("confINPUT_MAIL_FILTERS", "milters are asked in the order "
	    "of the file"),
	NEEDLESS("confMILTER_LOG_LEVEL", "the journal has each answer"),
	DIFFERS("confMILTER_MACROS_CONNECT", "a milter gets the macros that "
	    "it asks for"),
	DIFFERS("confQUEUE_LA", "load is not asked: limit sessions and limit "
	    "agents bound the work"),
	DIFFERS("confREFUSE_LA", "load is not asked: limit sessions and "
	    "limit agents bound the work"),
	DIFFERS("confDELAY_LA", "load is not asked: limit sessions and "
	    "limit agents bound the work"),
	DIFFERS("confMIN_FREE_BLOCKS", "room is watched by itself: mail is "
	    "put off (452) while there is none"),
	DIFFERS("confCONNECTION_RATE_THROTTLE", "write `limit rate N/1s per "
	    "all of messages`"),
	DIFFERS("confBAD_RCPT_THROTTLE", "write `tarpit first 1s`"),
	DIFFERS("confCONNECTION_RATE_WINDOW_SIZE", "it is the span of limit "
	    "rate"),
	NEEDLESS("confALIAS_WAIT", "newaliases(1) makes nothing that could "
	    "be half done"),
	NEEDLESS("_USE_ETC_MAIL_", "files are looked for in /etc/mail"),
	DIFFERS("confMAX_MIME_HEADER_LENGTH", "limit line bounds each line"),
	DIFFERS("confCOPY_ERRORS_TO", "reports that have nobody go to "
	    "postmaster"),
	DIFFERS("confTO_IDENT", "nobody is asked for ident"),
	DIFFERS("confTO_RESOLVER_RETRANS", "the resolver's times are its "
	    "own"),
	DIFFERS("confTO_ICONNECT", "timeout connect is one for all tries"),
	LACKS("confCLIENT_CERT", "write `tls-to PATTERN LEVEL cert FILE key "
	    "FILE`"),
	LACKS("confCLIENT_KEY", "write `tls-to PATTERN LEVEL cert FILE key "
	    "FILE`"),
	DIFFERS("confCACERT", "certificates are verified with the system's "
	    "authorities: tls client-certificates and tls-to have ca FILE"),
	DIFFERS("confCACERT_PATH", "certificates are verified with the "
	    "system's authorities: tls client-certificates and tls-to have "
	    "ca FILE"),
	NEEDLESS("confCRL", "tls client-certificates has ca FILE"),
	NEEDLESS("confDH_PARAMETERS", "OpenSSL's own presets"),
	NEEDLESS("confTLS_SRV_OPTIONS", "a client's certificate is asked "
	    "for where tls client-certificates says so"),
	NEEDLESS("confCIPHER_LIST", "OpenSSL's own presets"),
	NEEDLESS("confSERVER_SSL_OPTIONS", "tls min: 1.2 is the preset"),
	NEEDLESS("confCLIENT_SSL_OPTIONS", "TLS 1.2 and newer"),
	DIFFERS("confDIRECT_SUBMISSION_MODIFIERS", "mail of sendmail(1) is "
	    "submission always"),
	{ NULL, NULL, IMPORT_TAKEN, NULL },
};

void
sendmail_option(struct sendmail *mail, struct sendmail_row *row)
{
	struct slice name = sendmail_argument(row, 0);

	if (sendmail_row_of(mail, "define", slice_dup(mail->import->arena,
	    name)) != row) {
		sendmail_note(mail, row, IMPORT_NOT_NEEDED, "a later line "
		    "says it again, and the last one counts");
		return;
	}
	for (size_t i = 0; i < OPTION_VALUES; i++)
		if (slice_is(name, values[i].name)) {
			option_value_say(mail, row, &values[i]);
			return;
		}
	if (sendmail_apply(mail, row, rules, name))
		return;
	if (slice_starts(name, "conf") || name.n == 0)
		sendmail_note(mail, row, IMPORT_MISSING, "not known: see "
		    "cf/README of sendmail, and `zmailer help`");
	else
		sendmail_note(mail, row, IMPORT_MISSING, "a name of this "
		    "file's own, or one that is not known: what it changes "
		    "has to be written by hand");
}
