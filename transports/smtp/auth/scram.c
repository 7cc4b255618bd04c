/* scram.c - SCRAM-SHA-256, the client's sums
 *
 * In     user and password; what the server says
 * Out    what we say; whether the server proved itself
 * Holds  one exchange
 * Trusts no field: the nonce must begin with ours, rounds are bounded, the
 *        server must prove that it knows the password
 * Spec   RFC 5802 sections 3, 5 and 7; RFC 7677
 *
 *   client-first = "n,,n=" saslname ",r=" nonce
 *   server-first = "r=" nonce ",s=" base64 ",i=" rounds
 *   client-final = "c=biws,r=" nonce ",p=" base64
 *   server-final = ( "v=" base64 / "e=" error )
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "grammar/base64.h"
#include "tls/digest.h"
#include "transports/smtp/auth/auth.h"

#include "base/banned.h"

enum { SUM = DIGEST_SHA256_BYTES };

static struct slice
scram_sum_slice(const unsigned char *sum)
{
	return (struct slice){ (const char *)sum, SUM };
}

void
scram_init(struct scram *scram)
{
	unsigned char bytes[16];

	str_init(&scram->first_bare);
	memset(scram->server_key, 0, sizeof(scram->server_key));
	arc4random_buf(bytes, sizeof(bytes));
	for (size_t i = 0; i < sizeof(bytes); i++)
		snprintf(scram->nonce + 2 * i, 3, "%02x", bytes[i]);
}

void
scram_release(struct scram *scram)
{
	str_release(&scram->first_bare);
	explicit_bzero(scram, sizeof(*scram));
}

void
scram_first(struct scram *scram, const char *user, struct str *out)
{
	str_adds(&scram->first_bare, "n=");
	for (; *user != '\0'; user++)
		if (*user == '=' || *user == ',')
			str_adds(&scram->first_bare,
			    *user == '=' ? "=3D" : "=2C");
		else
			str_addc(&scram->first_bare, *user);
	str_addf(&scram->first_bare, ",r=%s", scram->nonce);
	str_adds(out, "n,,");
	str_add_slice(out, str_slice(&scram->first_bare));
}

/* Cut "x=value" off the front. */
static bool
scram_field(struct slice *rest, char name, struct slice *out)
{
	if (!slice_cut(rest, ',', out) || out->n < 2 || out->p[0] != name ||
	    out->p[1] != '=')
		return false;
	*out = slice_from(*out, 2);
	return true;
}

struct challenge {
	struct slice	nonce;
	struct str	salt;
	uint64_t	rounds;
};

static int
scram_parse_challenge(const struct scram *scram, struct slice text,
    struct challenge *out, struct err *err)
{
	struct slice salt, rounds;

	if (!scram_field(&text, 'r', &out->nonce) || !scram_field(&text, 's',
	    &salt) ||
	    !scram_field(&text, 'i', &rounds) ||
	    base64_decode(salt, &out->salt, NULL) < 0)
		return err_set(err, "SCRAM: the challenge is not understood");
	if (!slice_starts(out->nonce, scram->nonce) ||
	    out->nonce.n <= strlen(scram->nonce))
		return err_set(err, "SCRAM: the server repeats a nonce that "
		    "is not ours");
	if (!slice_number(rounds, CLIENT_SCRAM_ROUNDS_MIN,
	    CLIENT_SCRAM_ROUNDS_MAX, &out->rounds))
		return err_set(err, "SCRAM: " SLICE_FMT " rounds are not "
		    "from %d to %d", SLICE_ARG(slice_first(rounds, 20)),
		    CLIENT_SCRAM_ROUNDS_MIN, CLIENT_SCRAM_ROUNDS_MAX);
	return 0;
}

/* ClientProof and ServerSignature of RFC 5802 section 3. */
static int
scram_make_proofs(struct scram *scram, const struct challenge *challenge,
    const char *password, struct slice message, unsigned char *out_proof)
{
	unsigned char salted[SUM], key[SUM], stored[SUM], server[SUM];
	int result = -1;

	if (digest_pbkdf2(slice_of(password), str_slice(&challenge->salt),
	    (unsigned)challenge->rounds, salted) == 0 &&
	    digest_hmac(DIGEST_SHA256, scram_sum_slice(salted),
	    SLICE("Client Key"), key) == 0 &&
	    digest(DIGEST_SHA256, scram_sum_slice(key), stored) == 0 &&
	    digest_hmac(DIGEST_SHA256, scram_sum_slice(stored), message,
	    out_proof) == 0 &&
	    digest_hmac(DIGEST_SHA256, scram_sum_slice(salted),
	    SLICE("Server Key"), server) == 0 &&
	    digest_hmac(DIGEST_SHA256, scram_sum_slice(server), message,
	    scram->server_key) == 0)
		result = 0;
	for (size_t i = 0; result == 0 && i < SUM; i++)
		out_proof[i] ^= key[i];
	explicit_bzero(salted, sizeof(salted));
	explicit_bzero(key, sizeof(key));
	explicit_bzero(server, sizeof(server));
	return result;
}

int
scram_final(struct scram *scram, struct slice server_first,
    const char *password, struct str *out, struct err *err)
{
	struct challenge challenge = { .salt = STR_INIT };
	unsigned char proof[SUM] = { 0 };
	struct str message = STR_INIT;
	int result = scram_parse_challenge(scram, server_first, &challenge,
	    err);

	if (result == 0) {
		str_addf(out, "c=biws,r=" SLICE_FMT,
		    SLICE_ARG(challenge.nonce));
		str_addf(&message, "%s," SLICE_FMT ",%s",
		    scram->first_bare.buf, SLICE_ARG(server_first),
		    out->buf);
		result = scram_make_proofs(scram, &challenge, password,
		    str_slice(&message), proof);
		if (result < 0)
			err_set(err, "SCRAM: the sums cannot be made");
		str_adds(out, ",p=");
		base64_add(out, scram_sum_slice(proof));
	}
	str_release(&message);
	str_release(&challenge.salt);
	return result;
}

int
scram_verify(struct scram *scram, struct slice server_final, struct err *err)
{
	struct str sum = STR_INIT;
	struct slice value;
	bool is_good = scram_field(&server_final, 'v', &value) &&
	    base64_decode(value, &sum, NULL) == 0 && sum.len == SUM &&
	    digest_equal((const unsigned char *)sum.buf, scram->server_key,
	    SUM);

	str_release(&sum);
	return is_good ? 0 : err_set(err,
	    "SCRAM: the server does not know the password itself");
}
