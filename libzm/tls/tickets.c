/* tls_tickets.c - sealing and opening session tickets
 *
 * In     keys from whoever rotates them
 * Out    tickets that any process with the same keys can open
 * Trusts nothing in a ticket before its MAC was checked by OpenSSL
 * Spec   RFC 5077 section 4; RFC 8446 section 4.6.1
 *
 * SPDX-License-Identifier: ISC
 */
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <string.h>

#include "base/mem.h"
#include "tls/internal.h"

#include "base/banned.h"

enum { NAME_BYTES = 16, SECRET_BYTES = 32 };

struct ticket_key {
	unsigned char	name[NAME_BYTES];
	unsigned char	mac[SECRET_BYTES];
	unsigned char	cipher[SECRET_BYTES];
};

_Static_assert(sizeof(struct ticket_key) == TLS_TICKET_KEY_BYTES,
    "a key crosses between processes as it stands");

struct tls_tickets {
	struct ticket_key	current, previous;
	bool			has_previous;
};

void
tls_ticket_key_make(char out[TLS_TICKET_KEY_BYTES])
{
	if (RAND_bytes((unsigned char *)out, TLS_TICKET_KEY_BYTES) != 1)
		panic("no random numbers");
}

struct tls_tickets *
tls_tickets_new(void)
{
	struct tls_tickets *tickets = mem_alloc(1, sizeof(*tickets));

	tls_ticket_key_make((char *)&tickets->current);
	return tickets;
}

void
tls_tickets_free(struct tls_tickets **tickets)
{
	if (*tickets != NULL)
		explicit_bzero(*tickets, sizeof(**tickets));
	mem_free(tickets);
}

int
tls_tickets_set(struct tls_tickets *tickets, struct slice current,
    struct slice previous)
{
	if (current.n != TLS_TICKET_KEY_BYTES ||
	    (previous.n != 0 && previous.n != TLS_TICKET_KEY_BYTES))
		return -1;
	memcpy(&tickets->current, current.p, current.n);
	tickets->has_previous = previous.n > 0;
	if (tickets->has_previous)
		memcpy(&tickets->previous, previous.p, previous.n);
	return 0;
}

static int
key_use(const struct ticket_key *key, unsigned char *iv,
    EVP_CIPHER_CTX *cipher, EVP_MAC_CTX *mac, int is_sealing)
{
	static char digest[] = "SHA256";
	OSSL_PARAM params[] = {
		OSSL_PARAM_octet_string(OSSL_MAC_PARAM_KEY,
		    (void *)(uintptr_t)key->mac, sizeof(key->mac)),
		OSSL_PARAM_utf8_string(OSSL_MAC_PARAM_DIGEST, digest,
		    sizeof(digest) - 1),
		OSSL_PARAM_END
	};

	return EVP_CipherInit_ex(cipher, EVP_aes_256_cbc(), NULL, key->cipher,
	    iv, is_sealing) == 1 && EVP_MAC_CTX_set_params(mac, params) == 1;
}

/* For OpenSSL.  returns 1 done; 2 done, give the client a new one; 0 not
 * ours: a full handshake; -1 trouble. */
int
tls_ticket_crypt(SSL *ssl, unsigned char *name, unsigned char *iv,
    EVP_CIPHER_CTX *cipher, EVP_MAC_CTX *mac, int is_sealing)
{
	const struct tls_tickets *tickets =
	    SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl));
	const struct ticket_key *key = &tickets->current;

	if (is_sealing) {
		if (RAND_bytes(iv, EVP_CIPHER_get_iv_length(
		    EVP_aes_256_cbc())) != 1)
			return -1;
		memcpy(name, key->name, NAME_BYTES);
		return key_use(key, iv, cipher, mac, 1) ? 1 : -1;
	}
	if (memcmp(name, key->name, NAME_BYTES) == 0)
		return key_use(key, iv, cipher, mac, 0) ? 1 : -1;
	key = &tickets->previous;
	if (!tickets->has_previous || memcmp(name, key->name, NAME_BYTES) != 0)
		return 0;
	return key_use(key, iv, cipher, mac, 0) ? 2 : -1;
}
