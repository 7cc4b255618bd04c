/* kept.h - answers of the DNS that count for a while
 *
 * For a process that asks the same again and again: a warm question costs no
 * system call.  An answer is kept as it came and as long as it says: the
 * shortest TTL of its records, of one that there are none what its SOA says
 * (RFC 2308 section 5; without SOA it is not kept), at most
 * DNS_KEPT_FOR_MAX_S.  Trouble (SERVFAIL, what is bogus, no answer) and what
 * is larger than DNS_KEPT_BYTES_MAX are never kept.
 *
 * Memory is bounded by slots and bytes, whatever is put in.  Slots go in
 * pairs: one for what was asked for again, one for what came last.  So names
 * that are asked for once, however many, push out nothing that is in use.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_IO_DNS_KEPT_H
#define ZM_IO_DNS_KEPT_H

#include "io/dns/dns.h"

enum {
	DNS_KEPT_PAIRS = 512,		/* of slots; a power of two */
	DNS_KEPT_BYTES_MAX = 2048,	/* of an answer: some 2.5 MB in all */
	DNS_KEPT_FOR_MAX_S = 60
};

struct dns_kept;

/* Nothing is kept yet. */
struct dns_kept *dns_kept_new(void);
/* Forget all. */
void dns_kept_free(struct dns_kept **kept);

/* The answer to a question.  name: without the last dot, in any case; now_ms:
 * clock_steady_ms.  false: none that counts.  *out_bytes is valid until the
 * next call. */
bool dns_kept_find(struct dns_kept *kept, enum dns_type type,
    struct slice name, int64_t now_ms, enum dns_result *out_result,
    struct slice *out_bytes);

/* Keep an answer (copied), if it may be kept.  result and bytes: as ask.h
 * hands them over. */
void dns_kept_add(struct dns_kept *kept, enum dns_type type,
    struct slice name, int64_t now_ms, enum dns_result result,
    struct slice bytes);

#endif
