/* transports.c - how Exim delivers, as deliver, mailbox and via
 *
 * In     transports that routers name
 * Out    words of a domain's block and of a route; mailbox, zone, tls-to, sign
 * Holds  nothing
 * Spec   the Exim specification, chapters 26 to 30; zmailer.conf(5)
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>
#include <unistd.h>

#include "grammar/net.h"
#include "tools/zmailer/import/exim/exim4.h"

#include "base/banned.h"

const char *
exim4_place(struct exim4 *exim, struct slice path)
{
	static const struct { const char *theirs, *ours; } rows[] = {
		{ "$home", "{home}" }, { "$local_part", "{user}" },
		{ "$domain", "{domain}" },
	};
	struct str out = STR_INIT;
	const char *text = NULL;

	path = exim4_plain(exim->import->arena, path);
	while (path.n > 0) {
		size_t i = 0;

		while (i < 3 && !slice_starts(path, rows[i].theirs))
			i++;
		if (i == 3 && import_word(exim->import, slice_first(path, 1)) ==
		    NULL)
			break;
		if (i < 3)
			str_adds(&out, rows[i].ours);
		else
			str_addc(&out, path.p[0]);
		path = slice_from(path, i < 3 ? strlen(rows[i].theirs) : 1);
	}
	if (path.n == 0 && out.len > 0)
		text = slice_dup(exim->import->arena, str_slice(&out));
	str_release(&out);
	return text;
}

static struct exim4_driver *
transport_of(struct exim4 *exim, const struct exim4_driver *router)
{
	return exim4_driver_of(exim, EXIM4_TRANSPORTS, exim4_value(exim,
	    router, "transport"));
}

/* ---- mailboxes ---------------------------------------------------------- */

/* The account that delivers, if it is not each user's own. */
static const char *
transport_account(struct exim4 *exim, const struct exim4_driver *router,
    const struct exim4_driver *transport)
{
	struct slice user = exim4_value(exim, transport, "user");

	(void)exim4_option(exim, transport, "group");
	if (user.n == 0)
		user = exim4_value(exim, router, "user");
	return slice_find(user, '$') < user.n ? NULL : import_word(
	    exim->import, user);
}

static const char *
transport_mailbox(struct exim4 *exim, struct exim4_driver *router,
    struct exim4_driver *transport)
{
	struct slice directory = exim4_value(exim, transport, "directory");
	bool is_maildir = directory.n > 0;
	const char *path = exim4_place(exim, is_maildir ? directory :
	    exim4_value(exim, transport, "file"));
	const char *account = exim4_flag(exim, router, "check_local_user") ?
	    NULL : transport_account(exim, router, transport), *text;
	size_t n = path == NULL ? 0 : strlen(path);

	(void)exim4_flag(exim, transport, "maildir_format");
	while (n > 1 && path[n - 1] == '/')
		n--;
	if (path == NULL) {
		router->why = "transport: no place here is written like "
		    "that: write `mailbox maildir PATH` (zmailer help "
		    "mailbox)";
		return NULL;
	}
	text = arena_printf(exim->import->arena, "mailbox %s %.*s%s%s",
	    is_maildir ? "maildir" : "mbox", (int)n, path, account == NULL ?
	    "" : " as ", account == NULL ? "" : account);
	if (exim->mailbox == NULL) {
		exim->mailbox = text;
		exim->mailbox_at = import_say_once(exim->import,
		    IMPORT_DELIVERY, text);
	}
	if (strcmp(exim->mailbox, text) != 0) {
		router->why = arena_printf(exim->import->arena, "mailbox is "
		    "one statement, and another router has it: give the "
		    "domains of this one `deliver lmtp unix:/PATH`; it was "
		    "`%s`", text);
		return NULL;
	}
	transport->statement = exim->mailbox_at;
	return "";
}

static const char *
transport_pipe(struct exim4 *exim, struct exim4_driver *router,
    struct exim4_driver *transport)
{
	struct slice command = exim4_value(exim, transport, "command");
	const char *account = transport_account(exim, router, transport);

	if (command.n == 0 || slice_find(command, '$') < command.n ||
	    slice_find(command, '"') < command.n || account == NULL) {
		router->why = "transport: write `deliver pipe \"COMMAND\" as "
		    "ACCOUNT` into the domain's block; the address is in "
		    "RECIPIENT. As each user: a .forward with \"|COMMAND\"";
		return NULL;
	}
	return arena_printf(exim->import->arena, "deliver pipe \"%s\" as %s",
	    import_quote(exim->import, command), account);
}

static const char *
transport_lmtp(struct exim4 *exim, struct exim4_driver *router,
    struct exim4_driver *transport, bool is_smtp)
{
	const char *socket = import_word(exim->import, exim4_value(exim,
	    transport, "socket"));
	const char *via = is_smtp ? exim4_via(exim, router, exim4_value(exim,
	    transport, "hosts")) : NULL;

