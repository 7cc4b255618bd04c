/* listen.c - where sendmail takes mail
 *
 * In     DAEMON_OPTIONS, certificates
 * Out    listen, tls certificate
 * Holds  nothing
 * Spec   cf/README of sendmail, "DAEMON_OPTIONS"; zmailer.conf(5), listen
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>
#include <unistd.h>

#include "base/ascii.h"
#include "grammar/net.h"
#include "tools/zmailer/import/sendmail/sendmail.h"

#include "base/banned.h"

struct sendmail_daemon {		/* what DAEMON_OPTIONS says */
	unsigned	port;
	struct slice	address, flags, filters;
	struct slice	odd;		/* a word that is not known, or "" */
};

static unsigned
daemon_port(struct slice text)
{
	static const struct { const char *name; unsigned port; } ports[] = {
		{ "smtp", 25 }, { "submission", 587 }, { "msa", 587 },
		{ "smtps", 465 }, { "submissions", 465 }, { "ssmtp", 465 },
	};
	uint64_t port;

	for (size_t i = 0; i < sizeof(ports) / sizeof(ports[0]); i++)
		if (slice_is(text, ports[i].name))
			return ports[i].port;
	return slice_number(text, 1, 65535, &port) ? (unsigned)port : 0;
}

/* KEY=VALUE; only the key's first letter counts. */
static void
daemon_word(struct slice word, struct sendmail_daemon *out)
{
	size_t at = slice_find(word, '=');
	struct slice value = slice_trim(slice_from(word, at + 1));

	switch (word.n == 0 ? '\0' : ascii_upper(word.p[0])) {
	case 'P':
		out->port = daemon_port(value);
		break;
	case 'A':
		out->address = value;
		break;
	case 'M':
		out->flags = value;
		break;
	case 'I':
		out->filters = value;
		break;
	case 'N':
	case 'F':
	case 'L':
	case 'S':
	case 'R':
	case '\0':
		break;
	default:
		out->odd = word;
	}
}

static bool
daemon_says(const struct sendmail_daemon *options, char flag)
{
	return slice_find(options->flags, flag) < options->flags.n;
}

/* "25", "192.0.2.1:25"; NULL: it was noted. */
static const char *
daemon_place(struct sendmail *mail, struct sendmail_row *row,
    const struct sendmail_daemon *options)
{
	struct slice address = options->address;
	struct net net;

	if (slice_starts(address, "IPv6:"))
		address = slice_from(address, 5);
	if (options->port == 0 || (address.n > 0 && (net_parse(address, &net,
	    NULL) != 0 || slice_find(address, '/') < address.n))) {
		sendmail_note(mail, row, IMPORT_MISSING, "no port, or no "
		    "address: write `listen ADDRESS:PORT`");
		return NULL;
	}
	if (address.n == 0 || slice_is(address, "0.0.0.0") ||
	    slice_is(address, "::"))
		return arena_printf(mail->import->arena, "%u",
		    options->port);
	return arena_printf(mail->import->arena, slice_find(address, ':') <
	    address.n ? "[" SLICE_FMT "]:%u" : SLICE_FMT ":%u",
	    SLICE_ARG(address), options->port);
}

static void
daemon_say(struct sendmail *mail, struct sendmail_row *row,
    const struct sendmail_daemon *options)
{
	const char *place = daemon_place(mail, row, options);
	bool is_tls = options->port == 465 || daemon_says(options, 's');
	bool is_users = options->port == 587 || is_tls ||
	    daemon_says(options, 'a');

	if (place == NULL)
		return;
	if (is_tls && !mail->has_certificate)
		sendmail_note(mail, row, IMPORT_MISSING, "it needs a "
		    "certificate: zmailer cert install FILE KEY, then `listen "
		    "%s submission tls`", place);
	else
		sendmail_say(mail, row, IMPORT_LISTEN, "listen %s%s%s", place,
		    is_users ? " submission" : "", is_tls ? " tls" : "");
	if (is_users && sendmail_row_of(mail, "define",
	    "confAUTH_MECHANISMS") == NULL)
		sendmail_note(mail, row, IMPORT_MISSING, "nobody can log in "
		    "there: write `auth pam`, or another (zmailer help auth)");
	if (daemon_says(options, 'f') || daemon_says(options, 'u'))
		sendmail_note(mail, row, IMPORT_DIFFERS, "M=%c: an address "
		    "without a domain gets that of host", daemon_says(options,
		    'f') ? 'f' : 'u');
	if (options->filters.n > 0)
		sendmail_note(mail, row, IMPORT_DIFFERS, "InputMailFilters: a "
		    "milter is asked at every listener (except NET)");
}

static void
listen_row(struct sendmail *mail, struct sendmail_row *row)
{
	struct sendmail_daemon options = { .port = 25 };
	struct slice rest = sendmail_argument(row, 0), word;

	while (slice_cut(&rest, ',', &word))
		daemon_word(slice_trim(word), &options);
	daemon_say(mail, row, &options);
	if (options.odd.n > 0)
		sendmail_note(mail, row, IMPORT_MISSING, "\"" SLICE_FMT
		    "\" is not known: see zmailer help listen",
		    SLICE_ARG(options.odd));
}

/* Both are there, or it is said which is not. */
static void
certificate_say(struct sendmail *mail)
{
	static const char *const names[] = { "confSERVER_CERT",
		"confSERVER_KEY" };
	const char *paths[2] = { NULL, NULL };
	struct sendmail_row *row;

	for (int i = 0; i < 2; i++)
		paths[i] = import_word(mail->import, slice_of(
		    import_file_here(mail->import, sendmail_filled(mail,
		    sendmail_define(mail, names[i])))));
	mail->has_certificate = paths[0] != NULL && paths[1] != NULL &&
	    access(paths[0], F_OK) == 0;
	for (int i = 0; i < 2; i++) {
		row = sendmail_row_of(mail, "define", names[i]);
		if (row == NULL)
			continue;
		if (mail->has_certificate)
			sendmail_say(mail, row, IMPORT_LISTEN,
			    "tls certificate %s key %s", paths[0], paths[1]);
		else if (paths[0] == NULL || paths[1] == NULL)
			sendmail_note(mail, row, IMPORT_MISSING, "a pair of "
			    "confSERVER_CERT and confSERVER_KEY is wanted: "
			    "zmailer cert install FILE KEY");
		else
			sendmail_note(mail, row, IMPORT_MISSING, "there is "
			    "no file %s: zmailer cert install FILE KEY",
			    paths[0]);
	}
}

void
sendmail_listen(struct sendmail *mail)
{
	struct sendmail_row preset = { .item = { .file =
		mail->import->order[0], .name = "DAEMON_OPTIONS",
		.value = "Port=smtp, Name=MTA" } };
	struct sendmail_daemon smtp = { .port = 25 }, users = { .port = 587 };
	bool has_any = false;

	certificate_say(mail);
	for (size_t i = 0; i < mail->count; i++)
		if (strcmp(mail->rows[i].item.name, "DAEMON_OPTIONS") == 0) {
			has_any = true;
			listen_row(mail, &mail->rows[i]);
		}
	if (!has_any)
		daemon_say(mail, &preset, &smtp);
	preset.item.value = "Port=587, Name=MSA, M=E";
	if (!sendmail_has(mail, "no_default_msa"))
		daemon_say(mail, &preset, &users);
}
