/* options.c - settings before the first begin
 *
 * In     NAME = VALUE of the main section
 * Out    host, listen, tls, size, limits; what they differ in
 * Holds  nothing
 * Spec   the Exim specification, chapter 14; zmailer.conf(5)
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>
#include <unistd.h>

#include "grammar/net.h"
#include "grammar/units.h"
#include "tools/zmailer/import/exim/exim4.h"

#include "base/banned.h"

void
exim4_host(struct exim4 *exim)
{
	struct exim4_row *row = exim4_main(exim, "primary_hostname");
	const char *name = row == NULL ? NULL : import_domain(exim->import,
	    row->value);

	exim->host = name;
	if (name != NULL)
		exim4_say(exim, row, IMPORT_SITE, "host %s", name);
	else if (row != NULL)
		exim4_note(exim, row, IMPORT_MISSING, "write `host NAME` "
		    "with what it comes to");
	if (name == NULL)
		exim->host = import_host_say(exim->import);
}

/* ---- listeners ---------------------------------------------------------- */

static bool
port_is_tls(struct exim4 *exim, unsigned port)
{
	struct exim4_row *row = exim4_main(exim, "tls_on_connect_ports");
	struct exim4_list list;
	struct slice item;

	if (row == NULL)
		return false;
	exim4_list_begin(row->value, &list);
	while (exim4_list_next(exim->import->arena, &list, &item))
		if (import_port(item) == port)
			return true;
	return false;
}

static void
listen_port_say(struct exim4 *exim, struct exim4_row *row, const char *address,
    unsigned port)
{
	const char *text = arena_printf(exim->import->arena, "listen %s%u%s%s",
	    address, port, port == 587 || port == 465 ? " submission" : "",
	    port_is_tls(exim, port) ? " tls" : "");

	if (port_is_tls(exim, port) && exim4_main(exim, "tls_certificate") ==
	    NULL) {
		if (row != NULL)
			exim4_note(exim, row, IMPORT_MISSING, "it needs a "
			    "certificate: zmailer cert install FILE KEY, then "
			    "`%s`", text);
	} else if (row != NULL)
		exim4_say(exim, row, IMPORT_LISTEN, "%s", text);
	else
		(void)import_say_once(exim->import, IMPORT_LISTEN, text);
}

/* Each of its ports at this address ("" for all). */
static void
listen_ports(struct exim4 *exim, struct exim4_row *row, const char *address)
{
	struct exim4_row *ports = exim4_main(exim, "daemon_smtp_ports");
	struct exim4_list list;
	struct slice item;

	if (ports == NULL)
		ports = exim4_main(exim, "daemon_smtp_port");
	exim4_list_begin(ports == NULL ? SLICE("25") : ports->value, &list);
	while (exim4_list_next(exim->import->arena, &list, &item)) {
		if (import_port(item) != 0)
			listen_port_say(exim, ports != NULL ? ports : row,
			    address, import_port(item));
		else if (ports != NULL)
			exim4_note(exim, ports, IMPORT_MISSING, SLICE_FMT
			    " is no port: write `listen PORT`",
			    SLICE_ARG(item));
	}
}

/* ADDRESS, [ADDRESS]:PORT, ADDRESS.PORT */
static void
listen_interface(struct exim4 *exim, struct exim4_row *row, struct slice item)
{
	struct slice port = SLICE("");
	struct net net;

	if (slice_starts(item, "[")) {
		port = slice_from(item, slice_find(item, ']') + 2);
		item = (struct slice){ item.p + 1, slice_find(item, ']') -
		    1 };
	}
	if (slice_is(item, "0.0.0.0") || slice_is(item, "::0")) {
		listen_ports(exim, row, slice_is(item, "::0") ? "[::]:" :
		    "0.0.0.0:");
		if (!row->item.is_told)
			exim4_note(exim, row, IMPORT_NOT_NEEDED,
			    "the ports say it");
		return;
	}
	if (net_parse(item, &net, NULL) != 0 || slice_find(item, '/') <
	    item.n || (port.n > 0 && import_port(port) == 0)) {
		exim4_note(exim, row, IMPORT_MISSING, SLICE_FMT ": write "
		    "`listen ADDRESS:PORT`", SLICE_ARG(item));
		return;
	}
	const char *address = arena_printf(exim->import->arena,
	    slice_find(item, ':') < item.n ? "[" SLICE_FMT "]:" : SLICE_FMT
	    ":", SLICE_ARG(item));

	if (port.n > 0)
		listen_port_say(exim, row, address, import_port(port));
	else
		listen_ports(exim, row, address);
	if (!row->item.is_told)
		exim4_note(exim, row, IMPORT_NOT_NEEDED, "the ports say it");
}

