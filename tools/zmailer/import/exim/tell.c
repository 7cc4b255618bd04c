/* tell.c - what became of the options of routers, transports and so on
 *
 * In     drivers, as they were taken
 * Out    a finding for each of their rows
 * Holds  nothing
 * Spec   zmailer-import(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include "tools/zmailer/import/exim/exim4.h"

#include "base/banned.h"

/* Options that no statement needs, or that differ; a * at the end of a name
 * means all that begin so. */
static const struct import_told notes[] = {
	{ "debug_print", IMPORT_NOT_NEEDED, "zmailer route -v tells how" },
	{ "same_domain_copy_routing", IMPORT_NOT_NEEDED, "routes are asked "
	    "once for each domain" },
	{ "ignore_target_hosts", IMPORT_DIFFERS, "hosts with such addresses "
	    "are tried: a name that leads to this host is refused" },
	{ "no_more", IMPORT_NOT_NEEDED, "a domain or a route decides "
	    "anyway" },
	{ "more", IMPORT_NOT_NEEDED, "a domain or a route decides anyway" },
	{ "no_verify*", IMPORT_NOT_NEEDED, "recipients are verified as they "
	    "are routed" },
	{ "no_expn", IMPORT_NOT_NEEDED, "EXPN is for those that trust "
	    "names" },
	{ "verify*", IMPORT_NOT_NEEDED, "recipients are verified as they are "
	    "routed" },
	{ "host_find_failed", IMPORT_NOT_NEEDED, "a host that is not found "
	    "is tried again, then reported" },
	{ "hosts_randomize", IMPORT_DIFFERS, "the hosts are tried in their "
	    "order" },
	{ "cannot_route_message", IMPORT_NOT_NEEDED, "5.1.1 says it" },
	{ "check_ancestor", IMPORT_NOT_NEEDED, "a user in the own forward "
	    "file gets the mail" },
	{ "check_owner", IMPORT_NOT_NEEDED, "a forward file is read with the "
	    "user's rights" },
	{ "allow_fail", IMPORT_NOT_NEEDED, "rows with :fail: are told by "
	    "themselves" },
	{ "allow_defer", IMPORT_NOT_NEEDED, "rows with :defer: are told by "
	    "themselves" },
	{ "forbid_*", IMPORT_NOT_NEEDED, "no such thing is done for "
	    "anybody" },
	{ "*_transport", IMPORT_NOT_NEEDED, "files and programs of aliases "
	    "and forward files have agents of their own" },
	{ "skip_syntax_errors", IMPORT_NOT_NEEDED, "the rest of the file "
	    "counts" },
	{ "syntax_errors_*", IMPORT_DIFFERS, "the postmaster's journal tells "
	    "of such errors" },
	{ "one_time", IMPORT_NOT_NEEDED, "aliases are followed once, when "
	    "the mail comes" },
	{ "qualify_preserve_domain", IMPORT_DIFFERS, "an address without a "
	    "domain gets the name of host" },
	{ "retry_use_local_part", IMPORT_NOT_NEEDED, "each recipient has its "
	    "own tries" },
	{ "errors_to", IMPORT_MISSING, "errors_to: a list has its own "
	    "sender: `list ADDRESS members FILE owner ADDRESS`" },
	{ "headers_add", IMPORT_MISSING, "let a milter or a hook add fields "
	    "(doc/HOOKS.md)" },
	{ "headers_remove", IMPORT_MISSING, "let a milter or a hook remove "
	    "fields (doc/HOOKS.md)" },
	{ "address_data", IMPORT_MISSING, "what is computed for each address "
	    "cannot be said" },
	{ "set", IMPORT_MISSING, "what is computed for each address cannot "
	    "be said" },
	{ "delivery_date_add", IMPORT_DIFFERS, "no such field is added; the "
	    "mailbox has the time" },
	{ "envelope_to_add", IMPORT_DIFFERS, "Delivered-To says it" },
	{ "return_path_add", IMPORT_NOT_NEEDED, "Return-Path is added "
	    "always" },
	{ "mode*", IMPORT_NOT_NEEDED, "mailboxes are for their users "
	    "alone" },
	{ "directory_mode", IMPORT_NOT_NEEDED, "mailboxes are for their "
	    "users alone" },
	{ "create_*", IMPORT_NOT_NEEDED, "mailboxes are made where they are "
	    "missing" },
	{ "no_mode*", IMPORT_NOT_NEEDED, "mailboxes are for their users "
	    "alone" },
	{ "check_string", IMPORT_NOT_NEEDED, "mbox has its own form" },
	{ "escape_string", IMPORT_NOT_NEEDED, "mbox has its own form" },
	{ "message_*", IMPORT_NOT_NEEDED, "mailboxes have their own form" },
	{ "use_crlf", IMPORT_NOT_NEEDED, "mailboxes have their own form" },
	{ "lock_*", IMPORT_NOT_NEEDED, "mailboxes are locked as others do" },
	{ "use_*lock", IMPORT_NOT_NEEDED, "mailboxes are locked as others "
	    "do" },
	{ "quota*", IMPORT_MISSING, "write `quota SIZE`" },
	{ "maildir_*", IMPORT_NOT_NEEDED, "Maildir++ is known" },
	{ "return_*output", IMPORT_NOT_NEEDED, "what a program says is in "
	    "the report" },
	{ "log_*output", IMPORT_NOT_NEEDED, "what a program says is in the "
	    "journal" },
	{ "path", IMPORT_DIFFERS, "programs have a PATH of /usr/bin:/bin" },
	{ "environment", IMPORT_DIFFERS, "programs have RECIPIENT, SENDER "
	    "and so on (zmailer-pipe(8))" },
	{ "timeout*", IMPORT_NOT_NEEDED, "write `timeout job SPAN` if half "
	    "an hour is not right" },
	{ "temp_errors", IMPORT_NOT_NEEDED, "exit status 75 is tried "
	    "again" },
	{ "ignore_status", IMPORT_DIFFERS, "the exit status counts" },
	{ "batch_*", IMPORT_NOT_NEEDED, "recipients of a message share a "
	    "session" },
	{ "delivery_date", IMPORT_NOT_NEEDED, "the mailbox has the time" },
	{ "multi_domain", IMPORT_NOT_NEEDED, "recipients of a message share "
	    "a session" },
	{ "max_rcpt", IMPORT_NOT_NEEDED, "replies of the next host say how "
	    "many" },
	{ "connection_max_messages", IMPORT_DIFFERS, "write `schedule smtp/* "
	    "{ connection-messages N }`" },
	{ "serialize_hosts", IMPORT_DIFFERS, "write `schedule smtp/HOST { "
	    "parallel 1 }`" },
	{ "dnssec_*", IMPORT_NOT_NEEDED, "tls-to * dane is the preset" },
	{ "dane_*", IMPORT_NOT_NEEDED, "tls-to * dane is the preset" },
	{ "hosts_try_dane", IMPORT_NOT_NEEDED, "tls-to * dane is the "
	    "preset" },
	{ "hosts_try_*", IMPORT_NOT_NEEDED, "it is tried where it is "
	    "offered" },
	{ "hosts_require_auth", IMPORT_NOT_NEEDED, "the table of auth-to "
	    "says where to log in" },
	{ "hosts_avoid_*", IMPORT_DIFFERS, "write `tls-to HOST none`, or see "
	    "schedule" },
	{ "hosts_pipe_connect", IMPORT_NOT_NEEDED, "commands are pipelined "
	    "where it is offered" },
	{ "tls_verify_certificates", IMPORT_NOT_NEEDED, "the system's roots "
	    "count; others: `tls-to HOST verify ca FILE`" },
	{ "tls_verify_cert_hostnames", IMPORT_NOT_NEEDED, "tls-to verify "
	    "looks at the name" },
	{ "tls_try_verify_hosts", IMPORT_NOT_NEEDED, "a bad certificate is "
	    "no reason to wait unless tls-to says so" },
	{ "tls_verify_hosts", IMPORT_DIFFERS, "write `tls-to HOST verify`" },
	{ "hosts_require_tls", IMPORT_DIFFERS, "write `tls-to HOST encrypt` "
	    "for these" },
	{ "tls_certificate", IMPORT_DIFFERS, "write `tls-to PATTERN LEVEL "
	    "cert FILE key FILE`" },
	{ "tls_privatekey", IMPORT_DIFFERS, "write `tls-to PATTERN LEVEL "
	    "cert FILE key FILE`" },
	{ "tls_*", IMPORT_NOT_NEEDED, "OpenSSL's own presets" },
	{ "dkim_*", IMPORT_NOT_NEEDED, "sign has its own presets" },
	{ "helo_data", IMPORT_DIFFERS, "write `zone NAME { helo NAME }`" },
	{ "interface", IMPORT_DIFFERS, "write `zone NAME { source ADDRESS "
	    "}`" },
	{ "final_timeout", IMPORT_NOT_NEEDED, "see timeout" },
	{ "connect_timeout", IMPORT_NOT_NEEDED, "see timeout" },
	{ "data_timeout", IMPORT_NOT_NEEDED, "see timeout" },
	{ "command_timeout", IMPORT_NOT_NEEDED, "see timeout" },
	{ "delay_after_cutoff", IMPORT_NOT_NEEDED, "see schedule" },
	{ "retry_include_ip_address", IMPORT_NOT_NEEDED, "see schedule" },
	{ "shadow_*", IMPORT_MISSING, "write `copy` or `archive`" },
	{ "transport_filter*", IMPORT_MISSING, "let a milter change the "
	    "message" },
	{ "subject", IMPORT_MISSING, "let Sieve answer mail (vacation)" },
	{ "initgroups", IMPORT_NOT_NEEDED, "programs have the groups of "
	    "their account" },
	{ "*group", IMPORT_NOT_NEEDED, "the account's own group" },
	{ "home_directory", IMPORT_NOT_NEEDED, "{home} is the account's" },
	{ "transport_home_directory", IMPORT_NOT_NEEDED, "{home} is the "
	    "account's" },
	{ "caseful_local_part", IMPORT_DIFFERS, "local parts are compared "
	    "without case" },
	{ "self", IMPORT_NOT_NEEDED, "hosts of an MX list after this one are "
	    "left out" },
	{ "widen_domains", IMPORT_NOT_NEEDED, "a name without a dot is no "
	    "domain" },
	{ "mx_domains", IMPORT_NOT_NEEDED, "via mx asks for MX first" },
	{ "srv_domains", IMPORT_NOT_NEEDED, "no SRV records are asked for" },
	{ "server_advertise_condition", IMPORT_NOT_NEEDED, "AUTH is offered "
	    "over TLS alone" },
	{ "server_set_id", IMPORT_NOT_NEEDED, "the journal names the user" },
	{ "server_prompts", IMPORT_NOT_NEEDED, "LOGIN has its prompts" },
	{ "client_set_id", IMPORT_NOT_NEEDED, "the journal names the "
	    "user" },
};

