/* signatures.h - the DKIM signatures that a message of ours gets
 *
 * The worker's side of signer.h: it chooses the sign statements for a message,
 * and makes their fields.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_ROUTER_SIGN_SIGNATURES_H
#define ZM_ROUTER_SIGN_SIGNATURES_H

#include "base/cache.h"
#include "conf/conf.h"
#include "io/ipc.h"
#include "mail/envelope.h"
#include "router/sign/rows.h"
#include "tls/digest.h"
#include "tls/verify.h"

enum {
	SIGNATURES_ANSWER_MS = 60 * 1000,	/* then the key is missing */
	SIGNATURES_KIND_MS = 60 * 1000
};

struct signatures {		/* a worker's */
	const struct conf	*conf;
	int			 socket;	/* to the process; -1: none */
	struct ipc_inbox	 inbox;
	struct cache		*kinds;		/* of keys, by the questions for
						 * them; a worker ends with its
						 * configuration */
	bool			 knew_kind;	/* of the last one */
	/* of one message: */
	struct slice		 body;
	bool			 has_sum;
	unsigned char		 sum[DIGEST_SHA256_BYTES];
};

/* socket: of signer_open, owned from now on; -1: there is none. */
void signatures_init(struct signatures *signatures, const struct conf *conf,
    int socket);
void signatures_release(struct signatures *signatures);

/* May mail with this envelope be signed at all?  Mail of this machine and of
 * users who logged in, and reports may; mail from elsewhere may not. */
bool signatures_are_for(const struct signatures *signatures,
    const struct envelope *envelope);

/* The domain of the first address of the first From; .n 0: none. */
struct slice signatures_domain(struct slice header, struct arena *arena);

/* The kind of the key of a row, asked for once in SIGNATURES_KIND_MS.  0; -1:
 * it cannot be used (err). */
int signatures_kind(struct signatures *signatures,
    const struct conf_sign *row, enum verify_kind *out_kind, struct err *err);
/* Append the signature of a sum, if the key is still of this kind; if not, all
 * kinds are asked for anew.  0 or -1. */
int signatures_sign(struct signatures *signatures,
    const struct conf_sign *row, enum verify_kind kind,
    const unsigned char *sum, struct str *out, struct err *err);

/* Begin another message, which has this body. */
void signatures_begin(struct signatures *signatures, struct slice body);

/* Append a field for each key of header's From domain that has no signature in
 * it yet; nothing if there is no such key.
 * 0; -1: it must be signed and cannot be: err and routing->rcpts->trouble say
 * why, and nothing was appended. */
int signatures_add(struct signatures *signatures, struct routing *routing,
    struct slice header, struct str *out, struct err *err);

#endif
