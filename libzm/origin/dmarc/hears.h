/* hears.h - who gets reports about mail of a domain  (RFC 9990)
 *
 * In     a domain that publishes a policy, answers of the DNS
 * Out    addresses
 *
 * They are the addresses of its record (rua).  One of another organization must
 * agree (section 4) by a TXT record DOMAIN._report._dmarc.THERE, which may name
 * another address of the same host.
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
	const char	*reason;	/* why none do, or not all; "" */
};

/* Find them.  ORIGIN_PASS: there is at least one; ORIGIN_NONE: there are none;
 * ORIGIN_TEMPERROR: that is not known now; ORIGIN_ASKS.
 * domain  lower case, A-labels */
enum origin dmarc_hear(struct answers *answers, struct slice domain,
    struct arena *arena, struct dmarc_hears *out);

#endif
