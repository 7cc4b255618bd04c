/* keywords.c - the extensions a session has
 *
 * In     a session
 * Out    the lines of EHLO; whether an extension is in force
 * Spec   RFC 5321 section 4.1.1.1 and the RFC of each row
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>

#include "base/clock.h"
#include "grammar/message/date.h"
#include "smtpserver/command/keywords.h"
#include "smtpserver/session/auth.h"

#include "base/banned.h"

static const struct conf_limits *
limits_of(const struct session *session)
{
	return &session->settings->conf->limits;
}

static bool
keyword_always(const struct session *session)
{
	return true;
}

/* RFC 3030 section 3: BINARYMIME needs CHUNKING. */
static bool
has_chunking(const struct session *session)
{
	return keyword_is_on(session, EHLO_CHUNKING);
}

/* RFC 6531 section 3.1: SMTPUTF8 needs 8BITMIME. */
static bool
has_8bit(const struct session *session)
{
	return keyword_is_on(session, EHLO_8BITMIME);
}

/* RFC 4865 section 3: for submission only. */
static bool
may_hold(const struct session *session)
{
	return session->listen != NULL && session->listen->is_submission &&
	    limits_of(session)->hold_ms > 0;
}

/* RFC 8689 section 2: on an encrypted session only. */
static bool
is_encrypted(const struct session *session)
{
	return stream_tls(session->stream) == STREAM_ENCRYPTED;
}

/* RFC 3207 section 4.2: not once more. */
static bool
can_encrypt(const struct session *session)
{
	return session->tls == NULL &&
	    keyring_server(session->service->keyring) != NULL;
}

static bool
keywords_have_limits(const struct session *session)
{
	const struct conf_limits *limits = limits_of(session);

	return limits->session_messages > 0 || limits->recipients > 0 ||
	    limits->recipient_domains > 0;
}

static void
add_size(const struct session *session, struct str *out)
{
	str_addf(out, " %" PRIu64, limits_of(session)->size_bytes);
}

/* RFC 4865 section 3: the longest interval, the last moment. */
static void
add_hold(const struct session *session, struct str *out)
{
	int64_t longest_s = limits_of(session)->hold_ms / 1000;

	str_addf(out, " %" PRId64 " ", longest_s);
	date_add(out, clock_wall_s() + longest_s);
}

/* RFC 9422 section 4. */
static void
add_limits(const struct session *session, struct str *out)
{
	const struct conf_limits *limits = limits_of(session);

	if (limits->session_messages > 0)
		str_addf(out, " MAILMAX=%u", limits->session_messages);
	if (limits->recipients > 0)
		str_addf(out, " RCPTMAX=%u", limits->recipients);
	if (limits->recipient_domains > 0)
		str_addf(out, " RCPTDOMAINMAX=%u",
		    limits->recipient_domains);
}

static bool
may_etrn(const struct session *session)
{
	return (session->trust & 1u << TRUST_ETRN) != 0;
}

static bool
may_vrfy(const struct session *session)
{
	return (session->trust & 1u << TRUST_VRFY) != 0;
}

static bool
may_expn(const struct session *session)
{
	return (session->trust & 1u << TRUST_EXPN) != 0;
}

/* Postfix, XCLIENT_README. */
static bool
may_xclient(const struct session *session)
{
	return (session->trust & 1u << TRUST_XCLIENT) != 0;
}

static void
add_xclient(const struct session *session, struct str *out)
{
	str_adds(out, " NAME ADDR PORT PROTO HELO LOGIN DESTADDR DESTPORT");
}

/* Postfix, XFORWARD_README. */
static bool
may_xforward(const struct session *session)
{
	return (session->trust & 1u << TRUST_XFORWARD) != 0;
}

static void
add_xforward(const struct session *session, struct str *out)
{
	str_adds(out, " NAME ADDR PORT PROTO HELO IDENT SOURCE");
}

static void
add_auth(const struct session *session, struct str *out)
{
	struct str names = STR_INIT;

	auth_add_mechanisms(session, &names);
	str_addf(out, " %s", names.buf);
	str_release(&names);
}

static const struct keyword_row {
	const char	*rfc;
	bool		(*is_on)(const struct session *session);
	void		(*add_value)(const struct session *session,
			    struct str *out);	/* NULL: has none */
} rows[EHLO_COUNT] = {
	[EHLO_PIPELINING] = { "2920", keyword_always, NULL },
	[EHLO_SIZE] = { "1870", keyword_always, add_size },
	[EHLO_8BITMIME] = { "6152", keyword_always, NULL },
	[EHLO_BINARYMIME] = { "3030/3", has_chunking, NULL },
	[EHLO_CHUNKING] = { "3030/2", keyword_always, NULL },
	[EHLO_SMTPUTF8] = { "6531", has_8bit, NULL },
	[EHLO_ENHANCEDSTATUSCODES] = { "2034", keyword_always, NULL },
	[EHLO_DSN] = { "3461", keyword_always, NULL },
	[EHLO_DELIVERBY] = { "2852", keyword_always, NULL },
	[EHLO_FUTURERELEASE] = { "4865", may_hold, add_hold },
	[EHLO_MT_PRIORITY] = { "6710", keyword_always, NULL },
	[EHLO_REQUIRETLS] = { "8689", is_encrypted, NULL },
	[EHLO_LIMITS] = { "9422", keywords_have_limits, add_limits },
	[EHLO_STARTTLS] = { "3207", can_encrypt, NULL },
	[EHLO_AUTH] = { "4954", auth_is_offered, add_auth },
	[EHLO_ETRN] = { "1985", may_etrn, NULL },
	[EHLO_VRFY] = { "5321/4.1.1.6", may_vrfy, NULL },
	[EHLO_EXPN] = { "5321/4.1.1.7", may_expn, NULL },
	[EHLO_XCLIENT] = { "", may_xclient, add_xclient },
	[EHLO_XFORWARD] = { "", may_xforward, add_xforward },
	[EHLO_HELP] = { "5321/4.1.1.8", keyword_always, NULL },
};

bool
keyword_is_on(const struct session *session, enum ehlo_keyword keyword)
{
	return (session->withheld & 1u << keyword) == 0 &&
	    rows[keyword].is_on(session);
}

void
keywords_add(const struct session *session, struct str *out)
{
	for (unsigned i = 0; i < EHLO_COUNT; i++) {
		if (!keyword_is_on(session, i))
			continue;
		str_addf(out, "\n%s", ehlo_names[i]);
		if (rows[i].add_value != NULL)
			rows[i].add_value(session, out);
	}
}