static void
listen_certificate(struct exim4 *exim)
{
	struct exim4_row *row = exim4_main(exim, "tls_certificate");
	struct exim4_row *key = exim4_main(exim, "tls_privatekey");
	const char *file, *key_file;

	if (row == NULL)
		return;
	key = key == NULL ? row : key;
	file = import_word(exim->import, slice_of(import_file_here(
	    exim->import, exim4_filled(exim, row->value))));
	key_file = import_word(exim->import, slice_of(import_file_here(
	    exim->import, exim4_filled(exim, key->value))));
	if (file == NULL || key_file == NULL || access(file, F_OK) != 0) {
		exim4_note(exim, row, IMPORT_MISSING, "there is no such "
		    "file: zmailer cert install FILE KEY");
		if (key != row)
			exim4_note(exim, key, IMPORT_MISSING, "it belongs to "
			    "tls_certificate");
		return;
	}
	exim4_say(exim, row, IMPORT_LISTEN, "tls certificate %s key %s",
	    file, key_file);
	if (key != row)
		exim4_say(exim, key, IMPORT_LISTEN,
		    "tls certificate %s key %s", file, key_file);
}

void
exim4_listen(struct exim4 *exim)
{
	struct exim4_row *row = exim4_main(exim, "local_interfaces");
	struct exim4_row *tls = exim4_main(exim, "tls_on_connect_ports");
	struct exim4_list list;
	struct slice item;

	if (row == NULL)
		listen_ports(exim, NULL, "");
	else {
		exim4_list_begin(row->value, &list);
		while (exim4_list_next(exim->import->arena, &list, &item))
			listen_interface(exim, row, item);
		if (!row->item.is_told)
			exim4_note(exim, row, IMPORT_NOT_NEEDED,
			    "it is empty");
	}
	if (tls != NULL)
		exim4_note(exim, tls, IMPORT_NOT_NEEDED, "the listeners say "
		    "it");
	listen_certificate(exim);
}

/* ---- values ------------------------------------------------------------- */

static void
option_size_say(struct exim4 *exim, struct exim4_row *row)
{
	uint64_t bytes;

	if (units_bytes(row->value, &bytes, NULL) != 0 &&
	    !slice_number(row->value, 0, INT64_MAX, &bytes))
		exim4_note(exim, row, IMPORT_MISSING, "it is no size: write "
		    "`size 50M`");
	else if (bytes == 0)
		exim4_note(exim, row, IMPORT_DIFFERS, "no limit: write `size "
		    "16G` if 50M is not enough");
	else
		exim4_say(exim, row, IMPORT_SITE, "size %lluB",
		    (unsigned long long)bytes);
}

static void
option_number_say(struct exim4 *exim, struct exim4_row *row, const char *ours)
{
	uint64_t number;

	if (!slice_number(row->value, 0, 1000000, &number))
		exim4_note(exim, row, IMPORT_MISSING, "it is no number: "
		    "write `%s N`", ours);
	else if (number == 0)
		exim4_note(exim, row, IMPORT_NOT_NEEDED, "no limit of its "
		    "own");
	else
		exim4_say(exim, row, IMPORT_SITE, "%s %llu", ours,
		    (unsigned long long)number);
}

static void
option_span_say(struct exim4 *exim, struct exim4_row *row, const char *ours)
{
	int64_t ms;

	if (units_span_ms(row->value, &ms, NULL) != 0 || ms <= 0)
		exim4_note(exim, row, IMPORT_MISSING, "it is no time: write "
		    "`%s SPAN`", ours);
	else
		exim4_say(exim, row, IMPORT_SITE, "%s " SLICE_FMT, ours,
		    SLICE_ARG(row->value));
}

/* errors_copy, freeze_tell and the like: who is postmaster. */
static void
option_origin(struct exim4 *exim, struct exim4_row *row)
{
	const char *name = import_domain(exim->import, exim4_filled(exim,
	    row->value));

	if (name != NULL && strcmp(name, exim->host) == 0)
		exim4_note(exim, row, IMPORT_NOT_NEEDED, "it is the name of "
		    "host");
	else if (name == NULL)
		exim4_note(exim, row, IMPORT_MISSING, "write `qualify NAME` "
		    "with what it comes to");
	else {
		exim4_say(exim, row, IMPORT_ADDRESSES, "qualify %s", name);
		exim4_note(exim, row, IMPORT_DIFFERS, "addresses of the "
		    "envelope without a domain get the name of host");
	}
}

