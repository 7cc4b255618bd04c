/* records.h - the records of an answer, copied into another one
 *
 * Names in them are expanded (they may point to what is left out), the
 * question's name becomes a pointer to it.  RFC 1035 section 4.1.4, RFC 3597
 * section 4.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_RESOLVER_WIRE_RECORDS_H
#define ZM_RESOLVER_WIRE_RECORDS_H

#include "base/str.h"
#include "resolver/wire/query.h"

enum { RECORDS_SECTIONS = 3 };	/* answer, authority, additional */

/* Append the records of packet that query asked for, or may see: signatures
 * and proofs only when it wants them, no OPT.  out begins with the header and
 * the question.  How many of each section are in out_counts.
 * false: the packet is damaged; then out has a part of it. */
bool records_copy(struct str *out, const struct dns_query *query,
    const unsigned char *packet, size_t n,
    unsigned out_counts[RECORDS_SECTIONS]);

#endif
