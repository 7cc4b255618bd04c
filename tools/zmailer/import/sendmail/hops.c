/* hops.c - where sendmail sends mail
 *
 * In     SMART_HOST, mailertable, nullclient
 * Out    route, routes
 * Holds  nothing
 * Spec   cf/README of sendmail, "SMART_HOST", "MAILERTABLE"; zmailer.conf(5)
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/ascii.h"
#include "grammar/net.h"
#include "grammar/smtp/path.h"
#include "tools/zmailer/import/sendmail/sendmail.h"

#include "base/banned.h"

/* Mailers that speak SMTP, and what defines their port. */
static const struct { const char *name, *arguments; } mailers[] = {
	{ "relay", "RELAY_MAILER_ARGS" }, { "esmtp", "ESMTP_MAILER_ARGS" },
	{ "smtp", "SMTP_MAILER_ARGS" }, { "smtp8", "SMTP8_MAILER_ARGS" },
	{ "dsmtp", "DSMTP_MAILER_ARGS" },
};

/* ---- what is refused ---------------------------------------------------- */

/* D.S.N, or a number of three digits, which go off the front. */
static bool
error_code_cut(struct slice *rest, struct slice *out)
{
	struct slice left = *rest, word = SLICE("");
	size_t n = 0, digits = 0;

	while (n < left.n && (ascii_is_digit(left.p[n]) || left.p[n] == '.'))
		digits += ascii_is_digit(left.p[n++]);
	word = slice_first(left, n);
	if (n == left.n || (left.p[n] != ':' && left.p[n] != ' ') ||
	    digits < 3 || ascii_is_digit(word.p[0]) == 0)
		return false;
	*out = word;
	*rest = slice_trim(slice_from(left, n + 1));
	return true;
}

void
sendmail_error(struct sendmail *mail, struct slice text,
    const char **out_code, const char **out_words)
{
	static const struct { const char *name, *code, *words; } rows[] = {
		{ "nouser", "5.1.1", "no such user here" },
		{ "nohost", "5.1.2", "no such host" },
		{ "unavailable", "5.3.0", "not available" },
		{ "config", "5.3.5", "configuration error" },
		{ "protocol", "5.5.0", "protocol error" },
		{ "usage", "5.1.3", "no such address" },
		{ "tempfail", "4.3.0", "not now" },
	};
	const char *code = "5.0.0", *words = "refused";
	struct slice rest = slice_trim(text), first = rest, found;

	if (slice_starts(rest, "\"") && slice_ends(rest, "\"") && rest.n > 1)
		rest = (struct slice){ rest.p + 1, rest.n - 2 };
	first = slice_first(rest, slice_find(rest, ' '));
	first = slice_first(first, slice_find(first, ':'));
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (slice_is_nocase(first, rows[i].name)) {
			code = rows[i].code;
			words = rows[i].words;
			rest = slice_trim(slice_from(rest, first.n + 1));
			break;
		}
	for (int i = 0; i < 3 && error_code_cut(&rest, &found); i++)
		if (slice_find(found, '.') < found.n)
			code = slice_dup(mail->import->arena, found);
		else if (found.p[0] == '4' && code[0] != '4')
			code = "4.0.0";
	if (slice_starts(rest, "\"") && slice_ends(rest, "\"") && rest.n > 1)
		rest = (struct slice){ rest.p + 1, rest.n - 2 };
	*out_code = code;
	*out_words = rest.n > 0 ? import_quote(mail->import, rest) : words;
}

/* ---- hops --------------------------------------------------------------- */

/* "TCP $h 587": 587; 25 when nothing is said. */
static struct slice
mailer_port(struct sendmail *mail, const char *arguments)
{
	struct slice rest = sendmail_define(mail, arguments), word, port;
	size_t words = 0;

	port = SLICE("25");
	while (slice_word(&rest, &word))
		if (++words == 3 && slice_number(word, 1, 65535,
		    &(uint64_t){ 0 }))
			port = word;
	return port;
}

