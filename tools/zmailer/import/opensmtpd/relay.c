/* relay.c - actions that relay, as what follows `via`
 *
 * In     action NAME relay ...
 * Out    the target of a route with login and zone; auth-to, tls-to, zone
 * Holds  nothing
 * Spec   smtpd.conf(5), "relay"; zmailer.conf(5), route
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "tools/zmailer/import/opensmtpd/opensmtpd.h"

#include "base/banned.h"

struct opensmtpd_relay {		/* what the words of an action say */
	struct slice		 url, auth, helo, domain;
	const struct opensmtpd_word *source;
	bool			 wants_tls, is_unverified;
};

static void
relay_options(struct opensmtpd *smtpd, struct opensmtpd_row *row,
    struct opensmtpd_relay *relay)
{
	static const struct { const char *name; enum import_kind kind;
		bool has_value; const char *text; } rows[] = {
		{ "helo-src", IMPORT_DIFFERS, true, "helo-src: write `source "
		    "ADDRESS helo NAME` into the zone for each" },
		{ "pki", IMPORT_DIFFERS, true, "pki: write `tls-to PATTERN "
		    "LEVEL cert FILE key FILE`" },
		{ "ca", IMPORT_DIFFERS, true, "ca: write `tls-to PATTERN "
		    "verify ca FILE`" },
		{ "mail-from", IMPORT_MISSING, true, "mail-from: write "
		    "`canonical <table> senders`" },
		{ "ttl", IMPORT_DIFFERS, true, "ttl: write `schedule "
		    "smtp/* { expire SPAN }`" },
		{ "filter", IMPORT_MISSING, true, "filter: let it speak "
		    "milter (zmailer help milter)" },
		{ "srs", IMPORT_MISSING, false, "srs: write `srs DOMAIN key "
		    "FILE` with one of your domains" },
		{ "ciphers", IMPORT_NOT_NEEDED, true, "OpenSSL's own "
		    "presets" },
		{ "protocols", IMPORT_NOT_NEEDED, true, "TLS 1.2 and "
		    "newer" },
	};
	size_t i = 0;

	while (i < sizeof(rows) / sizeof(rows[0]) &&
	    !opensmtpd_is(row, rows[i].name))
		i++;
	if (i < sizeof(rows) / sizeof(rows[0])) {
		if (rows[i].has_value)
			(void)opensmtpd_text(row);
		import_item_note(smtpd->import, &row->item, rows[i].kind,
		    "%s", rows[i].text);
	} else if (opensmtpd_is(row, "host"))
		relay->url = opensmtpd_text(row);
	else if (opensmtpd_is(row, "auth"))
		relay->auth = opensmtpd_text(row);
	else if (opensmtpd_is(row, "helo"))
		relay->helo = opensmtpd_text(row);
	else if (opensmtpd_is(row, "domain"))
		relay->domain = opensmtpd_text(row);
	else if (opensmtpd_is(row, "src"))
		relay->source = opensmtpd_word(row);
	else if (opensmtpd_is(row, "tls")) {
		relay->wants_tls = true;
		relay->is_unverified = opensmtpd_is(row, "no-verify");
	} else if (opensmtpd_is(row, "backup")) {
		if (opensmtpd_is(row, "mx"))
			(void)opensmtpd_text(row);
		import_item_note(smtpd->import, &row->item,
		    IMPORT_NOT_NEEDED, "backup: hosts of the MX list after "
		    "this one are left out always");
	} else
		opensmtpd_unknown(smtpd, row);
}

/* PROTO://LABEL@HOST:PORT */
struct opensmtpd_url {
	struct slice	proto, label, host, port;
};

static void
relay_url_cut(struct slice text, struct opensmtpd_url *out)
{
	size_t at = slice_find(text, '/');

	*out = (struct opensmtpd_url){ .proto = SLICE("smtp") };
	if (at > 0 && at + 1 < text.n && text.p[at - 1] == ':' &&
	    text.p[at + 1] == '/') {
		out->proto = slice_first(text, at - 1);
		text = slice_from(text, at + 2);
	}
	at = slice_find(text, '@');
	if (at < text.n) {
		out->label = slice_first(text, at);
		text = slice_from(text, at + 1);
	}
	at = slice_starts(text, "[") ? slice_find(text, ']') + 1 :
	    slice_find(text, ':');
	out->host = slice_first(text, at);
	out->port = slice_from(slice_from(text, at), at < text.n);
}

/* tls-to HOST, as the protocol or the word tls says. */
static void
relay_tls(struct opensmtpd *smtpd, struct opensmtpd_row *row,
    const struct opensmtpd_relay *relay, const struct opensmtpd_url *url)
{
	const char *host = url->host.n == 0 ? "*" : import_word(
	    smtpd->import, url->host);
	const char *level = NULL;

	if (slice_is(url->proto, "smtp+notls"))
		level = "none";
	else if (relay->is_unverified)
		level = "encrypt";
	else if (relay->wants_tls || slice_is(url->proto, "smtps") ||
	    slice_is(url->proto, "smtp+tls") || slice_is(url->proto, "tls"))
		level = "verify";
	if (level != NULL && host != NULL)
		opensmtpd_say(smtpd, row, url->host.n == 0 ?
		    IMPORT_LAST_ROUTES : IMPORT_ROUTES, "tls-to %s %s", host,
		    level);
	if (level != NULL && url->host.n == 0)
		import_item_note(smtpd->import, &row->item, IMPORT_DIFFERS,
		    "tls: tls-to holds for the mail of all actions; write "
		    "`tls-to DOMAIN LEVEL` for this one's domains alone");
}

