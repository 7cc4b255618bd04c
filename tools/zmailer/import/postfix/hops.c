/* hops.c - where Postfix sends mail, and how it logs in there
 *
 * In     relayhost, transport_maps and their like; sasl passwords, TLS
 * Out    route, routes, auth-to, tls-to, zone
 * Holds  nothing
 * Spec   transport(5); zmailer.conf(5), route
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "grammar/net.h"
#include "grammar/smtp/path.h"
#include "io/unix_socket.h"
#include "tools/zmailer/import/postfix/postfix.h"

#include "base/banned.h"

static const char smtp_from[] = "relayhost smtp_fallback_relay "
    "smtp_tls_wrappermode";

/* "[host]:port" or "host:port": host and port apart. */
static void
hop_cut(struct slice hop, struct slice *out_host, struct slice *out_port)
{
	size_t at = slice_find(hop, ']');

	*out_host = hop;
	if (slice_starts(hop, "[") && at < hop.n) {
		*out_host = (struct slice){ hop.p + 1, at - 1 };
		hop = slice_from(hop, at + 1);
	} else {
		at = slice_find(hop, ':');
		*out_host = slice_first(hop, at);
		hop = slice_from(hop, at);
	}
	*out_port = slice_from(hop, slice_starts(hop, ":"));
	if (slice_is(*out_port, "submission"))
		*out_port = SLICE("587");
	else if (slice_is(*out_port, "smtps") ||
	    slice_is(*out_port, "submissions"))
		*out_port = SLICE("465");
	else if (slice_is(*out_port, "smtp"))
		*out_port = SLICE("25");
}

static bool
hop_is_host(struct slice host)
{
	struct net net;

	return net_parse(host, &net, NULL) == 0 ||
	    (domain_parse(host, NULL) == 0 && host.p[0] != '[');
}

/* HOST of a next hop as target of a route; NULL and a note when it cannot
 * be.  "[host]:port" is a host, "domain" is looked up by MX. */
static const char *
import_hop(struct import *import, struct slice hop)
{
	struct slice host, port;

	if (import_word(import, hop) == NULL)
		return NULL;
	hop_cut(hop, &host, &port);
	if (slice_starts(host, "IPv6:") || slice_starts(host, "ipv6:"))
		host = slice_from(host, 5);
	if (!hop_is_host(host) || !(port.n == 0 || slice_number(port, 1, 65535,
	    &(uint64_t){ 0 })))
		return NULL;
	if (!slice_starts(hop, "[") && port.n == 0)
		return arena_printf(import->arena, "smtp!" SLICE_FMT,
		    SLICE_ARG(host));
	return arena_printf(import->arena, "[" SLICE_FMT "]:" SLICE_FMT,
	    SLICE_ARG(host), SLICE_ARG(port.n > 0 ? port : SLICE("25")));
}

/* "unix:path", "inet:host:port", "host:port". */
static const char *
hop_lmtp(struct import *import, struct slice hop)
{
	struct slice host, port, path;

	if (unix_socket_path(hop, &path))
		return arena_printf(import->arena, "lmtp unix:%s",
		    import_path(import, path));
	if (slice_starts(hop, "inet:"))
		hop = slice_from(hop, 5);
	hop_cut(hop, &host, &port);
	return !hop_is_host(host) ? NULL : arena_printf(import->arena,
	    "lmtp inet:" SLICE_FMT ":" SLICE_FMT, SLICE_ARG(host),
	    SLICE_ARG(port.n > 0 ? port : SLICE("24")));
}

/* The command of a service of master.cf: smtp, pipe, lmtp ...; its name if
 * there is none. */
static struct slice
transport_command(struct import *import, struct slice name)
{
	for (size_t i = 0; i < import->services.count; i++)
		if (slice_equal(import->services.rows[i].name, name) &&
		    !slice_is(import->services.rows[i].type, "inet") &&
		    import->services.rows[i].wrong == NULL)
			return import->services.rows[i].command;
	return slice_is(name, "relay") ? SLICE("smtp") : name;
}

