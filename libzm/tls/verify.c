/* tls_verify.c - whether a signature is that of a public key
 *
 * In     keys and signatures of strangers
 * Out    right, wrong, or no key
 * Holds  keys as they were read, in a process that asks for it: as many as
 *        VERIFY_KEPT_PAIRS have room for, each compared whole
 * Trusts nobody
 * Spec   RFC 8017, RFC 8032, RFC 8463
 *
 * To read a key costs more than to check a signature by it.
 *
 * SPDX-License-Identifier: ISC
 */
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>

#include "base/siphash.h"
#include "tls/digest.h"
#include "tls/verify.h"

#include "base/banned.h"

struct verify_key {
	EVP_PKEY	*key;		/* NULL: none */
	EVP_PKEY_CTX	*check;		/* of RSA alone: ready to check sums */
};

struct verify_slot {
	struct str	 text;		/* the key as it came */
	enum verify_kind kind;
	struct verify_key read;
};

/* [0]: what was used again; [1]: what came last */
static struct verify_slot (*kept)[2];	/* NULL: none is kept */

/* ---- keys --------------------------------------------------------------- */

static EVP_PKEY *
verify_key_read_rsa(struct slice key)
{
	const unsigned char *p = (const unsigned char *)key.p;
	EVP_PKEY *rsa = d2i_PUBKEY(NULL, &p, (long)key.n);

	p = (const unsigned char *)key.p;
	if (rsa == NULL)
		rsa = d2i_PublicKey(EVP_PKEY_RSA, NULL, &p, (long)key.n);
	if (rsa != NULL && EVP_PKEY_get_base_id(rsa) == EVP_PKEY_RSA &&
	    EVP_PKEY_get_bits(rsa) <= VERIFY_BITS_MAX)
		return rsa;
	EVP_PKEY_free(rsa);
	return NULL;
}

static void
verify_key_release(struct verify_key *key)
{
	EVP_PKEY_CTX_free(key->check);
	EVP_PKEY_free(key->key);
	*key = (struct verify_key){ NULL, NULL };
}

static EVP_PKEY_CTX *
verify_check_new(EVP_PKEY *rsa)
{
	EVP_PKEY_CTX *check = EVP_PKEY_CTX_new_from_pkey(NULL, rsa, NULL);

	if (check != NULL && EVP_PKEY_verify_init(check) == 1 &&
	    EVP_PKEY_CTX_set_rsa_padding(check, RSA_PKCS1_PADDING) == 1 &&
	    EVP_PKEY_CTX_set_signature_md(check, EVP_sha256()) == 1)
		return check;
	EVP_PKEY_CTX_free(check);
	return NULL;
}

static void
verify_key_read(enum verify_kind kind, struct slice key,
    struct verify_key *out)
{
	*out = (struct verify_key){ NULL, NULL };
	if (key.n == 0)
		return;
	if (kind == VERIFY_RSA_SHA256) {
		out->key = verify_key_read_rsa(key);
		if (out->key != NULL)
			out->check = verify_check_new(out->key);
	} else if (key.n == VERIFY_ED25519_KEY_BYTES) {
		out->key = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL,
		    (const unsigned char *)key.p, key.n);
	}
}

/* ---- keys that are kept ------------------------------------------------- */

void
verify_keep_keys(bool is_wanted)
{
	if (is_wanted == (kept != NULL))
		return;
	if (is_wanted) {
		kept = mem_alloc(VERIFY_KEPT_PAIRS, sizeof(*kept));
		for (size_t i = 0; i < VERIFY_KEPT_PAIRS * 2; i++)
			str_init(&kept[i / 2][i % 2].text);
		return;
	}
	for (size_t i = 0; i < VERIFY_KEPT_PAIRS * 2; i++) {
		str_release(&kept[i / 2][i % 2].text);
		verify_key_release(&kept[i / 2][i % 2].read);
	}
	mem_free(&kept);
}

size_t
verify_kept_count(void)
{
	size_t count = 0;

	for (size_t i = 0; kept != NULL && i < VERIFY_KEPT_PAIRS * 2; i++)
		count += kept[i / 2][i % 2].read.key != NULL;
	return count;
}

static bool
verify_slot_is(const struct verify_slot *slot, enum verify_kind kind,
    struct slice key)
{
	return slot->read.key != NULL && slot->kind == kind &&
	    slice_equal(str_slice(&slot->text), key);
}

/* The key, kept or read now.  NULL: it is none. */
static struct verify_key *
verify_kept_find(enum verify_kind kind, struct slice key)
{
	struct siphash hash = siphash(siphash_process_key(), key);
	struct verify_slot *pair = kept[hash.low & (VERIFY_KEPT_PAIRS - 1)];
	struct verify_slot last = pair[1];
	struct verify_key read;

	if (verify_slot_is(&pair[0], kind, key))
		return &pair[0].read;
	if (verify_slot_is(&last, kind, key)) {
		pair[1] = pair[0];	/* used again: they change places */
		pair[0] = last;
		return &pair[0].read;
	}
	verify_key_read(kind, key, &read);
	if (read.key == NULL)
		return NULL;
	verify_key_release(&pair[1].read);
	pair[1].kind = kind;
	pair[1].read = read;
	str_reset(&pair[1].text);
	str_add_slice(&pair[1].text, key);
	return &pair[1].read;
}

/* ---- signatures --------------------------------------------------------- */

static bool
verify_rsa(const struct verify_key *key, const unsigned char *sum,
    struct slice signature)
{
	return key->check != NULL && EVP_PKEY_verify(key->check,
	    (const unsigned char *)signature.p, signature.n, sum,
	    DIGEST_SHA256_BYTES) == 1;
}

/* RFC 8463 section 3: what is signed is the sum. */
static bool
verify_ed25519(const struct verify_key *key, const unsigned char *sum,
    struct slice signature)
{
	EVP_MD_CTX *context = EVP_MD_CTX_new();
	bool is_right = context != NULL && EVP_DigestVerifyInit(context, NULL,
	    NULL, NULL, key->key) == 1 && EVP_DigestVerify(context,
	    (const unsigned char *)signature.p, signature.n, sum,
	    DIGEST_SHA256_BYTES) == 1;

	EVP_MD_CTX_free(context);
	return is_right;
}

enum verify_result
verify_signature(enum verify_kind kind, struct slice key, struct slice bytes,
    struct slice signature, unsigned *out_bits)
{
	struct verify_key own = { NULL, NULL }, *found = &own;
	unsigned char sum[DIGEST_SHA256_BYTES];
	bool is_right = false;

	*out_bits = 0;
	if (kept != NULL && key.n > 0 && key.n <= VERIFY_KEPT_BYTES_MAX)
		found = verify_kept_find(kind, key);
	else
		verify_key_read(kind, key, &own);
	if (found != NULL && found->key != NULL) {
		*out_bits = (unsigned)EVP_PKEY_get_bits(found->key);
		is_right = digest(DIGEST_SHA256, bytes, sum) == 0 &&
		    (kind == VERIFY_RSA_SHA256 ?
		    verify_rsa(found, sum, signature) :
		    verify_ed25519(found, sum, signature));
	}
	verify_key_release(&own);
	ERR_clear_error();
	return *out_bits == 0 ? VERIFY_NO_KEY : is_right ? VERIFY_RIGHT :
	    VERIFY_WRONG;
}
