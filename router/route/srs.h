/* srs.h - senders that lead back through us (sender rewriting scheme)
 *
 * Pure.  Mail from elsewhere that is forwarded gets the sender
 * 	SRS0=MARK=TT=DOMAIN=LOCAL@ours		for LOCAL@DOMAIN
 * 	SRS1=MARK=HOST==REST@ours		for SRS0=REST@HOST, and for
 * 						SRS1=...=HOST==REST@anywhere
 * TT is the day, modulo 1024; MARK proves that we made it.  Letters of MARK
 * and TT may have changed case when it comes back.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_ROUTER_SRS_H
#define ZM_ROUTER_SRS_H

#include "base/err.h"
#include "base/siphash.h"

enum {
	SRS_KEYS_MAX = 16,
	SRS_MARK_CHARS = 6,		/* 30 bits: made a million times, one
					 * guess in a thousand is good */
	SRS_SECRET_BYTES_MIN = 16,
	SRS_LOCAL_BYTES_MAX = 200	/* of what we make */
};

struct srs {
	struct siphash_key	keys[SRS_KEYS_MAX];	/* [0] signs */
	size_t			count;
	int64_t			day;		/* since 1970 */
	int64_t			days_good;
};

/* Add a key made from a secret.  0; -1: it is too short, or there are too
 * many. */
int srs_key_add(struct srs *srs, struct slice secret, struct err *err);

/* Does this local part have the form of SRS? */
bool srs_is(struct slice local);

/* Append the local part for local@domain.  returns false if it would be too
 * long. */
bool srs_make(const struct srs *srs, struct slice local, struct slice domain,
    struct str *out);

/* Append the address of such a local part: "local@domain".  returns 0; -1: not
 * ours, changed, or too old (err says which). */
int srs_open(const struct srs *srs, struct slice local, struct str *out,
    struct err *err);

#endif
