/* auth.c - AUTH: the talk
 *
 * In     a session after EHLO, a secret
 * Out    an authenticated session; or why mail waits
 * Holds  one exchange
 * Trusts no challenge; words of the server are kept, ours never shown
 * Spec   RFC 4954; RFC 4616 (PLAIN), RFC 2195 (CRAM-MD5), RFC 7677
 *        (SCRAM-SHA-256); LOGIN and XOAUTH2 as the field does them
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "grammar/base64.h"
#include "tls/digest.h"
#include "transports/smtp/auth/auth.h"

#include "base/banned.h"

struct talk {
	struct smtp_client			*client;
	const struct client_secret	*secret;
	struct reply			 reply;		/* the last one */
	struct verdict			*trouble;
	struct err			 err;		/* of our side */
};

typedef bool talk_fn(struct talk *talk);

/* ---- pieces ------------------------------------------------------------ */

static bool
auth_hear(struct talk *talk)
{
	bool is_good;

	talk->client->said_as = "AUTH ***";
	is_good = client_ask(talk->client,
	    "waiting for the reply to AUTH", &talk->reply, talk->trouble);
	talk->client->said_as = NULL;

	/* no trace of it is left in the buffer of what was sent */
	if (talk->client->peer.out.cap > 0)
		explicit_bzero(talk->client->peer.out.buf,
		    talk->client->peer.out.cap);
	return is_good;
}

/* "AUTH MECHANISM [initial]" or, without verb, the answer to a challenge. */
static bool
auth_say(struct talk *talk, const char *verb, struct slice answer)
{
	struct str *out = &talk->client->peer.out;

	str_adds(out, verb);
	if (verb[0] != '\0' && answer.n > 0)
		str_addc(out, ' ');
	base64_add(out, answer);
	str_adds(out, "\r\n");
	return auth_hear(talk);
}

static bool
auth_is_challenge(const struct talk *talk)
{
	return talk->reply.code == 334;
}

/* What stands in a 334 or 235 reply. */
static int
auth_hear_challenge(struct talk *talk, struct str *out)
{
	struct slice line;
	size_t cursor = 0;

	str_reset(out);
	if (!reply_line(&talk->reply, &cursor, &line))
		return 0;
	return base64_decode(slice_trim(line), out, &talk->err);
}

/* Ours is the fault, or the server's in a way that has no reply: give up
 * the exchange (RFC 4954 section 4). */
static bool
auth_cancel(struct talk *talk)
{
	str_adds(&talk->client->peer.out, "*\r\n");
	return auth_hear(talk);
}

/* ---- the mechanisms ---------------------------------------------------- */

static bool
auth_talk_plain(struct talk *talk)
{
	struct str answer = STR_INIT;
	bool is_good;

	str_addc(&answer, '\0');
	str_adds(&answer, talk->secret->user);
	str_addc(&answer, '\0');
	str_adds(&answer, talk->secret->password);
	is_good = auth_say(talk, "AUTH PLAIN", str_slice(&answer));
	explicit_bzero(answer.buf, answer.len);
	str_release(&answer);
	return is_good;
}

static bool
auth_talk_login(struct talk *talk)
{
	return auth_say(talk, "AUTH LOGIN", SLICE("")) &&
	    (!auth_is_challenge(talk) ||
	    (auth_say(talk, "", slice_of(talk->secret->user)) &&
	    (!auth_is_challenge(talk) ||
	    auth_say(talk, "", slice_of(talk->secret->password)))));
}

static bool
auth_talk_cram(struct talk *talk)
{
	unsigned char sum[DIGEST_MD5_BYTES];
	struct str text = STR_INIT;
	bool is_good = auth_say(talk, "AUTH CRAM-MD5", SLICE(""));

	if (!is_good || !auth_is_challenge(talk))
		return is_good;
	if (auth_hear_challenge(talk, &text) < 0 || digest_hmac(DIGEST_MD5,
	    slice_of(talk->secret->password), str_slice(&text), sum) < 0) {
		err_set(&talk->err, "CRAM-MD5 cannot be done");
		str_release(&text);
		return auth_cancel(talk);
	}
	str_reset(&text);
	str_addf(&text, "%s ", talk->secret->user);
	for (size_t i = 0; i < sizeof(sum); i++)
		str_addf(&text, "%02x", sum[i]);
	is_good = auth_say(talk, "", str_slice(&text));
	str_release(&text);
	return is_good;
}

/* The server's proof comes in a challenge of its own or with the 235; mail
 * goes to nobody who has none. */