/* The channels of Postfix that are programs of ours. */
static const char *
transport_target(struct import *import, struct slice command,
    struct slice hop)
{
	if (slice_is(command, "smtp"))
		return hop.n == 0 ? "mx" : import_hop(import, hop);
	if (slice_is(command, "lmtp"))
		return hop_lmtp(import, hop);
	if (slice_is(command, "error"))
		return arena_printf(import->arena, "error!%s",
		    import_quote(import, hop.n > 0 ? hop :
		    SLICE("5.0.0 mail is not taken for this address")));
	if (slice_is(command, "retry"))
		return arena_printf(import->arena, "defer %s",
		    import_quote(import, hop.n > 0 ? hop :
		    SLICE("4.0.0 not now")));
	if (slice_is(command, "discard"))
		return "discard";
	return NULL;
}

const char *
import_transport(struct import *import, struct slice value,
    const char **out_why)
{
	size_t at = slice_find(value, ':');
	struct slice name = slice_first(value, at);
	struct slice hop = slice_from(value, at + 1);
	struct slice command = transport_command(import, name);
	const char *target = transport_target(import, name.n == 0 ?
	    SLICE("smtp") : command, hop);

	/* words of error and defer may be any; all others are a word */
	if (target != NULL && strncmp(target, "error!", 6) != 0 &&
	    strncmp(target, "defer ", 6) != 0 && import_word(import,
	    slice_from(slice_of(target), strncmp(target, "lmtp ", 5) == 0 ?
	    5 : 0)) == NULL)
		target = NULL;
	if (target == NULL && slice_is(command, "pipe"))
		*out_why = "a program: write `deliver pipe \"COMMAND\" as "
		    "ACCOUNT` into the block of a domain; master.cf has the "
		    "command after argv=";
	else if (target == NULL && slice_is(command, "local"))
		*out_why = "write `domain` for it: its mail ends here";
	else if (target == NULL)
		*out_why = "no channel here is the same: write `route` with "
		    "one of those of zmailer help route";
	return target;
}

/* ---- tables of routes --------------------------------------------------- */

static const char *
transport_entry(struct import *import, const char *name,
    const struct import_map *map, struct import_entry *entry)
{
	const char *why = "", *target;

	(void)name;
	if (slice_is(entry->key, "*"))
		entry->key = SLICE(".");
	target = import_transport(import, entry->value, &why);
	if (target != NULL && strstr(import->domains.buf, arena_printf(
	    import->arena, " " SLICE_FMT " ", SLICE_ARG(entry->key))) != NULL)
		why = "its mail ends here: write `deliver` into the block of "
		    "that domain";
	if (why[0] != '\0')
		import_entry_note(import, map, entry, IMPORT_MISSING, why);
	return why[0] != '\0' ? NULL : target;
}

void
import_transports(struct import *import, const char *name)
{
	struct slice rest = import_value(import, name);
	struct import_map map;

	while (import_map_next(import, name, &rest, &map)) {
		if (!map.is_lines) {
			import_note(import, name, map.spec, IMPORT_MISSING,
			    "patterns: write `route PATTERN via ...` for "
			    "each, * and ? may stand in it");
			continue;
		}
		import_say(import, IMPORT_ROUTES, name, "routes <%s>",
		    import_map_add(import, name, "transport", &map,
		    transport_entry));
	}
}

static const char *
sender_entry(struct import *import, const char *name,
    const struct import_map *map, struct import_entry *entry)
{
	const char *target = slice_is(entry->value, "DUNNO") ? NULL :
	    import_hop(import, entry->value);

	(void)name;
	if (target == NULL)
		import_entry_note(import, map, entry, IMPORT_MISSING,
		    "it is no [HOST]:PORT or DOMAIN");
	return target;
}

void
import_sender_relays(struct import *import, const char *name)
{
	const char *tables;
	struct slice rest, one;

	tables = import_maps_add(import, name, "sender-relays", sender_entry);
	rest = slice_of(tables);
	while (slice_word(&rest, &one))
		import_say(import, IMPORT_LAST_ROUTES, name,
		    "routes " SLICE_FMT " by sender", SLICE_ARG(one));
}

