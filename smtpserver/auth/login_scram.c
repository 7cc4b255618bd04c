/* login_scram.c - SCRAM-SHA-256 and SCRAM-SHA-256-PLUS
 *
 * In     the client's messages; salt, rounds and verdict of a helper, who
 *        alone knows what is stored of a password
 * Out    the server's messages
 * Trusts nothing: nonce, header and channel of the last message must be
 *        those of this exchange on this connection
 * Spec   RFC 5802 sections 5 to 7; RFC 7677; RFC 9266, RFC 5929 (channels)
 *
 * SPDX-License-Identifier: ISC
 */
#include "grammar/base64.h"
#include "tls/scram.h"
#include "smtpserver/auth/login_internal.h"

#include "base/banned.h"

enum { NONCE_BYTES = 18 };

static bool
is_plus(const struct login *login)
{
	return slice_ends(slice_of(login->mechanism), "-PLUS");
}

/* The channel that the client names; false: we have no such thing. */
static bool
binding_keep(struct login *login, struct slice name)
{
	struct slice data = { NULL, 0 };

	if (slice_is(name, "tls-exporter"))
		data = login->place->exporter;
	else if (slice_is(name, "tls-server-end-point"))
		data = login->place->end_point;
	str_reset(&login->binding);
	str_add_slice(&login->binding, data);
	return data.n > 0;
}

/* NULL: all is well. */
static const char *
first_refusal(struct login *login, const struct scram_first *first)
{
	bool binds = first->binding == SCRAM_BINDING;

	if (is_plus(login) != binds)
		return "the client binds another channel than it says";
	if (binds && !binding_keep(login, first->binding_name))
		return "the client binds a channel that there is not";
	/* Somebody in between took our offer out: RFC 5802 section 6. */
	if (first->binding == SCRAM_NOT_OFFERED &&
	    login->place->offers_binding)
		return "channel binding was offered and not seen";
	if (first->authzid[0] != '\0' && !slice_is(
	    slice_of(first->authzid), first->user))
		return "one user may not act as another";
	if (!login_claim(login, slice_of(first->user)))
		return "no user can be that";
	return NULL;
}

static enum login_next
first_take(struct login *login, struct slice response, struct str *out)
{
	struct scram_first first;
	const char *refusal;
	struct err err;

	if (scram_first_parse(response, &first, &err) != 0)
		return login_say(LOGIN_MALFORMED, out, err.text);
	refusal = first_refusal(login, &first);
	if (refusal != NULL)
		return login_say(LOGIN_BAD, out, refusal);
	str_add_slice(&login->gs2, first.gs2);
	str_add_slice(&login->first, first.bare);
	str_adds(&login->server_first, "r=");
	str_add_slice(&login->server_first, first.nonce);
	scram_nonce_add(&login->server_first, NONCE_BYTES);
	str_reset(out);
	str_adds(out, "scram-first ");
	base64_add(out, str_slice(&login->user));
	return LOGIN_ASK;
}

/* "SALT ROUNDS": the message becomes whole. */
static enum login_next
first_answered(struct login *login, struct slice answer, struct str *out)
{
	struct slice salt, rounds;
	uint64_t number;

	if (!slice_word(&answer, &salt) || !slice_word(&answer, &rounds) ||
	    !slice_number(rounds, 1, SCRAM_ROUNDS_MAX, &number))
		return login_say(LOGIN_TROUBLE, out,
		    "the back end talks nonsense");
	str_adds(&login->server_first, ",s=");
	str_add_slice(&login->server_first, salt);
	str_adds(&login->server_first, ",i=");
	str_add_slice(&login->server_first, rounds);
	str_reset(out);
	str_add_slice(out, str_slice(&login->server_first));
	return LOGIN_CHALLENGE;
}

static struct slice
nonces_of(const struct login *login)
{
	struct slice nonces = slice_from(str_slice(&login->server_first), 2);

	return slice_first(nonces, slice_find(nonces, ','));
}

/* c= must be our header and channel, not another's. */
static bool
is_our_channel(const struct login *login, struct slice letters)
{
	struct str want = STR_INIT, got = STR_INIT;
	bool is_ours;

	str_add_slice(&want, str_slice(&login->gs2));
	str_add_slice(&want, str_slice(&login->binding));
	is_ours = base64_decode(letters, &got, NULL) == 0 &&
	    slice_equal(str_slice(&want), str_slice(&got));
	str_release(&want);
	str_release(&got);
	return is_ours;
}

static enum login_next
final_take(struct login *login, struct slice response, struct str *out)
{
	struct str message = STR_INIT, proof = STR_INIT;
	struct scram_final final;
	struct err err;

	if (scram_final_parse(response, &final, &err) != 0 ||
	    base64_decode(final.proof, &proof, &err) != 0) {
		str_release(&proof);
		return login_say(LOGIN_MALFORMED, out, err.text);
	}
	if (!slice_equal(final.nonce, nonces_of(login)) ||
	    !is_our_channel(login, final.binding)) {
		str_release(&proof);
		return login_say(LOGIN_BAD, out,
		    "nonce or channel are another's");
	}
	str_addf(&message, "%s,%s,", login->first.buf,
	    login->server_first.buf);
	str_add_slice(&message, final.bare);
	str_reset(out);
	str_adds(out, "scram-final ");
	base64_add(out, str_slice(&login->user));
	str_addc(out, ' ');
	base64_add(out, str_slice(&message));
	str_addc(out, ' ');
	base64_add(out, str_slice(&proof));
	str_release(&message);
	str_release(&proof);
	return LOGIN_ASK;
}

static enum login_next
final_answered(struct login *login, struct slice answer, struct str *out)
{
	struct slice verb, signature, letters;
	struct str name = STR_INIT;

	if (!slice_word(&answer, &verb) || !slice_is(verb, "ok") ||
	    !slice_word(&answer, &signature))
		return login_say(LOGIN_BAD, out, "wrong user or password");
	if (slice_word(&answer, &letters) &&
	    base64_decode(letters, &name, NULL) == 0)
		(void)login_claim(login, str_slice(&name));
	str_release(&name);
	str_reset(out);
	str_adds(out, "v=");
	str_add_slice(out, signature);
	return LOGIN_CHALLENGE;
}

/* The client has our signature, and says nothing to it. */
static enum login_next
end_take(struct login *login, struct slice response, struct str *out)
{
	return response.n == 0 ? LOGIN_GOOD : login_say(LOGIN_MALFORMED, out,
	    "nothing is to be said any more");
}

enum login_next
login_scram_take(struct login *login, struct slice response, struct str *out)
{
	/* a round is a response of the client */
	return login->round == 1 ? first_take(login, response, out) :
	    login->round == 2 ? final_take(login, response, out) :
	    end_take(login, response, out);
}

enum login_next
scram_answered(struct login *login, struct slice answer, struct str *out)
{
	return login->round == 1 ? first_answered(login, answer, out) :
	    final_answered(login, answer, out);
}
