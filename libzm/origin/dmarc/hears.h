/* hears.h - who hears how mail of a domain went  (RFC 9990)
 *
 * In     a domain that publishes a policy, answers of the DNS
 * Out    addresses
 *
 * The addresses of its record (rua).  One of another organization hears only
 * when it agrees (section 4): TXT of DOMAIN._report._dmarc.THERE; it may name
 * another address, of the same host.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_ORIGIN_DMARC_HEARS_H
#define ZM_ORIGIN_DMARC_HEARS_H

#include "grammar/rua.h"
#include "origin/answers.h"
#include "origin/origin.h"

struct dmarc_hears {
	struct rua_address to[RUA_MAX];
	size_t		count;
	const char	*reason;	/* why nobody does, or not all; "" */
};

/* Find out.  ORIGIN_PASS: somebody does; ORIGIN_NONE: nobody;
 * ORIGIN_TEMPERROR: that cannot be known now; ORIGIN_ASKS.
 * domain  lower case, A-labels */
enum origin dmarc_hear(struct answers *answers, struct slice domain,
    struct arena *arena, struct dmarc_hears *out);

#endif