/* What became of the driver as a whole. */
static void
driver_row_tell(struct exim4 *exim, const struct exim4_driver *driver,
    struct exim4_row *row)
{
	if (driver->why != NULL)
		exim4_note(exim, row, IMPORT_MISSING, "%s", driver->why);
	else if (driver->statement >= 0)
		import_item_taken(exim->import, &row->item,
		    driver->statement);
	else if (driver->needless != NULL)
		exim4_note(exim, row, IMPORT_NOT_NEEDED, "%s",
		    driver->needless);
	else if (driver->section == EXIM4_ACLS)
		exim4_note(exim, row, IMPORT_NOT_NEEDED, driver->is_walked ?
		    "its statements are told by themselves" : "no acl_smtp_ "
		    "of the main section names it; what other ACLs ask it for "
		    "is told there");
	else if (driver->differs != NULL)
		exim4_note(exim, row, IMPORT_DIFFERS, "%s", driver->differs);
	else
		exim4_note(exim, row, IMPORT_NOT_NEEDED, driver->section ==
		    EXIM4_TRANSPORTS ? "no router that was taken names it" :
		    "no name comes so far");
}

static void
option_tell(struct exim4 *exim, const struct exim4_driver *driver,
    struct exim4_row *row)
{
	const struct import_told *told = import_told_of(notes, sizeof(notes) /
	    sizeof(notes[0]), row->said.name);
	bool is_secret = row->item.value[0] == '.';