/* "[HOST]" or "HOST", one of a list with : between. */
static bool
hop_host_cut(struct slice *rest, struct slice *out, bool *out_is_mx)
{
	size_t at = slice_starts(*rest, "[") ? slice_find(*rest, ']') :
	    slice_find(*rest, ':');
	struct net net;

	*out_is_mx = !slice_starts(*rest, "[");
	*out = *out_is_mx ? slice_first(*rest, at) : (struct slice){
	    rest->p + 1, at > 0 ? at - 1 : 0 };
	*rest = slice_from(*rest, at + !*out_is_mx);
	if (slice_starts(*rest, ":"))
		*rest = slice_from(*rest, 1);
	if (!*out_is_mx && slice_starts(*out, "IPv6:"))
		*out = slice_from(*out, 5);
	return net_parse(*out, &net, NULL) == 0 ? slice_find(*out, '/') ==
	    out->n : out->n > 0 && domain_parse(*out, NULL) == 0 &&
	    out->p[0] != '[';
}

static const char *
hop_hosts(struct sendmail *mail, struct slice hosts, struct slice port)
{
	struct str text = STR_INIT;
	const char *out = NULL;
	struct slice host;
	bool is_mx, is_good = hosts.n > 0;

	while (is_good && hosts.n > 0) {
		is_good = hop_host_cut(&hosts, &host, &is_mx);
		if (is_mx && slice_is(port, "25") && hosts.n == 0 &&
		    text.len == 0)
			str_addf(&text, "smtp!" SLICE_FMT, SLICE_ARG(host));
		else
			str_addf(&text, "%s[" SLICE_FMT "]:" SLICE_FMT,
			    text.len > 0 ? " else " : "", SLICE_ARG(host),
			    SLICE_ARG(port));
	}
	if (is_good)
		out = slice_dup(mail->import->arena, str_slice(&text));
	str_release(&text);
	return out;
}

const char *
sendmail_hop(struct sendmail *mail, struct slice text, const char **out_why)
{
	size_t at = slice_starts(text, "[") ? text.n : slice_find(text, ':');
	struct slice name = at < text.n ? slice_first(text, at) :
	    SLICE("relay");
	struct slice host = at < text.n ? slice_from(text, at + 1) : text;
	const char *code, *words, *hop = NULL;

	*out_why = "no mailer here is the same: write `route` with a target "
	    "of zmailer help route";
	if (slice_is(name, "error")) {
		sendmail_error(mail, host, &code, &words);
		return code[0] == '4' ? arena_printf(mail->import->arena,
		    "defer %s %s", code, words) : arena_printf(
		    mail->import->arena, "error!%s %s", code, words);
	}
	for (size_t i = 0; i < sizeof(mailers) / sizeof(mailers[0]); i++) {
		if (!slice_is(name, mailers[i].name))
			continue;
		hop = hop_hosts(mail, host, mailer_port(mail,
		    mailers[i].arguments));
		*out_why = "it names no host: write `route DOMAIN via "
		    "HOST:PORT`";
		break;
	}
	if (slice_is(name, "local") || slice_is(name, "virtual"))
		*out_why = "write `domain` for it, with `@DOMAIN: USER` in "
		    "its aliases where all of it is one user's";
	else if (slice_is(name, "procmail") || slice_is(name, "prog"))
		*out_why = "a program: write `domain NAME { users any; "
		    "deliver pipe \"COMMAND\" as ACCOUNT }`";
	return hop;
}

static bool
hop_leads_to_host(const char *hop)
{
	return hop != NULL && (hop[0] == '[' || strncmp(hop, "smtp!", 5) == 0);
}

/* Mail for these goes there: a route, or a table of one row where a domain's
 * MX hosts are asked. */
