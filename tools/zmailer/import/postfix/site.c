/* site.c - the host, its listeners, logins
 *
 * In     main.cf, and which listeners master.cf has
 * Out    host, listen, tls, auth
 * Holds  nothing
 * Spec   zmailer-import(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>
#include <unistd.h>

#include "tools/zmailer/import/postfix/postfix.h"

#include "base/banned.h"

static const char no_word[] = "the value has bytes that have no place in "
    "zmailer.conf: write the statement by hand";

void
import_host(struct import *import, const char *name)
{
	const char *host = import_domain(import, import_value(import, name));

	if (host == NULL)
		import_note(import, name, SLICE(""), IMPORT_MISSING, "%s",
		    no_word);
	else
		import_say(import, IMPORT_SITE, "myhostname mydomain",
		    "host %s", host);
}

/* A name, or (in Debian) a file that has it. */
void
import_origin(struct import *import, const char *name)
{
	struct slice origin = import_value(import, name);
	struct slice text;
	struct err err;

	if (!import_is_set(import, name))
		return;
	if (slice_starts(origin, "/")) {
		if (import_file_take(import->arena, import_path(import,
		    origin), &text, &err) != 0) {
			import_note(import, name, SLICE(""), IMPORT_MISSING,
			    "it cannot be read: %s", err.text);
			return;
		}
		origin = slice_trim(slice_first(text, slice_find(text,
		    '\n')));
	}
	if (slice_equal_nocase(origin, import_value(import, "myhostname")))
		import_note(import, name, SLICE(""), IMPORT_NOT_NEEDED,
		    "mail of this machine has the name of host");
	else if (import_domain(import, origin) == NULL)
		import_note(import, name, SLICE(""), IMPORT_MISSING, "%s",
		    no_word);
	else {
		import_say(import, IMPORT_ADDRESSES, name, "qualify %s",
		    import_word(import, origin));
		import_note(import, name, SLICE(""), IMPORT_DIFFERS,
		    "header addresses without a domain get it; the envelope "
		    "of local mail gets host: `table here { @HOST @" SLICE_FMT
		    " }` and `canonical <here> senders` change that",
		    SLICE_ARG(origin));
	}
}

/* One address of inet_interfaces for each listener. */
static void
listen_say(struct import *import, const char *address)
{
	static const char *const words[] = { "25", "587 submission",
		"465 submission tls" };
	const bool is_there[] = { import->has_smtp, import->has_submission,
		import->has_submissions };

	for (int i = 0; i < 3; i++)
		if (is_there[i])
			import->listens[i] = import_say(import, IMPORT_LISTEN,
			    "inet_interfaces inet_protocols", "listen %s%s",
			    address, words[i]);
}

void
import_interfaces(struct import *import, const char *name)
{
	struct slice rest = import_value(import, name), one;
	bool is_four = slice_is(import_value(import, "inet_protocols"),
	    "ipv4");

	while (import_list_next(&rest, &one)) {
		const char *word = import_word(import, one);

		if (slice_is(one, "all"))
			listen_say(import, is_four ? "0.0.0.0:" : "");
		else if (slice_is(one, "loopback-only")) {
			listen_say(import, "127.0.0.1:");
			if (!is_four)
				listen_say(import, "[::1]:");
		} else if (slice_is(one, "localhost"))
			listen_say(import, "127.0.0.1:");
		else if (word == NULL || strspn(word,
		    "0123456789abcdefABCDEF.:[]") != strlen(word))
			import_note(import, name, one, IMPORT_MISSING,
			    "write its address: listen ADDRESS:25");
		else if (strchr(word, ':') != NULL && word[0] != '[')
			listen_say(import, arena_printf(import->arena,
			    "[%s]:", word));
		else
			listen_say(import, arena_printf(import->arena, "%s:",
			    word));
	}
}

void
import_certificate(struct import *import)
{
	const char *name = "smtpd_tls_cert_file";
	struct slice rest = import_value(import, "smtpd_tls_chain_files");
	struct slice cert = import_value(import, name), key;
	const char *cert_file, *key_file, *from = "smtpd_tls_cert_file "
	    "smtpd_tls_key_file";

	key = import_value(import, "smtpd_tls_key_file");
	if (rest.n > 0) {
		from = name = "smtpd_tls_chain_files";
		(void)import_list_next(&rest, &key);
		if (!import_list_next(&rest, &cert))
			cert = key;
	}
	if (cert.n == 0 || slice_is(cert, "none"))
		return;
	cert_file = import_word(import, slice_of(import_path(import, cert)));
	key_file = import_word(import, slice_of(import_path(import, key)));
	if (cert_file == NULL || key_file == NULL)
		import_note(import, name, SLICE(""), IMPORT_MISSING, "%s",
		    no_word);
	else if (access(cert_file, F_OK) != 0)
		import_note(import, name, SLICE(""), IMPORT_MISSING,
		    "there is no file %s; zmailer cert install FILE KEY, or "
		    "write tls certificate %s key %s", cert_file, cert_file,
		    key_file);
	else {
		import->has_certificate = true;
		import_say(import, IMPORT_LISTEN, from,
		    "tls certificate %s key %s", cert_file, key_file);
	}
}

