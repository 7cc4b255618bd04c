/* ask.h - many questions to the DNS at once, none of which blocks
 *
 * Each question has a socket of its own (a fresh port, so that nobody can
 * guess where its answer is awaited), two tries, and one answer: fn is
 * called once, in the loop, never from dns_ask itself.  An answer that is cut
 * short is asked for again over TCP.
 * More than DNS_FLIGHTS_MAX wait their turn.  Servers: dns_use, or the
 * system's.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_IO_DNS_ASK_H
#define ZM_IO_DNS_ASK_H

#include "io/dns/dns.h"
#include "io/loop.h"

enum {
	DNS_FLIGHTS_MAX = 512,		/* questions on their way */
	DNS_TRY_MS = 3000		/* for each of two tries */
};

struct dns_asker;

/* result DNS_OK: the answer is there to be parsed (it may have no record).
 * Else answer is what came with it (dns_parse_error), or NULL. */
typedef void dns_answer_fn(void *context, enum dns_result result,
    const unsigned char *answer, size_t n);

/* Asks the servers of dns_use, or the system's, as they are now. */
struct dns_asker *dns_asker_new(struct loop *loop);
/* Questions that are out are forgotten. */
void dns_asker_free(struct dns_asker **asker);

/* Ask; name is copied.  A name that is no domain is DNS_NO_NAME. */
void dns_ask(struct dns_asker *asker, const char *name, enum dns_type type,
    dns_answer_fn *fn, void *context);

#endif
