/* signatures.h - the DKIM signatures that a message of ours gets
 *
 * A worker's side of signer.h: which sign statements are for a message, and
 * their fields.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_ROUTER_SIGN_SIGNATURES_H
#define ZM_ROUTER_SIGN_SIGNATURES_H

#include "conf/conf.h"
#include "io/ipc.h"
#include "mail/envelope.h"
#include "router/sign/rows.h"
#include "tls/digest.h"
#include "tls/verify.h"

enum { SIGNATURES_ANSWER_MS = 60 * 1000 };	/* then the key is not there */

struct signatures {		/* a worker's */
	const struct conf	*conf;
	int			 socket;	/* to the process; -1: none */
	struct ipc_inbox	 inbox;
	/* of one message: */
	struct slice		 body;
	bool			 has_sum;
	unsigned char		 sum[DIGEST_SHA256_BYTES];
};

/* socket (taken; -1: there is none) is signer_open's. */
void signatures_init(struct signatures *signatures, const struct conf *conf,
    int socket);
void signatures_release(struct signatures *signatures);

/* May mail that came so be signed at all?  Of this machine, of users who
 * logged in, reports: yes; from elsewhere: no. */
bool signatures_are_for(const struct signatures *signatures,
    const struct envelope *envelope);

/* The domain of the first address of the first From; .n 0: none. */
struct slice signatures_domain(struct slice header, struct arena *arena);

/* What kind is the key of a row?  0; -1: it cannot be used, err says why. */
int signatures_kind(struct signatures *signatures,
    const struct conf_sign *row, enum verify_kind *out_kind, struct err *err);
/* Append the signature of a sum, by a key of this kind still.  0 or -1. */
int signatures_sign(struct signatures *signatures,
    const struct conf_sign *row, enum verify_kind kind,
    const unsigned char *sum, struct str *out, struct err *err);

/* Another message: its body. */
void signatures_begin(struct signatures *signatures, struct slice body);

/* Append a field for each key of header's From domain that has none there
 * yet; nothing when there is no such key.
 * 0; -1: it must be signed and cannot be; err and routing->rcpts->trouble say
 * why, nothing was appended. */
int signatures_add(struct signatures *signatures, struct routing *routing,
    struct slice header, struct str *out, struct err *err);

#endif
