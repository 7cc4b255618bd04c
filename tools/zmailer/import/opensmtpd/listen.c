/* listen.c - listeners of smtpd.conf, their certificates and logins
 *
 * In     listen on INTERFACE ..., pki NAME cert|key FILE
 * Out    listen, tls certificate, auth
 * Holds  nothing
 * Spec   smtpd.conf(5), "listen on"
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>
#include <unistd.h>

#include "grammar/net.h"
#include "tools/zmailer/import/opensmtpd/opensmtpd.h"

#include "base/banned.h"

struct opensmtpd_listener {
	unsigned		port;
	bool			is_tls, is_users, is_tls_wanted, is_four,
				is_six, has_senders;
	struct slice		logins, senders;
};

/* Both rows of a name, when both are there, as one statement. */
void
opensmtpd_pki(struct opensmtpd *smtpd, struct opensmtpd_row *row)
{
	struct slice name = row->count > 1 ? row->words[1].text : SLICE("");
	const char *cert = NULL, *key = NULL, *word;

	row->at = 2;
	if (opensmtpd_is(row, "dhe")) {
		import_item_note(smtpd->import, &row->item,
		    IMPORT_NOT_NEEDED, "OpenSSL's own presets");
		return;
	}
	for (size_t i = 0; i < smtpd->count; i++) {
		struct opensmtpd_row *one = &smtpd->rows[i];

		if (strcmp(one->item.name, "pki") != 0 || one->count < 4 ||
		    !slice_equal(one->words[1].text, name))
			continue;
		word = import_word(smtpd->import, slice_of(import_file_here(
		    smtpd->import, one->words[3].text)));
		cert = slice_is(one->words[2].text, "cert") ? word : cert;
		key = slice_is(one->words[2].text, "key") ? word : key;
	}
	word = import_word(smtpd->import, name);
	if (cert == NULL || key == NULL || word == NULL ||
	    access(cert, F_OK) != 0) {
		import_item_note(smtpd->import, &row->item, IMPORT_MISSING,
		    cert != NULL && key != NULL ? "there is no file %s: "
		    "zmailer cert install FILE KEY" : "a pair of `cert` and "
		    "`key` is wanted for %s", cert != NULL && key != NULL ?
		    cert : "it");
		return;
	}
	word = arena_printf(smtpd->import->arena,
	    "tls certificate %s key %s%s%s", cert, key, smtpd->has_pki &&
	    strcmp(word, "*") != 0 ? " for " : "", smtpd->has_pki &&
	    strcmp(word, "*") != 0 ? word : "");
	/* its other row says the same */
	for (size_t i = 0; i < smtpd->import->statement_count; i++)
		if (strncmp(smtpd->import->statements[i].text, word,
		    strcspn(word, " ") + strlen(" certificate ") +
		    strlen(cert)) == 0) {
			import_item_taken(smtpd->import, &row->item, (int)i);
			return;
		}
	opensmtpd_say(smtpd, row, IMPORT_LISTEN, "%s", word);
	smtpd->has_pki = true;
}

/* ---- logins ------------------------------------------------------------- */

static void
listener_auth(struct opensmtpd *smtpd, struct opensmtpd_row *row,
    const struct opensmtpd_listener *listener)
{
	const char *users = NULL, *senders = NULL;

	if (listener->logins.n > 0) {
		users = opensmtpd_table(smtpd, row, listener->logins,
		    OPENSMTPD_LOGINS);
		if (users == NULL)
			return;
	}
	if (listener->senders.n > 0)
		senders = opensmtpd_table(smtpd, row, listener->senders,
		    OPENSMTPD_SENDERS);
	if (senders == NULL)
		import_item_note(smtpd->import, &row->item, IMPORT_DIFFERS,
		    "users may give any sender, as before: `senders own` "
		    "holds them to their own addresses");
	opensmtpd_say(smtpd, row, IMPORT_LISTEN, "auth %s%s senders %s",
	    users == NULL ? "pam" : "users ", users == NULL ? "" : users,
	    senders == NULL ? "any" : senders);
	smtpd->has_auth = true;
}

