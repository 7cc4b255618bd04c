/* arrivals.h - connections of proxies, until they have said for whom
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SMTPSERVER_LISTENER_ARRIVALS_H
#define ZM_SMTPSERVER_LISTENER_ARRIVALS_H

#include <sys/socket.h>

#include "io/loop.h"

struct arrivals;

/* The header was good: fd (the callee's now) is a client at address, who
 * came to bound_to (as given to arrivals_add). */
typedef void arrivals_fn(void *context, const char *bound_to, int fd,
    const struct sockaddr *address);

/* None wait yet.  fn gets context and each connection whose header came. */
struct arrivals *arrivals_new(struct loop *loop, arrivals_fn *fn,
    void *context);
/* Those that wait are closed. */
void arrivals_free(struct arrivals **arrivals);

/* In a forked child: they are not its business.  arrivals may be NULL. */
void arrivals_in_child(struct arrivals *arrivals);

/* How many wait. */
unsigned arrivals_count(const struct arrivals *arrivals);

enum {
	ARRIVALS_MAX = 1000,		/* at a time; more are closed */
	ARRIVAL_FOR_MS = 5000		/* for the header, then closed */
};

/* Wait for the PROXY header on fd (taken) of the proxy at address.  What is
 * no such header is closed, and an event says why. */
void arrivals_add(struct arrivals *arrivals, int fd, const char *bound_to,
    const struct sockaddr *address);

#endif
