/* tls_scram.c - SCRAM-SHA-256 with what a server stores of a password
 *
 * In     entries, passwords, proofs
 * Out    yes or no; the server's signature
 * Trusts nothing: comparisons take the same time whatever they find
 * Spec   RFC 5802 section 3; RFC 7677; RFC 8018 section 5.2
 *
 * SPDX-License-Identifier: ISC
 */
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <openssl/sha.h>
#include <string.h>

#include "base/mem.h"
#include "grammar/base64.h"
#include "tls/scram.h"

#include "base/banned.h"

enum { SCRAM_SALT_BYTES = 16 };		/* of ours */

static void
scram_hmac(const unsigned char *key, size_t key_bytes, struct slice text,
    unsigned char out[SCRAM_KEY_BYTES])
{
	unsigned n = SCRAM_KEY_BYTES;

	if (HMAC(EVP_sha256(), key, (int)key_bytes,
	    (const unsigned char *)text.p, text.n, out, &n) == NULL)
		panic("no HMAC");
}

/* ---- entries ---------------------------------------------------------- */

static bool
take_bytes(struct slice *rest, unsigned char *out, size_t max, size_t *out_n)
{
	struct str bytes = STR_INIT;
	struct slice letters;
	bool is_good = slice_cut(rest, ',', &letters) &&
	    base64_decode(letters, &bytes, NULL) == 0 && bytes.len > 0 &&
	    bytes.len <= max;

	if (is_good) {
		memcpy(out, bytes.buf, bytes.len);
		*out_n = bytes.len;
	}
	explicit_bzero(bytes.buf, bytes.len);
	str_release(&bytes);
	return is_good;
}

enum scram_entry
scram_keys_parse(struct slice entry, struct scram_keys *out, struct err *err)
{
	static const char prefix[] = "{SCRAM-SHA-256}";
	struct slice rest = slice_from(entry, sizeof(prefix) - 1), rounds;
	size_t stored = 0, server = 0;
	uint64_t number;

	memset(out, 0, sizeof(*out));
	if (!slice_equal_nocase(slice_first(entry, sizeof(prefix) - 1),
	    slice_of(prefix)))
		return SCRAM_ENTRY_OTHER;
	if (!slice_cut(&rest, ',', &rounds) ||
	    !slice_number(rounds, SCRAM_ROUNDS_MIN, SCRAM_ROUNDS_MAX,
	    &number))
		return err_set(err, "SCRAM wants %d to %d rounds",
		    SCRAM_ROUNDS_MIN, SCRAM_ROUNDS_MAX);
	out->rounds = (unsigned)number;
	if (!take_bytes(&rest, out->salt, sizeof(out->salt),
	    &out->salt_bytes) ||
	    !take_bytes(&rest, out->stored, SCRAM_KEY_BYTES, &stored) ||
	    !take_bytes(&rest, out->server, SCRAM_KEY_BYTES, &server) ||
	    rest.p != NULL || stored != SCRAM_KEY_BYTES ||
	    server != SCRAM_KEY_BYTES)
		return err_set(err, "an entry is {SCRAM-SHA-256}ROUNDS,SALT,"
		    "STOREDKEY,SERVERKEY");
	return SCRAM_ENTRY_KEYS;
}

/* ---- keys ------------------------------------------------------------- */

void
scram_keys_make(struct slice password, struct slice salt, unsigned rounds,
    struct scram_keys *out)
{
	unsigned char salted[SCRAM_KEY_BYTES], client[SCRAM_KEY_BYTES];