void
import_tls_wanted(struct import *import, const char *name)
{
	bool is_wanted = slice_is(import_value(import, name), "encrypt");

	if (!is_wanted && !import_is_yes(import, "smtpd_enforce_tls")) {
		if (import_is_set(import, name))
			import_note(import, name, SLICE(""),
			    IMPORT_NOT_NEEDED, "STARTTLS is offered when "
			    "there is a certificate; on ports for users it "
			    "is wanted");
		return;
	}
	if (import->has_certificate)
		import_say(import, IMPORT_RULES, "smtpd_tls_security_level "
		    "smtpd_enforce_tls", "reject tls no text \"say STARTTLS "
		    "first\"");
	else
		import_note(import, is_wanted ? name : "smtpd_enforce_tls",
		    SLICE(""), IMPORT_MISSING, "write `reject tls no` once "
		    "there is a certificate");
}

/* Does a list or a service hold users to their own addresses? */
static bool
login_is_matched(struct import *import)
{
	static const char word[] = "login_mismatch";

	for (size_t i = 0; i < import->settings.count; i++)
		if (strstr(slice_dup(import->arena,
		    import->settings.rows[i].value), word) != NULL)
			return true;
	for (size_t i = 0; i < import->services.count; i++)
		if (strstr(slice_dup(import->arena,
		    import->services.rows[i].arguments), word) != NULL)
			return true;
	return false;
}

/* " senders ..." of auth. */
static const char *
login_senders(struct import *import, const char *name)
{
	static const char maps[] = "smtpd_sender_login_maps";
	const char *tables;

	if (!login_is_matched(import)) {
		import_note(import, name, SLICE(""), IMPORT_DIFFERS,
		    "users may give any sender, as before: `senders own` "
		    "holds them to their own addresses");
		return " senders any";
	}
	tables = import_maps_add(import, maps, "owners", NULL);
	if (tables[0] == '\0')
		return "";
	if (strchr(tables, ' ') != NULL)
		import_note(import, maps, SLICE(""), IMPORT_MISSING,
		    "put %s into one table", tables);
	return arena_printf(import->arena, " senders %.*s",
	    (int)strcspn(tables, " "), tables);
}

void
import_login(struct import *import, const char *name)
{
	const char *from = "smtpd_sasl_auth_enable smtpd_sasl_type "
	    "smtpd_sasl_path", *senders;
	struct slice path = import_value(import, "smtpd_sasl_path");
	const char *word;

	if (!import_is_yes(import, name) && !import->has_login)
		return;
	if (!import->has_submission && !import->has_submissions)
		import_note(import, name, SLICE(""), IMPORT_DIFFERS,
		    "AUTH is offered on ports for users alone: listen 587 "
		    "submission");
	senders = login_senders(import, name);
	if (strchr(senders, '<') != NULL)
		from = "smtpd_sasl_auth_enable smtpd_sasl_type "
		    "smtpd_sasl_path smtpd_sender_login_maps";
	if (slice_is(import_value(import, "smtpd_sasl_type"), "dovecot")) {
		word = import_word(import, slice_starts(path, "inet:") ?
		    SLICE("") : slice_of(import_path(import, path)));
		if (word == NULL)
			import_note(import, "smtpd_sasl_path", SLICE(""),
			    IMPORT_MISSING, "let Dovecot listen on a unix "
			    "socket: auth dovecot unix:/PATH");
		else
			import_say(import, IMPORT_LISTEN, from,
			    "auth dovecot unix:%s%s", word, senders);
		return;
	}
	import_say(import, IMPORT_LISTEN, from,
	    "auth saslauthd unix:/run/saslauthd/mux%s", senders);
	import_note(import, import_is_set(import, "smtpd_sasl_path") ?
	    "smtpd_sasl_path" : name, SLICE(""), IMPORT_DIFFERS,
	    "Cyrus SASL: saslauthd is asked; where sasl/smtpd.conf says "
	    "sasldb or sql write `auth users <table>` (zmailer help auth)");
}

void
import_milters(struct import *import, const char *name)
{
	struct slice other = import_value(import, "non_smtpd_milters");
	struct slice fail = import_value(import, "milter_default_action");
	struct slice rest = import_value(import, name), one;

	while (import_list_next(&rest, &one)) {
		struct slice socket = slice_first(one, slice_find(one, ','));
		const char *word = import_socket(import, slice_first(socket,
		    slice_find(socket, ' ')));

		if (word == NULL) {
			import_note(import, name, one, IMPORT_MISSING, "%s",
			    no_word);
			continue;
		}
		import_say(import, IMPORT_RULES, "smtpd_milters "
		    "non_smtpd_milters milter_default_action",
		    "milter %s%s%s%s", word, slice_is(fail, "accept") ||
		    slice_is(fail, "reject") || slice_is(fail, "quarantine") ?
		    " fail " : "", slice_is(fail, "accept") ? "accept" :
		    slice_is(fail, "reject") ? "reject" :
		    slice_is(fail, "quarantine") ? "quarantine" : "",
		    other.n > 0 ? " also sendmail" : "");
	}
}
