/* tls_scram.h - SCRAM-SHA-256, with the keys that a server stores for a
 * password
 *
 * Not part of TLS; it is here because it uses OpenSSL.  RFC 5802 section 3, RFC
 * 7677.  An entry as PostgreSQL, Dovecot and others write it:
 *
 * 	{SCRAM-SHA-256}4096,SALT,STOREDKEY,SERVERKEY	(base64)
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TLS_SCRAM_H
#define ZM_TLS_SCRAM_H

#include <stdbool.h>

#include "base/err.h"
#include "base/str.h"

enum {
	SCRAM_KEY_BYTES = 32,
	SCRAM_SALT_BYTES_MAX = 64,
	SCRAM_ROUNDS_MIN = 4096,	/* RFC 7677 section 4 */
	SCRAM_ROUNDS_MAX = 10000000
};

struct scram_keys {
	unsigned	rounds;
	unsigned char	salt[SCRAM_SALT_BYTES_MAX];
	size_t		salt_bytes;
	unsigned char	stored[SCRAM_KEY_BYTES], server[SCRAM_KEY_BYTES];
};

enum scram_entry {
	SCRAM_ENTRY_BAD = -1,
	SCRAM_ENTRY_OTHER = 0,
	SCRAM_ENTRY_KEYS = 1
};

/* Read an entry.  SCRAM_ENTRY_OTHER: it is of another kind. */
enum scram_entry scram_keys_parse(struct slice entry, struct scram_keys *out,
    struct err *err);

/* Append the entry of a password, with fresh salt.  Rounds and length of the
 * salt are those that a user who does not exist seems to have
 * (scram_keys_pretend): nobody can tell them apart. */
void scram_entry_add(struct slice password, struct str *out);

/* Compute the keys of a password. */
void scram_keys_make(struct slice password, struct slice salt,
    unsigned rounds, struct scram_keys *out);
/* Keys for a user who does not exist, so that a client cannot tell: salt and
 * rounds are always the same for a name, and no proof fits. */
void scram_keys_pretend(struct slice secret, struct slice user,
    struct scram_keys *out);

/* Does this password belong to the keys? */
bool scram_password_fits(const struct scram_keys *keys,
    struct slice password);

/* Is the client's proof (decoded) right?  If so, appends the server's signature
 * to out.  auth_message: RFC 5802 section 3. */
bool scram_proof_fits(const struct scram_keys *keys,
    struct slice auth_message, struct slice proof, struct str *out);

/* Whether a and b are equal, in a time that does not depend on where they
 * differ. */
bool secret_equal(struct slice a, struct slice b);

/* Append n random bytes, as base64. */
void scram_nonce_add(struct str *out, size_t n);

#endif