	memset(out, 0, sizeof(*out));
	out->rounds = rounds;
	out->salt_bytes = salt.n < SCRAM_SALT_BYTES_MAX ? salt.n :
	    SCRAM_SALT_BYTES_MAX;
	memcpy(out->salt, salt.p, out->salt_bytes);
	if (PKCS5_PBKDF2_HMAC(password.n > 0 ? password.p : "",
	    (int)password.n, out->salt, (int)out->salt_bytes, (int)rounds,
	    EVP_sha256(), SCRAM_KEY_BYTES, salted) != 1)
		panic("no PBKDF2");
	scram_hmac(salted, sizeof(salted), SLICE("Client Key"), client);
	scram_hmac(salted, sizeof(salted), SLICE("Server Key"), out->server);
	(void)SHA256(client, sizeof(client), out->stored);
	explicit_bzero(salted, sizeof(salted));
	explicit_bzero(client, sizeof(client));
}

static void
scram_add_bytes(struct str *out, const unsigned char *bytes, size_t n)
{
	str_addc(out, ',');
	base64_add(out, (struct slice){ (const char *)bytes, n });
}

void
scram_entry_add(struct slice password, struct str *out)
{
	unsigned char salt[SCRAM_SALT_BYTES];
	struct scram_keys keys;

	arc4random_buf(salt, sizeof(salt));
	scram_keys_make(password, (struct slice){ (const char *)salt,
	    sizeof(salt) }, SCRAM_ROUNDS_MIN, &keys);
	str_addf(out, "{SCRAM-SHA-256}%u", keys.rounds);
	scram_add_bytes(out, keys.salt, keys.salt_bytes);
	scram_add_bytes(out, keys.stored, sizeof(keys.stored));
	scram_add_bytes(out, keys.server, sizeof(keys.server));
	explicit_bzero(&keys, sizeof(keys));
}

void
scram_keys_pretend(struct slice secret, struct slice user,
    struct scram_keys *out)
{
	memset(out, 0, sizeof(*out));
	out->rounds = SCRAM_ROUNDS_MIN;
	scram_hmac((const unsigned char *)secret.p, secret.n, user, out->salt);
	out->salt_bytes = SCRAM_SALT_BYTES;
	if (RAND_bytes(out->stored, SCRAM_KEY_BYTES) != 1 ||
	    RAND_bytes(out->server, SCRAM_KEY_BYTES) != 1)
		panic("no random numbers");
}

bool
scram_password_fits(const struct scram_keys *keys, struct slice password)
{
	struct scram_keys made;
	bool fits;

	scram_keys_make(password, (struct slice){ (const char *)keys->salt,
	    keys->salt_bytes }, keys->rounds, &made);
	fits = CRYPTO_memcmp(made.stored, keys->stored, SCRAM_KEY_BYTES) == 0;
	explicit_bzero(&made, sizeof(made));
	return fits;
}

bool
scram_proof_fits(const struct scram_keys *keys, struct slice auth_message,
    struct slice proof, struct str *out)
{
	unsigned char signature[SCRAM_KEY_BYTES], client[SCRAM_KEY_BYTES];
	unsigned char hash[SCRAM_KEY_BYTES];

	if (proof.n != SCRAM_KEY_BYTES)
		return false;
	scram_hmac(keys->stored, SCRAM_KEY_BYTES, auth_message, signature);
	for (size_t i = 0; i < SCRAM_KEY_BYTES; i++)
		client[i] = signature[i] ^ (unsigned char)proof.p[i];
	(void)SHA256(client, sizeof(client), hash);
	explicit_bzero(client, sizeof(client));
	if (CRYPTO_memcmp(hash, keys->stored, SCRAM_KEY_BYTES) != 0)
		return false;
	scram_hmac(keys->server, SCRAM_KEY_BYTES, auth_message, signature);
	str_add(out, signature, sizeof(signature));
	return true;
}

bool
secret_equal(struct slice a, struct slice b)
{
	return a.n == b.n && CRYPTO_memcmp(a.p, b.p, a.n) == 0;
}

void
scram_nonce_add(struct str *out, size_t n)
{
	unsigned char bytes[64];

	if (n > sizeof(bytes) || RAND_bytes(bytes, (int)n) != 1)
		panic("no random numbers");
	base64_add(out, (struct slice){ (const char *)bytes, n });
}
