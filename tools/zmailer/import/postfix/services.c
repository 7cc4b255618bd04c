/* services.c - master.cf: what runs, and what it is told besides
 *
 * In     the services that were read
 * Out    which listeners there are; a finding for each service and each -o
 * Holds  nothing
 * Spec   master(5)
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdarg.h>
#include <string.h>

#include "tools/zmailer/import/postfix/postfix.h"

#include "base/banned.h"

static void service_note(struct import *import,
    const struct import_service *service, const char *value,
    enum import_kind kind, const char *format, ...)
	__attribute__((format(printf, 5, 6)));

static void
service_note(struct import *import, const struct import_service *service,
    const char *value, enum import_kind kind, const char *format, ...)
{
	struct import_finding finding = { .file = "master.cf",
	    .line = service->line, .kind = kind, .statement = -1 };
	char text[1024];
	va_list args;

	va_start(args, format);
	(void)vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	finding.name = arena_printf(import->arena, SLICE_FMT "%s" SLICE_FMT,
	    SLICE_ARG(service->name), service->type.n > 0 ? "/" : "",
	    SLICE_ARG(service->type));
	finding.value = value;
	finding.text = arena_printf(import->arena, "%s", text);
	import_find(import, &finding);
}

/* ---- -o NAME=VALUE ------------------------------------------------------ */

static const struct import_told override_rows[] = {
	{ "syslog_name", IMPORT_NOT_NEEDED, "the journal names the listener" },
	{ "smtpd_tls_security_level", IMPORT_NOT_NEEDED,
	    "on ports for users TLS is wanted" },
	{ "smtpd_tls_wrappermode", IMPORT_NOT_NEEDED,
	    "the word tls of the listener" },
	{ "smtpd_tls_auth_only", IMPORT_NOT_NEEDED,
	    "passwords never go in the clear" },
	{ "smtpd_sasl_auth_enable", IMPORT_NOT_NEEDED,
	    "AUTH is offered on ports for users" },
	{ "milter_macro_daemon_name", IMPORT_NOT_NEEDED,
	    "milters are told it" },
	{ "smtpd_reject_unlisted_recipient", IMPORT_DIFFERS,
	    "recipients are looked up on each listener: listen ... verify "
	    "off" },
	{ "local_header_rewrite_clients", IMPORT_NOT_NEEDED,
	    "headers of our own mail alone are changed" },
	{ "smtp_fallback_relay", IMPORT_NOT_NEEDED,
	    "relaying takes the same routes" },
	{ "smtp_helo_timeout", IMPORT_DIFFERS, "write `timeout helo SPAN`" },
};
/* On a port for users, only those who logged in may send. */
static const char *const user_lists[] = { "smtpd_client_restrictions",
	"smtpd_helo_restrictions", "smtpd_sender_restrictions",
	"smtpd_recipient_restrictions", "smtpd_relay_restrictions",
	"smtpd_data_restrictions", "smtpd_end_of_data_restrictions" };

/* Are they only permits, reject and nothing, as in Postfix's own file? */
static bool
override_is_users(struct import *import, struct slice value)
{
	struct slice rest, word;

	rest = import_fill(import, value, NULL);
	while (import_list_next(&rest, &word))
		if (!slice_is(word, "permit_sasl_authenticated") &&
		    !slice_is(word, "reject") &&
		    !slice_is(word, "permit_mynetworks") &&
		    !slice_is(word, "defer_unauth_destination") &&
		    !slice_is(word, "reject_unauth_destination"))
			return false;
	return true;
}

static void
override_find(struct import *import, const struct import_service *service,
    struct slice pair, bool is_users)
{
	size_t at = slice_find(pair, '=');
	struct slice name = slice_trim(slice_first(pair, at));
	const struct import_told *told = import_told_of(override_rows,
	    sizeof(override_rows) / sizeof(override_rows[0]), name);
	const char *text = arena_printf(import->arena, "-o " SLICE_FMT,
	    SLICE_ARG(pair));

	if (told != NULL) {
		service_note(import, service, text, told->kind, "%s",
		    told->text);
		return;
	}
	for (size_t i = 0; is_users && i < sizeof(user_lists) /
	    sizeof(user_lists[0]); i++)
		if (slice_is(name, user_lists[i]) && override_is_users(import,
		    slice_trim(slice_from(pair, at + 1)))) {
			service_note(import, service, text,
			    IMPORT_NOT_NEEDED, "on a port for users only who "
			    "logged in may send");
			return;
		}
	service_note(import, service, text, IMPORT_MISSING, "settings for "
	    "one service: write rules with `listener`, schedule clauses or "
	    "zones");
}

/* Is it told NAME=yes? */
static bool
override_is(const struct import_service *service, const char *name)
{
	struct slice rest = service->arguments, word;

	while (import_word_next(&rest, &word))
		if (slice_starts(word, name) && slice_is(slice_from(word,
		    strlen(name)), "=yes"))
			return true;
	return false;
}

static void
overrides_visit(struct import *import, const struct import_service *service,
    bool is_users)
{
	struct slice rest = service->arguments, word;

	while (import_word_next(&rest, &word)) {
		if (!slice_is(word, "-o")) {
			if (slice_is(word, "-v"))
				continue;
			service_note(import, service, slice_dup(
			    import->arena, word), IMPORT_MISSING,
			    "this word of its command is not known");
			continue;
		}
		if (import_word_next(&rest, &word))
			override_find(import, service, word, is_users);
	}
}

/* ---- listeners ---------------------------------------------------------- */