	if (socket == NULL && (via == NULL || strchr(via + 5, ' ') != NULL)) {
		router->why = "transport: write `deliver lmtp unix:/PATH` or "
		    "`deliver lmtp HOST:PORT` into the domain's block";
		return NULL;
	}
	return socket != NULL ? arena_printf(exim->import->arena,
	    "deliver lmtp unix:%s", socket) : arena_printf(
	    exim->import->arena, "deliver %s", via);
}

const char *
exim4_deliver(struct exim4 *exim, struct exim4_driver *router)
{
	struct exim4_driver *transport = transport_of(exim, router);
	struct slice driver;

	if (transport == NULL) {
		router->why = "transport: there is no such transport: write "
		    "`deliver` into the domain's block";
		return NULL;
	}
	driver = exim4_value(exim, transport, "driver");
	if (slice_is(driver, "appendfile"))
		return transport_mailbox(exim, router, transport);
	if (slice_is(driver, "pipe"))
		return transport_pipe(exim, router, transport);
	if (slice_is(driver, "lmtp") || slice_is(driver, "smtp"))
		return transport_lmtp(exim, router, transport, slice_is(driver,
		    "smtp"));
	router->why = slice_is(driver, "autoreply") ? "transport: it answers "
	    "mail: let Sieve do it (vacation, with Dovecot's LMTP), or a "
	    "program in a .forward" : "transport: no transport of this "
	    "driver is known here: write `deliver` (zmailer help deliver)";
	return NULL;
}

/* ---- next hops ---------------------------------------------------------- */

/* " zone NAME" for its own address or name; "" for none. */
static const char *
via_zone(struct exim4 *exim, struct exim4_driver *transport)
{
	const char *source, *helo, *name;

	if (transport == NULL)
		return "";
	source = import_word(exim->import, exim4_value(exim, transport,
	    "interface"));
	helo = import_domain(exim->import, exim4_filled(exim, exim4_value(
	    exim, transport, "helo_data")));
	name = slice_dup(exim->import->arena, transport->name);
	if (helo != NULL && strcmp(helo, exim->host) == 0)
		helo = NULL;
	if (source == NULL && helo == NULL)
		return "";
	(void)import_say_once(exim->import, IMPORT_ROUTES, arena_printf(
	    exim->import->arena, "zone %s { %s%s%s%s%s }", name, source ==
	    NULL ? "" : "source ", source == NULL ? "" : source, source !=
	    NULL && helo != NULL ? "; " : "", helo == NULL ? "" : "helo ",
	    helo == NULL ? "" : helo));
	return arena_printf(exim->import->arena, " zone %s", name);
}

/* The port of a transport, or of its protocol. */
static struct slice
via_port(struct exim4 *exim, const struct exim4_driver *transport,
    struct slice protocol)
{
	struct slice port = transport == NULL ? SLICE("") : exim4_value(exim,
	    transport, "port");

	if (slice_is(port, "smtp"))
		return SLICE("25");
	if (slice_is(port, "submission"))
		return SLICE("587");
	if (slice_is(port, "smtps") || slice_is(port, "submissions"))
		return SLICE("465");
	if (port.n > 0)
		return port;
	return slice_is(protocol, "smtps") ? SLICE("465") :
	    slice_is(protocol, "lmtp") ? SLICE("24") : SLICE("25");
}

/* One host of a list: NAME, NAME:PORT, [ADDRESS]:PORT. */
static const char *
via_host(struct exim4 *exim, struct slice item, struct slice port,
    const char *front)
{
	struct slice host = slice_first(item, slice_find(item, '/'));
	size_t colon = slice_find(host, ':');
	struct net net;
	uint64_t number;
	const char *name;

	if (slice_starts(host, "[")) {
		colon = slice_find(host, ']');
		port = slice_starts(slice_from(host, colon), "]:") ?
		    slice_from(host, colon + 2) : port;
		host = (struct slice){ host.p + 1, colon - 1 };
	} else if (colon < host.n && net_parse(host, &net, NULL) != 0) {
		port = slice_from(host, colon + 1);
		host = slice_first(host, colon);
	}
	if (!slice_number(port, 1, 65535, &number) || host.n == 0)
		return NULL;
	if (net_parse(host, &net, NULL) == 0)
		return arena_printf(exim->import->arena, "%s[" SLICE_FMT
		    "]:%llu", front, SLICE_ARG(host),
		    (unsigned long long)number);
	name = import_domain(exim->import, host);
	if (name == NULL || name[0] == '.')
		return NULL;
	return arena_printf(exim->import->arena, "%s%s:%llu", front, name,
	    (unsigned long long)number);
}

/* Does the transport log in at that host? */
static bool
via_logs_in(struct exim4 *exim, const struct exim4_driver *transport,
    const char *host)
{
	static const char *const names[] = { "hosts_require_auth",
		"hosts_try_auth" };

	for (size_t i = 0; transport != NULL && i < 2; i++) {
		struct slice hosts = exim4_value(exim, transport, names[i]);

		if (slice_find(hosts, '$') < hosts.n || (hosts.n > 0 &&
		    exim4_set_has(exim4_set_of(exim, "hostlist", hosts),
		    host)))
			return true;
	}
	return false;
}

