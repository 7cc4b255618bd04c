/* auth.h - how the client authenticates: secret.c has the names, auth.c the
 * dialogue, scram.c the hashes
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TRANSPORTS_AUTH_H
#define ZM_TRANSPORTS_AUTH_H

#include "transports/smtp/client.h"

enum {
	CLIENT_TOKEN_BYTES_MAX = 16384,
	CLIENT_SCRAM_ROUNDS_MIN = 4096,		/* RFC 7677 section 4 */
	CLIENT_SCRAM_ROUNDS_MAX = 600000	/* about a second */
};

struct client_secret {
	struct client_secret	*next;
	struct arena		*arena;
	const char		*host;		/* as of tls-to */
	const char		*user;
	char			*password;	/* NULL: a token */
	const char		*token_path;
	unsigned		 mechanism;	/* 0: the best */
};

/* Read the token's file, one line.  0 or -1 (err). */
int client_token_read(const struct client_secret *secret, struct str *out,
    struct err *err);

/* SCRAM-SHA-256 (RFC 5802, RFC 7677), all messages without base64. */
struct scram {
	struct str	first_bare;	/* client-first-message-bare */
	unsigned char	server_key[32];	/* ServerSignature to be seen */
	char		nonce[33];
};
void scram_init(struct scram *scram);
void scram_release(struct scram *scram);
/* Append client-first-message. */
void scram_first(struct scram *scram, const char *user, struct str *out);
/* Take server-first-message, append client-final-message. 0 or -1. */
int scram_final(struct scram *scram, struct slice server_first,
    const char *password, struct str *out, struct err *err);
/* Take server-final-message, and check that the server knows the password, too.
 * 0 or -1. */
int scram_verify(struct scram *scram, struct slice server_final,
    struct err *err);

#endif