	if (row->is_used && !driver->is_odd && (driver->statement >= 0 ||
	    driver->why == NULL)) {
		driver_row_tell(exim, driver, row);
		return;
	}
	if (driver->section == EXIM4_TRANSPORTS && driver->statement < 0 &&
	    driver->why == NULL)
		exim4_note(exim, row, IMPORT_NOT_NEEDED, "no router that was "
		    "taken names its transport");
	else if (told != NULL)
		exim4_note(exim, row, told->kind, "%s", told->text);
	else if ((row->is_used && !driver->is_odd) || driver->why != NULL)
		exim4_note(exim, row, IMPORT_MISSING, "it belongs to "
		    SLICE_FMT ", which is missing", SLICE_ARG(driver->name));
	else if (driver->statement < 0)
		exim4_note(exim, row, is_secret ? IMPORT_MISSING :
		    IMPORT_NOT_NEEDED, "it belongs to " SLICE_FMT ", which "
		    "has no place here", SLICE_ARG(driver->name));
	else
		exim4_note(exim, row, IMPORT_MISSING, "not known: no option "
		    "of this name is in the tables of zmailer import; see "
		    "the Exim specification, and `zmailer help`");
}

/* A transport is reported as the router that names it. */
static void
transports_settle(struct exim4 *exim)
{
	for (size_t i = 0; i < exim->driver_count; i++) {
		struct exim4_driver *router = &exim->drivers[i], *transport;

		if (router->section != EXIM4_ROUTERS ||
		    router->statement < 0)
			continue;
		transport = exim4_driver_of(exim, EXIM4_TRANSPORTS,
		    exim4_value(exim, router, "transport"));
		if (transport == NULL || transport->statement >= 0)
			continue;
		(void)exim4_option(exim, transport, "driver");
		transport->statement = router->statement;
	}
}

void
exim4_drivers_tell(struct exim4 *exim)
{
	transports_settle(exim);
	for (size_t i = 0; i < exim->driver_count; i++) {
		struct exim4_driver *driver = &exim->drivers[i];
		struct exim4_row *first = &exim->rows[driver->first];

		(void)exim4_option(exim, driver, "driver");
		if (!first->item.is_told)
			driver_row_tell(exim, driver, first);
		if (driver->differs != NULL && (driver->statement >= 0 ||
		    driver->why != NULL))
			exim4_note(exim, first, IMPORT_DIFFERS, "%s",
			    driver->differs);
		for (size_t k = driver->first + 1; k < driver->end; k++)
			if (!exim->rows[k].item.is_told &&
			    exim->rows[k].said.section == driver->section)
				option_tell(exim, driver, &exim->rows[k]);
	}
}
