/* clients.h - how many sessions each client has
 *
 * A client is an IPv4 address or the first 64 bits of an IPv6 one (who has
 * one of those has them all).
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SMTPSERVER_LISTENER_CLIENTS_H
#define ZM_SMTPSERVER_LISTENER_CLIENTS_H

#include "grammar/net.h"

struct clients;
struct client_count;		/* one client that is here */

/* How many sessions each address has; none yet. */
struct clients *clients_new(void);
/* Forget all counts and null *clients. */
void clients_free(struct clients **clients);

/* One more session of this address.  *out_sessions: with it. */
struct client_count *clients_enter(struct clients *clients,
    const struct net *address, unsigned *out_sessions);
/* How many it has now. */
unsigned clients_sessions(const struct client_count *client);
/* One less; nulls *client. */
void clients_leave(struct clients *clients, struct client_count **client);

#endif