/* "HOST:PORT", "smtps:HOST", "lmtp HOST:PORT"; NULL: noted. */
static const char *
relay_target(struct opensmtpd *smtpd, struct opensmtpd_row *row,
    const struct opensmtpd_url *url)
{
	static const struct { const char *theirs, *front, *port; } rows[] = {
		{ "smtp", "", "25" }, { "smtp+tls", "", "25" },
		{ "smtp+notls", "", "25" }, { "tls", "", "25" },
		{ "smtps", "smtps:", "465" }, { "lmtp", "lmtp ", "24" },
	};
	const char *host = import_word(smtpd->import, url->host);
	uint64_t port;

	for (size_t i = 0; host != NULL && i < sizeof(rows) / sizeof(rows[0]);
	    i++)
		if (slice_is(url->proto, rows[i].theirs)) {
			struct slice number = url->port.n > 0 ? url->port :
			    slice_of(rows[i].port);

			if (!slice_number(number, 1, 65535, &port))
				break;
			return arena_printf(smtpd->import->arena,
			    "%s%s:%llu", rows[i].front, host,
			    (unsigned long long)port);
		}
	import_item_note(smtpd->import, &row->item, IMPORT_MISSING,
	    "it is no relay that is known: write `route * via HOST:PORT` "
	    "(zmailer help route)");
	return NULL;
}

/* " zone NAME" for its own address or name; "" for none. */
static const char *
relay_zone(struct opensmtpd *smtpd, struct opensmtpd_row *row,
    const struct opensmtpd_relay *relay)
{
	const char *helo = import_word(smtpd->import, relay->helo), *name;
	struct import_entries sources = { NULL, 0 };
	struct str items = STR_INIT;

	if (relay->helo.n == 0 && relay->source == NULL)
		return "";
	if (relay->source != NULL && !opensmtpd_entries(smtpd, row,
	    relay->source, &sources))
		return "";
	for (size_t i = 0; i < sources.count; i++)
		str_addf(&items, "source " SLICE_FMT "; ",
		    SLICE_ARG(sources.rows[i].key));
	if (helo != NULL)
		str_addf(&items, "helo %s; ", helo);
	name = import_word(smtpd->import, row->words[1].text);
	if (name == NULL || strspn(name, "abcdefghijklmnopqrstuvwxyz"
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") != strlen(name))
		name = "out";
	if (items.len > 1)
		str_truncate(&items, items.len - 2);
	opensmtpd_say(smtpd, row, IMPORT_ROUTES, "zone %s { %s }", name,
	    items.buf);
	str_release(&items);
	return arena_printf(smtpd->import->arena, " zone %s", name);
}

/* " login LABEL", and the table of passwords. */
static const char *
relay_login(struct opensmtpd *smtpd, struct opensmtpd_row *row,
    const struct opensmtpd_relay *relay, const struct opensmtpd_url *url)
{
	const char *label = import_word(smtpd->import, url->label), *table;

	if (relay->auth.n == 0 || label == NULL)
		return "";
	table = opensmtpd_table(smtpd, row, relay->auth, OPENSMTPD_PASSWORDS);
	if (table == NULL)
		return "";
	if (smtpd->auth_to == NULL)
		opensmtpd_say(smtpd, row, IMPORT_LAST_ROUTES, "auth-to %s",
		    table);
	else if (strcmp(smtpd->auth_to, table) != 0)
		import_item_note(smtpd->import, &row->item, IMPORT_MISSING,
		    "put %s and %s into one table: auth-to is one statement",
		    smtpd->auth_to, table);
	smtpd->auth_to = smtpd->auth_to == NULL ? table : smtpd->auth_to;
	return arena_printf(smtpd->import->arena, " login %s", label);
}

const char *
opensmtpd_via(struct opensmtpd *smtpd, struct opensmtpd_row *action)
{
	struct opensmtpd_relay relay = { .source = NULL };
	struct opensmtpd_url url;
	const char *target = "mx";

	if (action->is_made)
		return action->made;
	action->is_made = true;
	action->at = 3;
	while (action->at < action->count)
		relay_options(smtpd, action, &relay);
	relay_url_cut(relay.url, &url);
	if (relay.domain.n > 0) {
		import_item_note(smtpd->import, &action->item, IMPORT_MISSING,
		    "domain: write `routes <TABLE>`, with `DOMAIN "
		    "[HOST]:PORT` for each of its rows");
		return NULL;
	}
	if (relay.url.n > 0)
		target = relay_target(smtpd, action, &url);
	if (target == NULL)
		return NULL;
	relay_tls(smtpd, action, &relay, &url);
	action->made = arena_printf(smtpd->import->arena, "%s%s%s", target,
	    relay_login(smtpd, action, &relay, &url),
	    relay_zone(smtpd, action, &relay));
	return action->made;
}
