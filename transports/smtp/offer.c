/* offer.c - what a peer announces in its reply to EHLO
 *
 * In     the lines of the reply
 * Out    struct client_offer
 * Trusts no number: what is none, or is absurd, is as if it were not there
 * Spec   RFC 5321 section 4.1.1.1
 *
 *   ehlo-line    = keyword *( SP param )
 *   size-param   = 1*20DIGIT                        RFC 1870 section 4
 *   limit        = name "=" 1*DIGIT                 RFC 9422 section 4
 *   by-param     = 1*9DIGIT                         RFC 2852 section 4
 *   auth-param   = mechanism                        RFC 4954 section 3
 *
 * SPDX-License-Identifier: ISC
 */
#include "transports/smtp/client.h"

#include "base/banned.h"

static void
offer_take_size(struct client_offer *offer, struct slice rest)
{
	struct slice value;

	if (slice_word(&rest, &value))
		slice_number(value, 1, UINT64_MAX / 2, &offer->size_bytes);
}

static void
offer_take_by(struct client_offer *offer, struct slice rest)
{
	struct slice value;

	if (slice_word(&rest, &value))
		slice_number(value, 1, 999999999, &offer->by_min_s);
}

/* "AUTH PLAIN LOGIN", and "AUTH=LOGIN" of servers older than the RFC. */
static void
offer_take_auth(struct client_offer *offer, struct slice rest)
{
	struct slice word;

	while (slice_word(&rest, &word))
		offer->mechanisms |= client_auth_mechanism(word);
}

static void
offer_take_limits(struct client_offer *offer, struct slice rest)
{
	const struct { const char *name; unsigned *field; } rows[] = {
		{ "MAILMAX", &offer->mails }, { "RCPTMAX", &offer->rcpts },
		{ "RCPTDOMAINMAX", &offer->domains },
	};
	struct slice word, name;
	uint64_t number;

	while (slice_word(&rest, &word)) {
		if (!slice_cut(&word, '=', &name) ||
		    !slice_number(word, 1, 1000000, &number))
			continue;
		for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
			if (slice_is_nocase(name, rows[i].name))
				*rows[i].field = (unsigned)number;
	}
}

/* "XCLIENT NAME ADDR PROTO HELO". */
static void
offer_take_xclient(struct client_offer *offer, struct slice rest)
{
	static const struct {
		const char *name;
		unsigned attribute;
	} rows[] = {
		{ "NAME", XCLIENT_NAME }, { "ADDR", XCLIENT_ADDR },
		{ "PORT", XCLIENT_PORT }, { "PROTO", XCLIENT_PROTO },
		{ "HELO", XCLIENT_HELO }, { "LOGIN", XCLIENT_LOGIN },
	};
	struct slice word;

	while (slice_word(&rest, &word))
		for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
			if (slice_is_nocase(word, rows[i].name))
				offer->attributes |= rows[i].attribute;
}

static const struct {
	const char	*keyword;
	unsigned	 extension;
	void		(*take)(struct client_offer *offer,
			    struct slice rest);
} extension_rows[] = {
	{ "PIPELINING", CLIENT_PIPELINING, NULL },
	{ "SIZE", CLIENT_SIZE, offer_take_size },
	{ "8BITMIME", CLIENT_8BITMIME, NULL },
	{ "DSN", CLIENT_DSN, NULL },
	{ "ENHANCEDSTATUSCODES", CLIENT_STATUSCODES, NULL },
	{ "SMTPUTF8", CLIENT_SMTPUTF8, NULL },
	{ "STARTTLS", CLIENT_STARTTLS, NULL },
	{ "REQUIRETLS", CLIENT_REQUIRETLS, NULL },
	{ "CHUNKING", CLIENT_CHUNKING, NULL },
	{ "BINARYMIME", CLIENT_BINARYMIME, NULL },
	{ "DELIVERBY", CLIENT_DELIVERBY, offer_take_by },
	{ "MT-PRIORITY", CLIENT_PRIORITY, NULL },
	{ "LIMITS", CLIENT_LIMITS, offer_take_limits },
	{ "AUTH", CLIENT_AUTH, offer_take_auth },
	{ "XCLIENT", CLIENT_XCLIENT, offer_take_xclient },
};

static void
offer_take_line(struct client_offer *offer, struct slice line)
{
	struct slice keyword;

	if (!slice_word(&line, &keyword))
		return;
	if (slice_is_nocase(slice_first(keyword, 5), "AUTH=")) {
		offer->extensions |= CLIENT_AUTH;
		offer_take_auth(offer, slice_from(keyword, 5));
		offer_take_auth(offer, line);
	}
	for (size_t i = 0; i < sizeof(extension_rows) /
	    sizeof(extension_rows[0]); i++) {
		if (!slice_is_nocase(keyword, extension_rows[i].keyword))
			continue;
		offer->extensions |= extension_rows[i].extension;
		if (extension_rows[i].take != NULL)
			extension_rows[i].take(offer, line);
	}
}

/* The first line names the peer, the others its extensions. */
void
client_offer_take(struct client_offer *offer, const struct reply *reply)
{
	struct slice line;
	size_t cursor = 0;

	*offer = (struct client_offer){ 0 };
	if (!reply_line(reply, &cursor, &line))
		return;
	while (reply_line(reply, &cursor, &line))
		offer_take_line(offer, line);
}