/* A host of a route that wants a password is remembered. */
static void
via_remember(struct exim4 *exim, const struct exim4_driver *transport,
    const char *via)
{
	struct slice name = slice_of(via);

	name = slice_from(name, slice_starts(name, "smtps:") ? 6 : 0);
	name = slice_starts(name, "[") ? (struct slice){ name.p + 1,
	    slice_find(name, ']') - 1 } : slice_first(name, slice_find(name,
	    ':'));
	if (via_logs_in(exim, transport, slice_dup(exim->import->arena,
	    name)))
		str_addf(&exim->relays, " " SLICE_FMT " ", SLICE_ARG(name));
}

const char *
exim4_via(struct exim4 *exim, struct exim4_driver *router, struct slice hosts)
{
	struct exim4_driver *transport = transport_of(exim, router);
	struct slice protocol = transport == NULL ? SLICE("") : exim4_value(
	    exim, transport, "protocol"), item;
	const char *front = slice_is(protocol, "smtps") ? "smtps:" :
	    slice_is(protocol, "lmtp") ? "lmtp " : "", *host, *out = NULL;
	struct str text = STR_INIT;
	struct exim4_list list;
	bool is_good = true;

	exim4_list_begin(exim4_filled(exim, hosts), &list);
	while (is_good && exim4_list_next(exim->import->arena, &list,
	    &item)) {
		if (slice_is(item, "+") || item.n == 0)
			continue;
		host = via_host(exim, item, via_port(exim, transport,
		    protocol), front);
		is_good = host != NULL;
		if (is_good)
			via_remember(exim, transport, host);
		str_addf(&text, "%s%s", text.len > 0 ? " else " : "",
		    is_good ? host : "");
	}
	if (is_good && text.len > 0)
		out = arena_printf(exim->import->arena, "%s%s", text.buf,
		    via_zone(exim, transport));
	else
		router->why = "it names no host that is known when it is "
		    "read: write `route PATTERN via HOST:PORT`";
	str_release(&text);
	return out;
}

const char *
exim4_via_mx(struct exim4 *exim, struct exim4_driver *router)
{
	return arena_printf(exim->import->arena, "mx%s", via_zone(exim,
	    transport_of(exim, router)));
}

/* ---- what else holds for them ------------------------------------------- */

static void
smtp_sign(struct exim4 *exim, struct exim4_driver *transport)
{
	struct exim4_row *row = exim4_option(exim, transport, "dkim_domain");
	struct exim4_row *key = exim4_option(exim, transport,
	    "dkim_private_key");
	struct exim4_row *selector = exim4_option(exim, transport,
	    "dkim_selector");
	const char *domain, *path, *name;

	if (row == NULL || row->item.is_told)
		return;
	domain = import_domain(exim->import, exim4_filled(exim, row->value));
	path = key == NULL ? NULL : import_word(exim->import, slice_of(
	    import_file_here(exim->import, key->value)));
	name = selector == NULL ? NULL : import_word(exim->import,
	    selector->value);
	if (domain == NULL || path == NULL || name == NULL ||
	    access(path, F_OK) != 0) {
		exim4_note(exim, row, IMPORT_MISSING, "write `sign DOMAIN "
		    "selector NAME key FILE` for each domain, with keys that "
		    "are there");
		return;
	}
	exim4_say(exim, row, IMPORT_DELIVERY, "sign %s selector %s key %s",
	    domain, name, path);
}

/* "*" or what else a list of hosts has. */
static bool
smtp_all(struct exim4 *exim, const struct exim4_driver *transport,
    const char *name)
{
	return slice_is(exim4_value(exim, transport, name), "*");
}

void
exim4_transport_smtp(struct exim4 *exim, struct exim4_driver *router,
    const char *pattern)
{
	struct exim4_driver *transport = transport_of(exim, router);
	const char *level = NULL;

	if (transport == NULL)
		return;
	transport->is_walked = true;
	if (smtp_all(exim, transport, "hosts_avoid_tls"))
		level = "none";
	else if (smtp_all(exim, transport, "hosts_require_tls"))
		level = smtp_all(exim, transport, "tls_verify_hosts") ||
		    smtp_all(exim, transport, "hosts_require_dane") ?
		    "verify" : "encrypt";
	else if (smtp_all(exim, transport, "hosts_require_dane"))
		level = "dane-only";
	if (level != NULL && strcmp(pattern, "*") == 0)
		transport->differs = "tls-to * holds for the mail of all "
		    "routers; write `tls-to DOMAIN LEVEL` before it for "
		    "others";
	if (level != NULL)
		(void)import_say_once(exim->import, strcmp(pattern, "*") ==
		    0 ? IMPORT_LAST_ROUTES : IMPORT_ROUTES, arena_printf(
		    exim->import->arena, "tls-to %s %s", pattern, level));
	smtp_sign(exim, transport);
	exim4_generic(exim, transport);
}
