/* net.h - IP addresses and networks as text
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_GRAMMAR_NET_H
#define ZM_GRAMMAR_NET_H

#include <sys/socket.h>

#include "base/err.h"
#include "base/str.h"

struct net {
	unsigned char	bytes[16];	/* IPv4 as ::ffff:a.b.c.d */
	unsigned	bits;		/* 0..128, over the 16 bytes */
};

/* Parse "192.0.2.1", "192.0.2.0/24", "2001:db8::/32" or "[::1]".  Host bits
 * must be zero; if they are not, err names the network meant.  0 or -1. */
int net_parse(struct slice text, struct net *out, struct err *err);

/* The address of a socket peer as a net of 128 bits. */
void net_of_sockaddr(const struct sockaddr *address, struct net *out);

/* Is every address of inner also one of outer? */
bool net_contains(const struct net *outer, const struct net *inner);

/* Parse "ADDRESS:PORT", "[IPv6]:PORT", or "PORT", which means 127.0.0.1 (a
 * caller that also wants ::1 asks for it).  0 or -1. */
int net_endpoint_parse(struct slice text, unsigned default_port,
    struct sockaddr_storage *out, socklen_t *out_length, struct err *err);

/* Write "192.0.2.1:25" or "[2001:db8::1]:25". */
void net_endpoint_text(const struct sockaddr *address, char *out,
    size_t size);

#endif
