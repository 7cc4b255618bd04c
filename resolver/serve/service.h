/* service.h - the two sockets of the resolver, from its start to its end
 *
 * The supervisor holds both open (tools/run/beside/consulted.h): questions
 * wait in them while another process takes this one's place.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_RESOLVER_SERVE_SERVICE_H
#define ZM_RESOLVER_SERVE_SERVICE_H

#include "resolver/serve/questions.h"

enum { SERVICE_LEAVE_MS = 6000 };	/* at most, for what was asked */

struct service;

/* Answer at a socket of datagrams and at one that listens, until the other
 * end of lifeline is closed: then nothing is taken any more, what was asked is
 * answered, and the loop stops.  The descriptors and questions are not
 * taken. */
struct service *service_new(struct loop *loop, struct questions *questions,
    int datagrams, int listener, int lifeline);

/* NULL is harmless. */
void service_free(struct service **service);

#endif
