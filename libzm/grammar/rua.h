/* rua.h - where a domain wants reports sent
 *
 * A list of URIs with commas between them: "mailto:a@b.example" (DMARC allows
 * "!10m" after it, the largest report that is accepted), "https://...".
 * RFC 8460 section 3, RFC 9990 section 3.5, RFC 6068
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_GRAMMAR_RUA_H
#define ZM_GRAMMAR_RUA_H

#include <stdint.h>

#include "base/str.h"

enum {
	RUA_MAX = 4,			/* addresses taken of one list */
	RUA_ADDRESS_BYTES = 320,
	RUA_DOMAIN_BYTES_MAX = 253	/* of the DNS */
};

struct rua_address {
	char		text[RUA_ADDRESS_BYTES];	/* local@domain */
	uint64_t	bytes_max;	/* 0: it does not say */
};

/* Is this TXT record one of TLS reporting?  RFC 8460 section 3
 * out_uris  its list of URIs
 * returns   false: it is another record, or has no list */
bool rua_of_tls(struct slice record, struct slice *out_uris);

/* May this domain, which somebody else named, be used in header fields and file
 * names of a report?  false: it is too long, or has characters other than
 * letters, digits, dots, dashes and underscores. */
bool rua_domain_is(struct slice name);

/* Read the addresses of a list, each once, at most RUA_MAX.
 * out_other  how many URIs were not taken: another scheme, or malformed
 * returns    how many */
size_t rua_addresses(struct slice uris, struct rua_address out[RUA_MAX],
    size_t *out_other);

#endif