/* ADDRESS:PORT, PORT or a name: its port as a number, 0: none known. */
static unsigned
service_port(struct slice name, struct slice *out_address)
{
	size_t at = name.n;

	while (at > 0 && name.p[at - 1] != ':')
		at--;
	*out_address = slice_first(name, at > 0 ? at - 1 : 0);
	return import_port(slice_from(name, at));
}

/* A port of its own, or an address of its own. */
static void
own_listener_add(struct import *import, const struct import_service *service,
    struct slice address, unsigned port, bool is_tls)
{
	bool is_users = port == 587 || is_tls ||
	    override_is(service, "smtpd_sasl_auth_enable");
	const char *word = import_word(import, address);
	int at;

	if (is_tls && !import->has_certificate) {
		service_note(import, service, "smtpd", IMPORT_MISSING,
		    "it needs a certificate: zmailer cert install FILE KEY, "
		    "then `listen %u submission tls`", port);
		return;
	}
	if (address.n > 0 && (word == NULL || strspn(word,
	    "0123456789abcdefABCDEF.:[]") != strlen(word))) {
		service_note(import, service, "smtpd", IMPORT_MISSING,
		    "write its address: listen ADDRESS:%u", port);
		return;
	}
	at = import_say(import, IMPORT_LISTEN, "", "listen %s%s%u%s%s",
	    word == NULL ? "" : word, word == NULL ? "" : ":", port,
	    is_users ? " submission" : "", is_tls ? " tls" : "");
	service_note(import, service, "smtpd", IMPORT_TAKEN, "listen");
	import->findings[import->finding_count - 1].statement = at;
	overrides_visit(import, service, is_users);
}

static bool
service_is_filter(const struct import_service *service)
{
	struct slice rest = service->arguments, word;

	while (import_word_next(&rest, &word))
		if (slice_starts(word, "content_filter") ||
		    slice_starts(word, "receive_override_options"))
			return true;
	return false;
}

static void
listener_visit(struct import *import, const struct import_service *service)
{
	struct slice address;
	unsigned port = service_port(service->name, &address);
	bool is_tls = override_is(service, "smtpd_tls_wrappermode") ||
	    port == 465;

	import->has_login |= override_is(service, "smtpd_sasl_auth_enable");
	if (service_is_filter(service) || port == 0) {
		service_note(import, service, "smtpd", IMPORT_MISSING,
		    port == 0 ? "a service that /etc/services knows: write "
		    "`listen PORT`" : "a content filter's way back: filters "
		    "are asked by milter (zmailer help milter, "
		    "content-filter)");
		overrides_visit(import, service, false);
		return;
	}
	if (address.n > 0 || (port != 25 && port != 587 && port != 465) ||
	    (is_tls && !import->has_certificate)) {
		own_listener_add(import, service, address, port, is_tls);
		return;
	}
	import->has_smtp |= port == 25;
	import->has_submission |= port == 587;
	import->has_submissions |= port == 465;
	service_note(import, service, "smtpd", IMPORT_TAKEN,
	    "listen %u, at the addresses of inet_interfaces", port);
	import->findings[import->finding_count - 1].port = port;
	overrides_visit(import, service, port != 25);
}

/* ---- all others --------------------------------------------------------- */

static const char *const built_in[] = { "pickup", "cleanup", "qmgr", "oqmgr",
	"nqmgr", "tlsmgr", "trivial-rewrite", "bounce", "flush", "proxymap",
	"smtp", "showq", "error", "local", "virtual", "lmtp", "anvil",
	"scache", "postlogd", "verify", "discard" };

static bool
service_is_named(struct import *import, struct slice name)
{
	const char *word = arena_printf(import->arena, SLICE_FMT ":",
	    SLICE_ARG(name));

	for (size_t i = 0; i < import->settings.count; i++)
		if (strstr(slice_dup(import->arena,
		    import->settings.rows[i].value), word) != NULL)
			return true;
	return false;
}

static void
service_visit(struct import *import, const struct import_service *service)
{
	struct slice command = service->command;

	if (service->wrong != NULL) {
		service_note(import, service, "", IMPORT_MISSING, "%s",
		    service->wrong);
		return;
	}
	if (slice_is(service->type, "inet") && slice_is(command, "smtpd")) {
		listener_visit(import, service);
		return;
	}
	if (slice_is(command, "pipe")) {
		bool is_named = service_is_named(import, service->name);

		service_note(import, service, "pipe", is_named ?
		    IMPORT_MISSING : IMPORT_NOT_NEEDED, is_named ?
		    "a program: write `deliver pipe \"COMMAND\" as ACCOUNT` "
		    "into the block of a domain; the command stands after "
		    "argv=" : "main.cf names it nowhere; a table of routes "
		    "that does says so");
		return;
	}
	for (size_t i = 0; i < sizeof(built_in) / sizeof(built_in[0]); i++)
		if (slice_is(command, built_in[i])) {
			service_note(import, service, built_in[i],
			    IMPORT_NOT_NEEDED, "smtpserver, router, scheduler "
			    "and its agents do it");
			overrides_visit(import, service, false);
			return;
		}
	service_note(import, service, slice_dup(import->arena, command),
	    IMPORT_MISSING, slice_is(command, "postscreen") ? "write dnsbl "
	    "with `reject listed`, greet-pause, greylist, and `listen 25`" :
	    "no program here does the same");
}

void
import_services_visit(struct import *import)
{
	for (size_t i = 0; i < import->services.count; i++)
		service_visit(import, &import->services.rows[i]);
	/* a main.cf alone is that of a server */
	if (import->services.count == 0)
		import->has_smtp = true;
}