/* ---- words -------------------------------------------------------------- */

static bool
listener_note(struct opensmtpd *smtpd, struct opensmtpd_row *row)
{
	static const struct { const char *name; enum import_kind kind;
		bool has_value; const char *text; } rows[] = {
		{ "pki", IMPORT_NOT_NEEDED, true, "pki: clients that ask for "
		    "a name see its certificate" },
		{ "ca", IMPORT_DIFFERS, true, "ca: write `tls "
		    "client-certificates ask ca FILE`" },
		{ "filter", IMPORT_NOT_NEEDED, true, "filter: it is told by "
		    "itself, for all listeners" },
		{ "hostname", IMPORT_DIFFERS, true, "hostname: all listeners "
		    "greet with the name of host" },
		{ "hostnames", IMPORT_DIFFERS, true, "hostnames: all "
		    "listeners greet with the name of host" },
		{ "mask-src", IMPORT_DIFFERS, false, "mask-src: Received "
		    "names the client; a hook may take it out "
		    "(doc/HOOKS.md)" },
		{ "mask-source", IMPORT_DIFFERS, false, "mask-source: "
		    "Received names the client; a hook may take it out "
		    "(doc/HOOKS.md)" },
		{ "no-dsn", IMPORT_DIFFERS, false, "no-dsn: write `ehlo "
		    "without DSN`" },
		{ "proxy-v2", IMPORT_DIFFERS, false, "proxy-v2: write `trust "
		    "NET proxy` with the proxy's addresses" },
		{ "received-auth", IMPORT_NOT_NEEDED, false, "received-auth: "
		    "Received says ESMTPSA" },
		{ "tag", IMPORT_NOT_NEEDED, true, "tag: a match that asks "
		    "for it says what becomes of it" },
		{ "ciphers", IMPORT_NOT_NEEDED, true, "ciphers: OpenSSL's "
		    "own presets" },
		{ "protocols", IMPORT_NOT_NEEDED, true, "protocols: TLS 1.2 "
		    "and newer" },
		{ "masquerade", IMPORT_DIFFERS, false, "masquerade: the From "
		    "field stays as it is" },
		{ "tls", IMPORT_NOT_NEEDED, false, "tls: STARTTLS is offered "
		    "when there is a certificate" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (opensmtpd_is(row, rows[i].name)) {
			if (rows[i].has_value)
				(void)opensmtpd_text(row);
			import_item_note(smtpd->import, &row->item,
			    rows[i].kind, "%s", rows[i].text);
			return true;
		}
	return false;
}

static void
listener_option(struct opensmtpd *smtpd, struct opensmtpd_row *row,
    struct opensmtpd_listener *out)
{
	if (opensmtpd_is(row, "port"))
		out->port = import_port(opensmtpd_text(row));
	else if (opensmtpd_is(row, "smtps")) {
		out->is_tls = true;
		(void)opensmtpd_is(row, "verify");
	} else if (opensmtpd_is(row, "tls-require")) {
		out->is_tls_wanted = true;
		if (opensmtpd_is(row, "verify"))
			import_item_note(smtpd->import, &row->item,
			    IMPORT_DIFFERS, "verify: write `tls "
			    "client-certificates require`");
	} else if (opensmtpd_is(row, "inet4"))
		out->is_four = true;
	else if (opensmtpd_is(row, "inet6"))
		out->is_six = true;
	else if (opensmtpd_is(row, "auth") ||
	    opensmtpd_is(row, "auth-optional")) {
		out->is_users = true;
		if (row->at < row->count && row->words[row->at].kind ==
		    OPENSMTPD_TABLE)
			out->logins = opensmtpd_text(row);
	} else if (opensmtpd_is(row, "senders"))
		out->senders = opensmtpd_text(row);
	else if (!listener_note(smtpd, row))
		opensmtpd_unknown(smtpd, row);
}

/* ---- where -------------------------------------------------------------- */

static void
listener_say(struct opensmtpd *smtpd, struct opensmtpd_row *row,
    const struct opensmtpd_listener *listener, const char *address)
{
	bool is_users = listener->is_users && listener->port != 25;

	if (listener->is_tls && !smtpd->has_pki) {
		import_item_note(smtpd->import, &row->item, IMPORT_MISSING,
		    "it needs a certificate: zmailer cert install FILE KEY, "
		    "then `listen %s%u%s tls`", address, listener->port,
		    is_users ? " submission" : "");
		return;
	}
	opensmtpd_say(smtpd, row, IMPORT_LISTEN, "listen %s%u%s%s", address,
	    listener->port, is_users ? " submission" : "", listener->is_tls ?
	    " tls" : "");
}

/* An address, or one of the names that mean some. */
static void
listener_place(struct opensmtpd *smtpd, struct opensmtpd_row *row,
    const struct opensmtpd_listener *listener, struct slice place)
{
	struct net net;
	bool is_loopback = slice_is(place, "localhost") ||
	    slice_is(place, "lo") || slice_is(place, "lo0") ||
	    slice_starts(place, "127.") || slice_is(place, "::1");

	smtpd->has_strangers |= !is_loopback && !listener->is_users;
	if (net_parse(place, &net, NULL) == 0 && slice_find(place, '/') ==
	    place.n) {
		listener_say(smtpd, row, listener, arena_printf(
		    smtpd->import->arena, slice_find(place, ':') < place.n ?
		    "[" SLICE_FMT "]:" : SLICE_FMT ":", SLICE_ARG(place)));
		return;
	}
	if (is_loopback && !listener->is_six)
		listener_say(smtpd, row, listener, "127.0.0.1:");
	if (is_loopback && !listener->is_four)
		listener_say(smtpd, row, listener, "[::1]:");
	if (is_loopback)
		return;
	listener_say(smtpd, row, listener, listener->is_four ? "0.0.0.0:" :
	    listener->is_six ? "[::]:" : "");
	if (!slice_is(place, "all") && !slice_is(place, "any") &&
	    !slice_is(place, "0.0.0.0"))
		import_item_note(smtpd->import, &row->item, IMPORT_DIFFERS,
		    "on all addresses: write those of " SLICE_FMT
		    " (listen ADDRESS:PORT)", SLICE_ARG(place));
}

static void
listener_users(struct opensmtpd *smtpd, struct opensmtpd_row *row,
    const struct opensmtpd_listener *listener)
{
	if (listener->port == 25)
		import_item_note(smtpd->import, &row->item, IMPORT_DIFFERS,
		    "AUTH is offered on ports for users alone: write `listen "
		    "587 submission`, `listen 465 submission tls`");
	if (!smtpd->has_auth)
		listener_auth(smtpd, row, listener);
	else if (listener->logins.n > 0)
		(void)opensmtpd_table(smtpd, row, listener->logins,
		    OPENSMTPD_LOGINS);
}

void
opensmtpd_listen(struct opensmtpd *smtpd, struct opensmtpd_row *row)
{
	struct opensmtpd_listener listener = { .port = 25 };
	struct slice place;

	(void)opensmtpd_is(row, "on");
	if (opensmtpd_is(row, "socket")) {
		import_item_note(smtpd->import, &row->item,
		    IMPORT_NOT_NEEDED, "sendmail(1) needs no socket");
		return;
	}
	place = opensmtpd_text(row);
	for (size_t i = row->at; i < row->count; i++)
		if (slice_is(row->words[i].text, "smtps"))
			listener.port = 465;
	while (row->at < row->count)
		listener_option(smtpd, row, &listener);
	if (listener.port == 0 || place.n == 0) {
		import_item_note(smtpd->import, &row->item, IMPORT_MISSING,
		    "it has no port or no place: write `listen "
		    "ADDRESS:PORT`");
		return;
	}
	listener_place(smtpd, row, &listener, place);
	if (listener.is_users)
		listener_users(smtpd, row, &listener);
	else if (listener.is_tls_wanted)
		opensmtpd_say(smtpd, row, IMPORT_RULES, "reject tls no "
		    "listener :%u text \"say STARTTLS first\"",
		    listener.port);
}
