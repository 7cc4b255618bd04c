/* calls.c - all other calls of sendmail.mc, and its text
 *
 * In     OSTYPE, MAILER, INPUT_MAIL_FILTER ...
 * Out    milter; what else becomes of them
 * Holds  nothing
 * Spec   cf/README of sendmail
 *
 * SPDX-License-Identifier: ISC
 */
#include "tools/zmailer/import/sendmail/sendmail.h"

#include "base/banned.h"

/* "local:/PATH", "unix:/PATH", "inet:PORT@HOST". */
static const char *
filter_socket(struct sendmail *mail, struct slice text)
{
	size_t at = slice_find(text, ':'), host = slice_find(text, '@');
	struct slice kind = slice_first(text, at);
	struct slice place = slice_from(text, at + 1);

	if ((slice_is(kind, "local") || slice_is(kind, "unix")) &&
	    slice_starts(place, "/") && import_word(mail->import, place))
		return arena_printf(mail->import->arena, "unix:" SLICE_FMT,
		    SLICE_ARG(place));
	if (!slice_is(kind, "inet") || host == text.n ||
	    import_word(mail->import, place) == NULL)
		return NULL;
	place = slice_from(text, host + 1);
	if (slice_is(place, "localhost"))
		place = SLICE("127.0.0.1");
	return arena_printf(mail->import->arena, "inet:" SLICE_FMT ":"
	    SLICE_FMT, SLICE_ARG(place), (int)(host - at - 1), text.p + at +
	    1);
}

/* `NAME', `S=SOCKET, F=T, T=...'. */
static void
call_filter(struct sendmail *mail, struct sendmail_row *row)
{
	struct slice rest = sendmail_argument(row, 1), word;
	const char *socket = NULL, *fail = " fail accept";

	while (slice_cut(&rest, ',', &word)) {
		word = slice_trim(word);
		if (slice_starts(word, "S="))
			socket = filter_socket(mail, slice_from(word, 2));
		else if (slice_starts(word, "F="))
			fail = slice_is(word, "F=T") ? "" : slice_is(word,
			    "F=R") ? " fail reject" : fail;
		else if (slice_starts(word, "T="))
			sendmail_note(mail, row, IMPORT_DIFFERS, "T=: "
			    "`timeout`, `connect` and `command` of milter "
			    "have presets of their own");
	}
	if (socket == NULL)
		sendmail_note(mail, row, IMPORT_MISSING, "write `milter "
		    "unix:/PATH` or `milter inet:ADDRESS:PORT`");
	else
		sendmail_say(mail, row, IMPORT_RULES, "milter %s%s", socket,
		    fail);
}

static void
call_mailer(struct sendmail *mail, struct sendmail_row *row)
{
	static const struct sendmail_rule mailers[] = {
		{ "smtp", NULL, IMPORT_NOT_NEEDED, "smtp is there" },
		{ "local", NULL, IMPORT_NOT_NEEDED, "domain says whose mail "
		    "ends here" },
		{ "procmail", NULL, IMPORT_MISSING, "write `deliver pipe "
		    "\"COMMAND\" as ACCOUNT`, or let .forward run it" },
		{ "cyrus", NULL, IMPORT_MISSING, "write `deliver lmtp "
		    "unix:/PATH` into the block of the domain" },
		{ "cyrusv2", NULL, IMPORT_MISSING, "write `deliver lmtp "
		    "unix:/PATH` into the block of the domain" },
		{ "uucp", NULL, IMPORT_MISSING, "write `route .uucp via sm "
		    "uucp/HOST` where there is any" },
		{ NULL, NULL, IMPORT_TAKEN, NULL },
	};

	if (!row->item.is_told && !sendmail_apply(mail, row, mailers,
	    sendmail_argument(row, 0)))
		sendmail_note(mail, row, IMPORT_MISSING, "no mailer of that "
		    "name is known: write `route` or `deliver` for its mail");
}

/* Said already, by what came first. */
static void
call_told(struct sendmail *mail, struct sendmail_row *row)
{
	if (!row->item.is_told)
		sendmail_note(mail, row, IMPORT_NOT_NEEDED,
		    "nothing that was taken needs it");
}

static void
call_include(struct sendmail *mail, struct sendmail_row *row)
{
	if (row->item.is_told)
		return;
	if (slice_ends(sendmail_argument(row, 0), "/cf.m4"))
		sendmail_note(mail, row, IMPORT_NOT_NEEDED, "sendmail's own "
		    "definitions");
	else
		sendmail_note(mail, row, IMPORT_MISSING, "it is not there: "
		    "put the file beside and import again");
}