/* " else HOST" of smtp_fallback_relay; "" if there is none. */
static const char *
relay_else(struct import *import)
{
	struct slice rest = import_value(import, "smtp_fallback_relay"), one;
	struct str text = STR_INIT;
	const char *out;

	while (import_list_next(&rest, &one)) {
		const char *target = import_hop(import, one);

		if (target != NULL && target[0] == '[')
			str_addf(&text, " else %s", target);
		else
			import_note(import, "smtp_fallback_relay", one,
			    IMPORT_MISSING, "write `else HOST:PORT` after "
			    "the last route");
	}
	out = slice_dup(import->arena, str_slice(&text));
	str_release(&text);
	return out;
}

void
import_relayhost(struct import *import, const char *name)
{
	const char *other = relay_else(import), *target;
	struct slice hop = import_value(import, name);

	if (hop.n == 0 && other[0] != '\0')
		import_say(import, IMPORT_LAST_ROUTES, smtp_from,
		    "route * via mx%s", other);
	if (hop.n == 0)
		return;
	target = import_hop(import, hop);
	if (target == NULL) {
		import_note(import, name, SLICE(""), IMPORT_MISSING,
		    "it is no [HOST]:PORT or DOMAIN: write `route * via "
		    "HOST:PORT`");
		return;
	}
	if (target[0] == '[') {
		import_say(import, IMPORT_LAST_ROUTES, smtp_from,
		    "route * via %s%s%s", import_is_yes(import,
		    "smtp_tls_wrappermode") ? "smtps:" : "", target, other);
		return;
	}
	if (import_is_yes(import, "smtp_tls_wrappermode"))
		import_note(import, "smtp_tls_wrappermode", SLICE(""),
		    IMPORT_MISSING, "write `route * via smtps:HOST`, with the "
		    "host itself");
	import_say(import, IMPORT_TABLES, name,
	    "table relayhost { . %s%s }", target, other);
	import_say(import, IMPORT_LAST_ROUTES,
	    "relayhost smtp_fallback_relay", "routes <relayhost>");
}

/* ---- logging in --------------------------------------------------------- */

/* [HOST]:PORT USER:PASSWORD becomes HOST USER PASSWORD. */
static const char *
password_entry(struct import *import, const char *name,
    const struct import_map *map, struct import_entry *entry)
{
	size_t at = slice_find(entry->value, ':');
	struct slice user = slice_first(entry->value, at), port;
	struct slice password = slice_from(entry->value, at + 1);

	(void)name;
	/* the words are said nowhere */
	if (slice_find(entry->key, '@') < entry->key.n || user.n == 0 ||
	    password.n == 0 || slice_find(entry->value, ' ') <
	    entry->value.n || slice_find(entry->value, '\t') <
	    entry->value.n) {
		entry->value = SLICE("");
		import_entry_note(import, map, entry, IMPORT_MISSING,
		    "a sender's own login, or a blank in it: write it into "
		    "the table of auth-to, and `login NAME` after the route");
		return NULL;
	}
	hop_cut(entry->key, &entry->key, &port);
	return arena_printf(import->arena, SLICE_FMT " " SLICE_FMT,
	    SLICE_ARG(user), SLICE_ARG(password));
}

void
import_passwords(struct import *import, const char *name)
{
	static const char from[] = "smtp_sasl_auth_enable "
	    "smtp_sasl_password_maps";
	struct slice level = import_value(import, "smtp_tls_security_level");
	const char *tables;

	if (!import_is_yes(import, name))
		return;
	tables = import_maps_add(import, "smtp_sasl_password_maps",
	    "auth-to", password_entry);
	if (tables[0] == '\0')
		return;
	import_say(import, IMPORT_LAST_ROUTES, from, "auth-to " SLICE_FMT,
	    SLICE_ARG(slice_first(slice_of(tables), slice_find(slice_of(
	    tables), ' '))));
	if (strchr(tables, ' ') != NULL)
		import_note(import, "smtp_sasl_password_maps", SLICE(""),
		    IMPORT_MISSING, "put %s into one table", tables);
	if (level.n == 0 || slice_is(level, "none"))
		import_note(import, name, SLICE(""), IMPORT_DIFFERS,
		    "names and passwords go under TLS only, unless auth-to "
		    "says unencrypted");
}

