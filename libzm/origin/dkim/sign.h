/* sign.h - make a signature of ours  (RFC 6376, 8463)
 *
 * Another process has the key: dkim_sign_begin makes the field without its
 * signature, and the sum to be signed; dkim_sign_end puts the signature in.
 * Canonicalization is relaxed/relaxed; t= is set, l= and x= are not.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_ORIGIN_DKIM_SIGN_H
#define ZM_ORIGIN_DKIM_SIGN_H

#include <stdint.h>

#include "base/str.h"
#include "tls/digest.h"
#include "tls/verify.h"

struct dkim_sign {
	struct slice	 domain, selector;
	enum verify_kind kind;
	int64_t		 time_s;	/* wall */
	const unsigned char *body_sum;	/* of dkim_sign_body */
};

/* The sum of a body with any line ends.  out: DIGEST_SHA256_BYTES.
 * 0 or -1. */
int dkim_sign_body(struct slice body, unsigned char *out);

/* Append the field up to "b="; *out_sum (DIGEST_SHA256_BYTES) is the sum to be
 * signed.  header: all fields of the message, without this one.  Fields that
 * matter to readers are named once more than they occur, so that nobody can
 * add one.  0 or -1. */
int dkim_sign_begin(const struct dkim_sign *sign, struct slice header,
    struct arena *arena, struct str *out, unsigned char *out_sum);

/* Append the signature, and the end of the line. */
void dkim_sign_end(struct str *out, struct slice signature);

/* Does the header have a signature of this domain and selector already? */
bool dkim_sign_is_there(struct slice header, const struct dkim_sign *sign);

#endif
