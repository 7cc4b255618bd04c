/* macros.c - what a milter is told beside each command
 *
 * In     facts of a session
 * Out    packets of names and values
 * Holds  nothing
 * Trusts no milter: a name that is no row is passed over
 * Spec   packet.h; doc/FILTERS.md has the table
 *
 * SPDX-License-Identifier: ISC
 */
#include "smtpserver/milter/macros.h"

#include "base/banned.h"

#define AT(stage) (1u << MACRO_##stage)

enum { EVERY_MESSAGE = AT(DATA) | AT(EOH) | AT(EOB) };

/* name, where its value comes from, where it is told unasked */
static const struct macro {
	const char		*name;
	enum filter_fact	 fact;
	unsigned		 stages;
} macros[] = {
	{ "j", FILTER_HOST, AT(CONNECT) },
	{ "v", FILTER_MTA, AT(CONNECT) },
	{ "_", FILTER_PEER, AT(CONNECT) },
	{ "{daemon_name}", FILTER_LISTENER, AT(CONNECT) },
	{ "{daemon_addr}", FILTER_DAEMON_ADDR, AT(CONNECT) },
	{ "{daemon_port}", FILTER_DAEMON_PORT, AT(CONNECT) },
	{ "{if_addr}", FILTER_DAEMON_ADDR, 0 },
	{ "{if_name}", FILTER_HOST, 0 },
	{ "{client_addr}", FILTER_ADDR, AT(CONNECT) },
	{ "{client_port}", FILTER_PORT, AT(CONNECT) },
	{ "{client_name}", FILTER_NAME, AT(CONNECT) },
	{ "{client_ptr}", FILTER_NAME, AT(CONNECT) },
	{ "{client_resolve}", FILTER_RESOLVE, AT(CONNECT) },
	{ "{client_connections}", FILTER_CONNECTIONS, AT(CONNECT) },
	{ "{session}", FILTER_SESSION, AT(CONNECT) },
	{ "s", FILTER_HELO, 0 },
	{ "{tls_version}", FILTER_TLS_VERSION, AT(HELO) },
	{ "{cipher}", FILTER_CIPHER, AT(HELO) },
	{ "{cipher_bits}", FILTER_CIPHER_BITS, AT(HELO) },
	{ "{cert_subject}", FILTER_CERT_SUBJECT, AT(HELO) },
	{ "{cert_issuer}", FILTER_CERT_ISSUER, AT(HELO) },
	{ "{cn_subject}", FILTER_CN_SUBJECT, AT(HELO) },
	{ "{cn_issuer}", FILTER_CN_ISSUER, AT(HELO) },
	{ "{cert_fingerprint}", FILTER_CERT_PRINT, AT(HELO) },
	{ "{verify}", FILTER_VERIFY, AT(HELO) },
	{ "{auth_authen}", FILTER_USER, AT(MAIL) },
	{ "{auth_type}", FILTER_AUTH_TYPE, AT(MAIL) },
	{ "{auth_author}", FILTER_AUTH_AUTHOR, AT(MAIL) },
	{ "f", FILTER_SENDER, 0 },
	{ "{mail_addr}", FILTER_SENDER, AT(MAIL) },
	{ "{mail_host}", FILTER_SENDER_HOST, AT(MAIL) },
	{ "{mail_mailer}", FILTER_MAILER, AT(MAIL) },
	{ "{rcpt_addr}", FILTER_RCPT_ADDR, AT(RCPT) },
	{ "{rcpt_host}", FILTER_RCPT_HOST, AT(RCPT) },
	{ "{rcpt_mailer}", FILTER_RCPT_MAILER, AT(RCPT) },
	{ "i", FILTER_ID, EVERY_MESSAGE },
};

enum { MACRO_COUNT = sizeof(macros) / sizeof(macros[0]) };

enum macro_stage
macro_stage_of(enum milter_command command)
{
	switch (command) {
	case MILTER_CONNECT:
		return MACRO_CONNECT;
	case MILTER_HELO:
		return MACRO_HELO;
	case MILTER_MAIL:
		return MACRO_MAIL;
	case MILTER_RCPT:
		return MACRO_RCPT;
	case MILTER_DATA:
		return MACRO_DATA;
	case MILTER_EOH:
		return MACRO_EOH;
	case MILTER_EOB:
		return MACRO_EOB;
	default:
		return MACRO_STAGES;
	}
}

static void
macros_add_one(struct str *out, const struct macro *macro,
    const struct filter_facts *facts)
{
	struct slice value = filter_fact(facts, macro->fact);

	if (value.n == 0)
		return;
	packet_add_text(out, slice_of(macro->name));
	packet_add_text(out, value);
}

/* "{auth_type}" and "auth_type" are one name. */
static bool
is_named(const struct macro *macro, struct slice word)
{
	struct slice name = slice_of(macro->name);

	if (slice_equal(name, word))
		return true;
	return name.p[0] == '{' && slice_equal(word,
	    slice_first(slice_from(name, 1), name.n - 2));
}

static bool
is_wanted(const struct macro *macro, struct slice wanted)
{
	struct slice word;

	while (slice_word(&wanted, &word))
		if (is_named(macro, word))
			return true;
	return false;
}

void
macros_add(struct str *out, enum milter_command command,
    struct slice wanted, const struct filter_facts *facts)
{
	enum macro_stage stage = macro_stage_of(command);
	size_t start, first;

	if (stage == MACRO_STAGES)
		return;
	start = packet_begin(out, MILTER_MACRO);
	str_addc(out, (char)command);
	first = out->len;
	for (size_t i = 0; i < MACRO_COUNT; i++)
		if (wanted.n > 0 ? is_wanted(&macros[i], wanted) :
		    (macros[i].stages & 1u << stage) != 0)
			macros_add_one(out, &macros[i], facts);
	if (out->len > first) {
		packet_end(out, start);
	} else {		/* nothing to tell */
		out->len = start;
		out->buf[start] = '\0';
	}
}
