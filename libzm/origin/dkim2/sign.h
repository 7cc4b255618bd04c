/* sign.h - make a signature of ours in a chain of DKIM2
 *
 * Another process has the keys: dkim2_sign_begin makes everything except the
 * signatures, and the sum to be signed; dkim2_sign_end puts the signatures in.
 * Several keys of the domain sign side by side in one field.
 *
 * A message that nobody signed gets its first revision.  One that others
 * signed is signed, too, if the chain allows it: they sent it to the domain of
 * the sender, and only its header was changed here, for which a recipe is
 * made.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_ORIGIN_DKIM2_SIGN_H
#define ZM_ORIGIN_DKIM2_SIGN_H

#include "base/err.h"
#include "origin/dkim2/dkim2.h"
#include "tls/digest.h"
#include "tls/verify.h"

struct dkim2_sign_key {
	struct slice	 selector;
	enum verify_kind kind;
};

struct dkim2_sign {
	struct slice	 domain;
	const struct dkim2_sign_key *keys;
	size_t		 key_count;	/* 1 to DKIM2_SETS_MAX */
	int64_t		 time_s;	/* wall */
	struct slice	 sender;	/* MAIL FROM as it will be, without
					 * <>; empty: null */
	const struct slice *rcpts;	/* RCPT TO without <>, 1 to
					 * DKIM2_PATHS_MAX */
	size_t		 rcpt_count;
	unsigned	 flags;		/* enum dkim2_flags */
	const unsigned char *body_sum;	/* of dkim2_sign_body */
	struct slice	 before;	/* the header as it came; used if
					 * others signed */
};

struct dkim2_signing {		/* all in the arena */
	struct slice	 instance;	/* a field; empty: none is needed */
	struct slice	 head;		/* the signature up to s= */
	unsigned char	 sum[DIGEST_SHA256_BYTES];	/* to be signed */
};

/* Does this header have a chain that our signature would continue? */
bool dkim2_sign_is_chain(struct slice header);

/* May the domain sign for this sender?  It must be the domain of the address or
 * one above it, unless the sender is null. */
bool dkim2_sign_fits(struct slice domain, struct slice sender);

/* The sum of a body with any line ends.  out: DIGEST_SHA256_BYTES.
 * 0 or -1. */
int dkim2_sign_body(struct slice body, unsigned char *out);

/* Make the fields without their signatures.  header: all fields of the message
 * as they leave.  0; -1: it cannot be signed (err). */
int dkim2_sign_begin(const struct dkim2_sign *sign, struct slice header,
    struct arena *arena, struct dkim2_signing *out, struct err *err);

/* Append the fields, each with its LF.  signatures: one of each key. */
void dkim2_sign_end(const struct dkim2_sign *sign,
    const struct dkim2_signing *signing, const struct slice *signatures,
    struct str *out);

#endif