/* ---- TLS ---------------------------------------------------------------- */

/* Postfix's level as ours; NULL: there is none. */
static const char *
tls_level_of(struct slice level)
{
	static const struct { const char *theirs, *ours; } rows[] = {
		{ "none", "none" }, { "may", "may" },
		{ "encrypt", "encrypt" }, { "verify", "verify" },
		{ "secure", "verify" }, { "dane", "dane" },
		{ "dane-only", "dane-only" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (slice_is(level, rows[i].theirs))
			return rows[i].ours;
	return NULL;
}

void
import_tls_policies(struct import *import, const char *name)
{
	struct slice rest = import_value(import, name), host, port, level;
	struct import_map map;

	while (import_map_next(import, name, &rest, &map))
		for (size_t i = 0; i < map.entries.count; i++) {
			struct import_entry *entry = &map.entries.rows[i];
			struct slice words = entry->value;
			const char *ours, *word;

			hop_cut(entry->key, &host, &port);
			word = import_word(import, host);
			ours = slice_word(&words, &level) ?
			    tls_level_of(level) : NULL;
			if (!map.is_lines || ours == NULL || word == NULL ||
			    slice_trim(words).n > 0)
				import_entry_note(import, &map, entry,
				    IMPORT_MISSING, "write `tls-to PATTERN "
				    "LEVEL name NAME` (zmailer help tls-to)");
			else
				import_say(import, IMPORT_ROUTES, name,
				    "tls-to %s %s", word, ours);
		}
}

void
import_tls_level(struct import *import, const char *name)
{
	struct slice level = import_value(import, name);
	const char *ours = tls_level_of(level);

	if (!import_is_set(import, name) && import_is_yes(import,
	    "smtp_enforce_tls")) {
		name = "smtp_enforce_tls";
		level = SLICE("encrypt");
		ours = "encrypt";
	}
	if (level.n == 0)
		return;
	if (slice_is(level, "may") || slice_is(level, "dane"))
		import_note(import, name, SLICE(""), IMPORT_NOT_NEEDED,
		    "TLS is used wherever it is offered, with TLSA records "
		    "where a resolver on loopback vouches for them");
	else if (ours == NULL)
		import_note(import, name, SLICE(""), IMPORT_MISSING,
		    "write `tls-to * LEVEL` (zmailer help tls-to)");
	else
		import_say(import, IMPORT_LAST_ROUTES, name, "tls-to * %s",
		    ours);
}

void
import_bind_address(struct import *import, const char *name)
{
	const char *four = import_word(import, import_value(import, name));
	const char *six = import_word(import, import_value(import,
	    "smtp_bind_address6"));
	const char *helo = import_word(import, import_value(import,
	    "smtp_helo_name"));

	if (helo != NULL && slice_equal(slice_of(helo), import_value(import,
	    "myhostname")))
		helo = NULL;
	if (four == NULL && six == NULL) {
		if (helo != NULL)
			import_say(import, IMPORT_LAST_ROUTES,
			    "smtp_helo_name", "zone out { helo %s }", helo);
		return;
	}
	import_say(import, IMPORT_LAST_ROUTES,
	    "smtp_bind_address smtp_bind_address6 smtp_helo_name",
	    "zone out { %s%s%s%s%s%s }", four == NULL ? "" : "source ",
	    four == NULL ? "" : four, six == NULL ? "" : four == NULL ?
	    "source " : "; source ", six == NULL ? "" : six,
	    helo == NULL ? "" : "; helo ", helo == NULL ? "" : helo);
}