static bool
auth_end_scram(struct talk *talk, struct scram *scram, struct str *text)
{
	bool was_challenge = auth_is_challenge(talk);

	if (talk->reply.code / 100 > 3)
		return true;
	if (auth_hear_challenge(talk, text) < 0 ||
	    scram_verify(scram, str_slice(text), &talk->err) < 0) {
		if (was_challenge)
			return auth_cancel(talk);
		talk->reply.code = 535;
		return true;
	}
	return was_challenge ? auth_say(talk, "", SLICE("")) : true;
}

static bool
auth_talk_scram(struct talk *talk)
{
	struct str text = STR_INIT, answer = STR_INIT;
	struct scram scram;
	bool is_good;

	scram_init(&scram);
	scram_first(&scram, talk->secret->user, &answer);
	is_good = auth_say(talk, "AUTH SCRAM-SHA-256", str_slice(&answer));
	if (is_good && auth_is_challenge(talk)) {
		str_reset(&answer);
		if (auth_hear_challenge(talk, &text) < 0 || scram_final(&scram,
		    str_slice(&text), talk->secret->password, &answer,
		    &talk->err) < 0)
			is_good = auth_cancel(talk);
		else
			is_good = auth_say(talk, "", str_slice(&answer)) &&
			    auth_end_scram(talk, &scram, &text);
	} else if (is_good && talk->reply.code / 100 == 2) {
		err_set(&talk->err, "SCRAM: the server proves nothing");
		talk->reply.code = 535;
	}
	scram_release(&scram);
	str_release(&text);
	str_release(&answer);
	return is_good;
}

static bool
talk_xoauth2(struct talk *talk)
{
	struct str token = STR_INIT, answer = STR_INIT;
	bool is_good = true;

	if (client_token_read(talk->secret, &token, &talk->err) < 0) {
		talk->reply.code = 535;
	} else {
		str_addf(&answer, "user=%s\001auth=Bearer %s\001\001",
		    talk->secret->user, token.buf);
		is_good = auth_say(talk, "AUTH XOAUTH2", str_slice(&answer));
		/* an error comes as a challenge that wants an empty answer */
		if (is_good && auth_is_challenge(talk))
			is_good = auth_say(talk, "", SLICE(""));
	}
	explicit_bzero(token.buf, token.len);
	explicit_bzero(answer.buf, answer.len);
	str_release(&token);
	str_release(&answer);
	return is_good;
}

/* ---- the choice -------------------------------------------------------- */

static const struct {
	const char	*name;
	unsigned	 mechanism;
	bool		 wants_token;
	talk_fn		*talk;
} mechanism_rows[] = {		/* the best first */
	{ "SCRAM-SHA-256", CLIENT_SCRAM_SHA_256, false, auth_talk_scram },
	{ "CRAM-MD5", CLIENT_CRAM_MD5, false, auth_talk_cram },
	{ "PLAIN", CLIENT_PLAIN, false, auth_talk_plain },
	{ "LOGIN", CLIENT_LOGIN, false, auth_talk_login },
	{ "XOAUTH2", CLIENT_XOAUTH2, true, talk_xoauth2 },
};

enum { MECHANISMS = sizeof(mechanism_rows) / sizeof(mechanism_rows[0]) };

unsigned
client_auth_mechanism(struct slice word)
{
	for (size_t i = 0; i < MECHANISMS; i++)
		if (slice_is_nocase(word, mechanism_rows[i].name))
			return mechanism_rows[i].mechanism;
	return 0;
}

/* The exchange came to an end, whichever. */
static bool
auth_judge(struct talk *talk)
{
	if (talk->reply.code / 100 == 2)
		return true;
	if (talk->err.text[0] != '\0')
		return client_unfit(talk->client, "4.7.8", talk->err.text,
		    talk->trouble);
	return client_refused(talk->client, &talk->reply, talk->trouble);
}

/* A wrong password is mended by a person: all of it only makes mail wait. */
bool
client_auth(struct smtp_client *client, const struct client_secret *secret,
    struct verdict *out_trouble)
{
	struct talk talk = { .client = client, .secret = secret,
	    .trouble = out_trouble, .err = { "" } };

	if (client->tls.version[0] == '\0' &&
	    !client->conf->auth_to.is_plain_ok)
		return client_unfit(client, "4.7.11", "the password for this "
		    "host is sent only under TLS, which it does not speak",
		    out_trouble);
	for (size_t i = 0; i < MECHANISMS; i++) {
		unsigned one = mechanism_rows[i].mechanism;

		if (!(client->offer.mechanisms & one) ||
		    mechanism_rows[i].wants_token !=
		    (secret->token_path != NULL) ||
		    (secret->mechanism != 0 && secret->mechanism != one))
			continue;
		return mechanism_rows[i].talk(&talk) && auth_judge(&talk);
	}
	return client_unfit(client, "4.7.4", "the host offers no way to "
	    "authenticate that we can use", out_trouble);
}