static const struct sendmail_rule rules[] = {
	{ "define", sendmail_option, IMPORT_TAKEN, "" },
	{ "FEATURE", sendmail_feature, IMPORT_TAKEN, "" },
	{ "MAILER", call_mailer, IMPORT_TAKEN, "" },
	{ "INPUT_MAIL_FILTER", call_filter, IMPORT_TAKEN, "" },
	{ "RELAY_DOMAIN", sendmail_relay_domain, IMPORT_TAKEN, "" },
	{ "RELAY_DOMAIN_FILE", sendmail_relay_file, IMPORT_TAKEN, "" },
	{ "include", call_include, IMPORT_TAKEN, "" },
	{ "sinclude", call_include, IMPORT_TAKEN, "" },
	{ "LOCAL_DOMAIN", call_told, IMPORT_TAKEN, "" },
	{ "DAEMON_OPTIONS", call_told, IMPORT_TAKEN, "" },
	{ "MASQUERADE_AS", call_told, IMPORT_TAKEN, "" },
	{ "MASQUERADE_DOMAIN", call_told, IMPORT_TAKEN, "" },
	{ "MASQUERADE_DOMAIN_FILE", call_told, IMPORT_TAKEN, "" },
	{ "MASQUERADE_EXCEPTION", call_told, IMPORT_TAKEN, "" },
	{ "MASQUERADE_EXCEPTION_FILE", call_told, IMPORT_TAKEN, "" },
	{ "EXPOSED_USER", call_told, IMPORT_TAKEN, "" },
	{ "EXPOSED_USER_FILE", call_told, IMPORT_TAKEN, "" },
	{ "VIRTUSER_DOMAIN", call_told, IMPORT_TAKEN, "" },
	{ "VIRTUSER_DOMAIN_FILE", call_told, IMPORT_TAKEN, "" },
	{ "GENERICS_DOMAIN", call_told, IMPORT_TAKEN, "" },
	{ "GENERICS_DOMAIN_FILE", call_told, IMPORT_TAKEN, "" },
	NEEDLESS("divert", "what m4 writes is not read"),
	NEEDLESS("VERSIONID", "it only names the file"),
	NEEDLESS("OSTYPE", "paths of a system: the presets here are "
	    "zmailer's own"),
	NEEDLESS("DOMAIN", "presets of a site that come with sendmail; of a "
	    "file of your own each call has to be in sendmail.mc"),
	NEEDLESS("undefine", "its preset is not taken"),
	NEEDLESS("MAILER_DEFINITIONS", "mailers are there"),
	NEEDLESS("CLIENT_OPTIONS", "write `zone NAME { source ADDRESS }` if "
	    "mail is to leave from one address"),
	NEEDLESS("TRUST_AUTH_MECH", "who logged in may relay: a preset "
	    "rule"),
	NEEDLESS("TRUSTED_USER", "sendmail(1) notes who submitted"),
	NEEDLESS("LOCAL_USER", "each user of our domains ends here"),
	NEEDLESS("CANONIFY_DOMAIN", "names are not changed"),
	NEEDLESS("DSMTP", "write `route PATTERN via hold`, and etrn"),
	LACKS("MAIL_FILTER", "write `milter unix:/PATH` if it is to be "
	    "asked: confINPUT_MAIL_FILTERS names it"),
	LACKS("QUEUE_GROUP", "write `schedule` for these destinations"),
	LACKS("MODIFY_MAILER_FLAGS", "flags of a mailer: see zmailer help "
	    "schedule, and zmailer help ehlo"),
	LACKS("LDAPROUTE_DOMAIN", "write `table NAME ldap:FILE` and `virtual "
	    "<NAME>` (zmailer-table(8))"),
	LACKS("HACK", "a change of somebody's own: it has to be written by "
	    "hand"),
	LACKS("SITE", "write `route .uucp via sm uucp/HOST`"),
	LACKS("ifdef", "m4 decides: write what it comes to into sendmail.mc "
	    "and import again"),
	LACKS("ifelse", "m4 decides: write what it comes to into "
	    "sendmail.mc and import again"),
	LACKS("syscmd", "no command is run"),
	LACKS("esyscmd", "no command is run"),
	{ NULL, NULL, IMPORT_TAKEN, NULL },
};

/* Lines of sendmail.cf in it. */
static void
call_text(struct sendmail *mail, struct sendmail_row *row)
{
	if (!row->item.is_told)
		sendmail_note(mail, row, IMPORT_MISSING, "a line of "
		    "sendmail.cf is not read: write what it does as domain, "
		    "route and rules (zmailer help)");
}

void
sendmail_call_visit(struct sendmail *mail, struct sendmail_row *row)
{
	if (row->is_text)
		call_text(mail, row);
	else if (!sendmail_apply(mail, row, rules, slice_of(row->item.name)))
		sendmail_note(mail, row, IMPORT_MISSING, "not known: no call "
		    "of this name is in the tables of zmailer import; see "
		    "cf/README of sendmail, and `zmailer help`");
}