static void
hop_say(struct sendmail *mail, struct sendmail_row *row, const char *pattern,
    const char *hop)
{
	enum import_part part = strcmp(pattern, "*") == 0 ?
	    IMPORT_LAST_ROUTES : IMPORT_ROUTES;
	const char *name;

	if (hop[0] == '[') {
		sendmail_say(mail, row, part, "route %s via %s", pattern,
		    hop);
		return;
	}
	name = strcmp(pattern, "*") == 0 ? "smarthost" : arena_printf(
	    mail->import->arena, "to-%s", pattern);
	(void)import_say_once(mail->import, IMPORT_TABLES, arena_printf(
	    mail->import->arena, "table %s { %s %s }", name,
	    strcmp(pattern, "*") == 0 ? "." : pattern, hop));
	sendmail_say(mail, row, part, "routes <%s>", name);
}

void
sendmail_smart_host(struct sendmail *mail, struct sendmail_row *row)
{
	struct slice text = sendmail_argument(row, 1);
	const char *why, *hop = text.n == 0 ? NULL : sendmail_hop(mail, text,
	    &why);

	if (text.n == 0)
		sendmail_note(mail, row, IMPORT_NOT_NEEDED, "it is empty: "
		    "mail goes to the MX hosts of its domain");
	else if (!hop_leads_to_host(hop))
		sendmail_note(mail, row, IMPORT_MISSING, "%s", hop == NULL ?
		    why : "write `route * via HOST:PORT`");
	else
		hop_say(mail, row, "*", hop);
}

/* The hub has all, also what is for this host. */
void
sendmail_nullclient(struct sendmail *mail, struct sendmail_row *row)
{
	const char *why = "it names no host: write `route * via HOST:PORT`";
	const char *hop = sendmail_hop(mail, sendmail_argument(row, 1), &why);

	if (!hop_leads_to_host(hop)) {
		sendmail_note(mail, row, IMPORT_MISSING, "%s", why);
		return;
	}
	if (hop[0] != '[') {
		hop = arena_printf(mail->import->arena, "[%s]:25", hop + 5);
		sendmail_note(mail, row, IMPORT_DIFFERS, "the host itself is "
		    "met, not its MX hosts");
	}
	hop_say(mail, row, mail->host, hop);
	hop_say(mail, row, "localhost", hop);
	hop_say(mail, row, "*", hop);
}

/* ---- mailertable -------------------------------------------------------- */

static void
mailertable_entry(struct sendmail *mail, const char *path,
    struct import_entry *entry, struct str *out)
{
	struct import *import = mail->import;
	const char *why = NULL, *hop = NULL, *key;

	key = slice_is(entry->key, ".") ? "." : import_domain(import,
	    entry->key);
	if (key == NULL)
		why = "it is no name of a domain: write `route` for it";
	else if (strstr(mail->domains.buf, arena_printf(import->arena,
	    " %s ", key)) != NULL)
		why = "its mail ends here, and no mailertable is asked";
	else if (entry->value.n == 0)
		why = "no KEY MAILER:HOST; it was left out";
	else if (slice_find(entry->value, '%') < entry->value.n)
		why = "a part of the name is put in: write `route` for each "
		    "name";
	else
		hop = sendmail_hop(mail, entry->value, &why);
	if (hop != NULL)
		str_addf(out, "%s %s\n", key, hop);
	else
		sendmail_entry_note(mail, path, entry, why[0] == 'i' &&
		    why[1] == 't' && why[2] == 's' ? IMPORT_NOT_NEEDED :
		    IMPORT_MISSING, "%s", why);
}

void
sendmail_mailertable(struct sendmail *mail, struct sendmail_row *row)
{
	const char *path = sendmail_path(mail, row, sendmail_argument(row, 1),
	    "/etc/mail/mailertable");
	struct import_entries entries;
	struct str rows = STR_INIT;

	if (path == NULL || !sendmail_entries(mail, row, path, &entries))
		return;
	for (size_t i = 0; i < entries.count; i++)
		mailertable_entry(mail, path, &entries.rows[i], &rows);
	if (rows.len > 0)
		sendmail_say(mail, row, IMPORT_ROUTES, "routes <%s>",
		    import_table_add(mail->import, "", "file", "mailertable",
		    &rows, IMPORT_EVERYBODY));
	else
		sendmail_note(mail, row, IMPORT_NOT_NEEDED, "no entry of it "
		    "is left");
	str_release(&rows);
}
