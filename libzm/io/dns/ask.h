/* ask.h - many questions to the DNS at once, none of which blocks
 *
 * Each question has a socket of its own (a fresh port, so that nobody can
 * guess where its answer is awaited), two tries, and one answer: fn is
 * called once, in the loop, never from dns_ask itself.  After a truncated
 * answer the question is repeated over TCP.
 * Questions beyond DNS_FLIGHTS_MAX wait.  The servers are that of dns_use, or
 * the system's.
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

/* result DNS_OK: the answer can be parsed (it may have no record).  Otherwise
 * answer is what the server sent (dns_parse_error), or NULL. */
typedef void dns_answer_fn(void *context, enum dns_result result,
    const unsigned char *answer, size_t n);

/* It asks the server of dns_use, or the system's, as they are now. */
struct dns_asker *dns_asker_new(struct loop *loop);
/* Forgets open questions: fn is not called.  Sets *asker to NULL. */
void dns_asker_free(struct dns_asker **asker);

/* Ask; name is copied.  A name that is not a domain gives DNS_NO_NAME. */
void dns_ask(struct dns_asker *asker, const char *name, enum dns_type type,
    dns_answer_fn *fn, void *context);

#endif