enum option_how { HOW_SIZE, HOW_NUMBER, HOW_SPAN, HOW_ORIGIN, HOW_NOTE };

static const struct { const char *name; enum option_how how;
	const char *ours; } taken[] = {
	{ "message_size_limit", HOW_SIZE, NULL },
	{ "qualify_domain", HOW_ORIGIN, NULL },
	{ "recipients_max", HOW_NUMBER, "limit recipients" },
	{ "smtp_accept_max", HOW_NUMBER, "limit sessions" },
	{ "smtp_accept_max_per_host", HOW_NUMBER,
	    "limit sessions-per-client" },
	{ "smtp_accept_max_per_connection", HOW_NUMBER,
	    "limit session-messages" },
	{ "received_headers_max", HOW_NUMBER, "limit received" },
	{ "smtp_receive_timeout", HOW_SPAN, "timeout command" },
};

static const struct import_told notes[] = {
	{ "mysql_servers", IMPORT_NOT_NEEDED, "definitions of tables say "
	    "it" },
	{ "pgsql_servers", IMPORT_NOT_NEEDED, "definitions of tables say "
	    "it" },
	{ "sqlite_dbfile", IMPORT_NOT_NEEDED, "definitions of tables say "
	    "it" },
	{ "av_scanner", IMPORT_MISSING, "let ClamAV speak milter "
	    "(clamav-milter), and write `milter unix:/PATH`" },
	{ "spamd_address", IMPORT_MISSING, "let SpamAssassin or rspamd speak "
	    "milter, and write `milter inet:ADDRESS:PORT`" },
	{ "system_filter", IMPORT_MISSING, "let a milter or a hook do what "
	    "the filter does (doc/HOOKS.md)" },
	{ "system_filter_*", IMPORT_MISSING, "see system_filter" },
	{ "perl_*", IMPORT_MISSING, "let a hook do what the script does "
	    "(doc/HOOKS.md)" },
	{ "ldap_*", IMPORT_MISSING, "write a definition (zmailer-table(8))" },
	{ "trusted_*", IMPORT_NOT_NEEDED, "sendmail(1) asks nobody whether "
	    "-f may be said: who submitted is noted" },
	{ "untrusted_set_sender", IMPORT_NOT_NEEDED, "sendmail(1) asks "
	    "nobody whether -f may be said" },
	{ "local_from_*", IMPORT_NOT_NEEDED, "From stays as it is; who "
	    "submitted is noted" },
	{ "no_local_from_check", IMPORT_NOT_NEEDED, "From stays as it is" },
	{ "local_sender_retain", IMPORT_NOT_NEEDED, "Sender stays as it "
	    "is" },
	{ "admin_groups", IMPORT_DIFFERS, "see zmailer-setup(8) for who may "
	    "do what" },
	{ "never_users", IMPORT_NOT_NEEDED, "no program runs as root for a "
	    "message" },
	{ "ignore_bounce_errors_after", IMPORT_NOT_NEEDED, "a report that "
	    "cannot be delivered goes to the postmaster" },
	{ "timeout_frozen_after", IMPORT_DIFFERS, "frozen mail waits for a "
	    "person (zmailer-review(8))" },
	{ "freeze_tell", IMPORT_DIFFERS, "zmailer status tells of frozen "
	    "mail" },
	{ "auto_thaw", IMPORT_DIFFERS, "frozen mail waits for a person" },
	{ "errors_copy", IMPORT_MISSING, "write `copy ADDRESS from <>`" },
	{ "errors_reply_to", IMPORT_DIFFERS, "answers to reports go to the "
	    "postmaster" },
	{ "dsn_*", IMPORT_NOT_NEEDED, "requests for reports are honoured" },
	{ "bounce_*", IMPORT_NOT_NEEDED, "reports have the header; see limit "
	    "dsn" },
	{ "warn_message_file", IMPORT_NOT_NEEDED, "reports have a form of "
	    "their own" },
	{ "delay_warning", IMPORT_DIFFERS, "write `schedule */* { warn SPAN "
	    "}`" },
	{ "delay_warning_condition", IMPORT_NOT_NEEDED, "lists and automatic "
	    "mail get no warning" },
	{ "host_lookup", IMPORT_NOT_NEEDED, "names of clients are looked up "
	    "always" },
	{ "host_lookup_order", IMPORT_NOT_NEEDED, "the DNS is asked" },
	{ "host_reject_connection", IMPORT_MISSING, "write `reject from "
	    "NET`" },
	{ "helo_*", IMPORT_DIFFERS, "a syntax of HELO that is wrong is "
	    "refused; see reject helo" },
	{ "no_helo_verify_hosts", IMPORT_NOT_NEEDED, "HELO is no reason to "
	    "refuse without a rule" },
	{ "rfc1413_*", IMPORT_NOT_NEEDED, "nobody is asked who a client "
	    "is" },
	{ "sender_unqualified_hosts", IMPORT_DIFFERS, "an address without a "
	    "domain is refused over SMTP" },
	{ "recipient_unqualified_hosts", IMPORT_DIFFERS, "an address without "
	    "a domain is refused over SMTP" },
	{ "qualify_recipient", IMPORT_NOT_NEEDED, "see qualify_domain" },
	{ "allow_domain_literals", IMPORT_NOT_NEEDED, "[ADDRESS] as a domain "
	    "is known" },
	{ "allow_mx_to_ip", IMPORT_DIFFERS, "an MX record has a name" },
	{ "allow_utf8_domains", IMPORT_NOT_NEEDED, "UTF-8 is known "
	    "(SMTPUTF8)" },
	{ "smtputf8_advertise_hosts", IMPORT_DIFFERS, "SMTPUTF8 is offered; "
	    "`ehlo without SMTPUTF8` hides it" },
	{ "chunking_advertise_hosts", IMPORT_DIFFERS, "CHUNKING is offered; "
	    "`ehlo without CHUNKING` hides it" },
	{ "pipelining_*", IMPORT_NOT_NEEDED, "PIPELINING is offered" },
	{ "prdr_enable", IMPORT_NOT_NEEDED, "no client needs it" },
	{ "dns_*", IMPORT_NOT_NEEDED, "see dns, and the resolver" },
	{ "disable_ipv6", IMPORT_DIFFERS, "write `listen 0.0.0.0:25`" },
	{ "tls_advertise_hosts", IMPORT_NOT_NEEDED, "STARTTLS is offered "
	    "when there is a certificate" },
	{ "tls_verify_certificates", IMPORT_DIFFERS, "write `tls "
	    "client-certificates ask ca FILE`" },
	{ "tls_*verify_hosts", IMPORT_DIFFERS, "write `tls "
	    "client-certificates ask|require`" },
	{ "tls_*", IMPORT_NOT_NEEDED, "OpenSSL's own presets; `tls min "
	    "1.2|1.3`" },
	{ "openssl_options", IMPORT_NOT_NEEDED, "OpenSSL's own presets" },
	{ "gnutls_*", IMPORT_NOT_NEEDED, "OpenSSL's own presets" },
	{ "auth_advertise_hosts", IMPORT_NOT_NEEDED, "AUTH is offered on "
	    "listeners with the word submission" },
	{ "smtp_banner", IMPORT_NOT_NEEDED, "the greeting names host" },
	{ "smtp_enforce_sync", IMPORT_NOT_NEEDED, "see greet-pause" },
	{ "smtp_*", IMPORT_NOT_NEEDED, "sessions have their own bounds: see "
	    "limit" },
	{ "queue_*", IMPORT_NOT_NEEDED, "the scheduler runs always: see "
	    "schedule" },
	{ "no_queue_*", IMPORT_NOT_NEEDED, "the scheduler runs always" },
	{ "remote_*", IMPORT_NOT_NEEDED, "see schedule and limit agents" },
	{ "deliver_*", IMPORT_NOT_NEEDED, "see status; new mail waits on "
	    "disk" },
	{ "retry_*", IMPORT_NOT_NEEDED, "see schedule" },
	{ "split_spool_directory", IMPORT_NOT_NEEDED, "see hash" },
	{ "spool_directory", IMPORT_NOT_NEEDED, "see spool; the mail there: "
	    "zmailer import queue exim" },
	{ "spool_*", IMPORT_NOT_NEEDED, "see spool" },
	{ "check_*", IMPORT_NOT_NEEDED, "a full disk is noticed, and mail "
	    "deferred" },
	{ "log_*", IMPORT_NOT_NEEDED, "see the journal (zmailer-log(8))" },
	{ "syslog_*", IMPORT_NOT_NEEDED, "write `log-to syslog`" },
	{ "no_syslog_*", IMPORT_NOT_NEEDED, "write `log-to syslog`" },
	{ "write_rejectlog", IMPORT_NOT_NEEDED, "see the journal" },
	{ "no_write_rejectlog", IMPORT_NOT_NEEDED, "see the journal" },
	{ "preserve_message_logs", IMPORT_NOT_NEEDED, "see the journal" },
	{ "message_logs", IMPORT_NOT_NEEDED, "see the journal" },
	{ "message_id_*", IMPORT_NOT_NEEDED, "Message-Id has the name of "
	    "host" },
	{ "message_body_*", IMPORT_NOT_NEEDED, "no expansion reads it" },
	{ "header_*", IMPORT_NOT_NEEDED, "see limit header" },
	{ "received_header_text", IMPORT_NOT_NEEDED, "Received has one "
	    "form" },
	{ "gecos_*", IMPORT_DIFFERS, "From has the whole name of the "
	    "account" },
	{ "unknown_login", IMPORT_NOT_NEEDED, "each user has an account" },
	{ "keep_environment", IMPORT_NOT_NEEDED, "programs get a clean "
	    "environment" },
	{ "add_environment", IMPORT_DIFFERS, "programs get a clean "
	    "environment" },
	{ "exim_*", IMPORT_NOT_NEEDED, "see user" },
	{ "commandline_checks_require_admin", IMPORT_NOT_NEEDED, "it is "
	    "Exim's own" },
	{ "daemon_*", IMPORT_NOT_NEEDED, "see listen" },
	{ "process_log_path", IMPORT_NOT_NEEDED, "see zmailer status" },
	{ "pid_file_path", IMPORT_NOT_NEEDED, "see run" },
	{ "timezone", IMPORT_NOT_NEEDED, "the system's zone" },
	{ "accept_8bitmime", IMPORT_NOT_NEEDED, "8BITMIME is offered" },
	{ "strip_*", IMPORT_NOT_NEEDED, "routes in addresses and dots at "
	    "their end are left out" },
	{ "envelope_to_remove", IMPORT_NOT_NEEDED, "see Delivered-To" },
	{ "return_path_remove", IMPORT_NOT_NEEDED, "Return-Path is written "
	    "anew" },
	{ "delivery_date_remove", IMPORT_NOT_NEEDED, "the field is no "
	    "part of delivery" },
	{ "local_scan_timeout", IMPORT_NOT_NEEDED, "see milter" },
	{ "percent_hack_domains", IMPORT_NOT_NEEDED, "% in an address has no "
	    "meaning" },
	{ "print_topbitchars", IMPORT_NOT_NEEDED, "the journal escapes "
	    "them" },
	{ "drop_cr", IMPORT_NOT_NEEDED, "see bare-newline" },
	{ "extract_addresses_remove_arguments", IMPORT_NOT_NEEDED,
	    "sendmail -t takes addresses as they are" },
	{ "callout_*", IMPORT_NOT_NEEDED, "no callouts are made" },
	{ "dkim_*", IMPORT_NOT_NEEDED, "see verify-origin" },
	{ "dmarc_*", IMPORT_DIFFERS, "write `verify-origin yes`" },
	{ "spf_*", IMPORT_NOT_NEEDED, "see verify-origin" },
	{ "acl_not_smtp*", IMPORT_DIFFERS, "sendmail(1) asks no rules; "
	    "`milter ... also sendmail` sees its mail" },
};

static void
option_visit(struct exim4 *exim, struct exim4_row *row)
{
	struct slice name = row->said.name;

	for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++) {
		if (!slice_is(name, taken[i].name))
			continue;
		if (taken[i].how == HOW_SIZE)
			option_size_say(exim, row);
		else if (taken[i].how == HOW_NUMBER)
			option_number_say(exim, row, taken[i].ours);
		else if (taken[i].how == HOW_SPAN)
			option_span_say(exim, row, taken[i].ours);
		else
			option_origin(exim, row);
		return;
	}
	(void)import_item_tell(exim->import, &row->item, notes,
	    sizeof(notes) / sizeof(notes[0]), name);
}

void
exim4_options(struct exim4 *exim)
{
	for (size_t i = 0; i < exim->count; i++) {
		struct exim4_row *row = &exim->rows[i];

		if (row->item.is_told || row->said.kind != EXIM4_OPTION ||
		    row->said.section != EXIM4_MAIN)
			continue;
		if (exim4_main(exim, slice_dup(exim->import->arena,
		    row->said.name)) != row)
			exim4_note(exim, row, IMPORT_NOT_NEEDED, "a later "
			    "line says it again, and the last one counts");
		else
			option_visit(exim, row);
	}
}
