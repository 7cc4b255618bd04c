/* proxy.h - the header by which a proxy names its client
 *
 * The PROXY protocol, versions 1 and 2, as haproxy's document proxy-protocol
 * defines it.  Only a peer that is trusted may be asked for one.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_GRAMMAR_PROXY_H
#define ZM_GRAMMAR_PROXY_H

#include <stdbool.h>
#include <sys/socket.h>

#include "base/err.h"
#include "base/str.h"

enum {
	PROXY_V1_BYTES_MAX = 107,	/* section 2.1, with CR LF */
	PROXY_BYTES_MAX = 2048		/* ours, for version 2 with its TLVs */
};

struct proxy {
	bool			is_local;	/* the proxy speaks for itself,
						 * or does not know */
	struct sockaddr_storage	client;		/* AF_INET or AF_INET6; unset
						 * when is_local */
	size_t			bytes;		/* of the header; the client's
						 * bytes follow it */
};

enum proxy_answer {
	PROXY_BAD = -1,
	PROXY_MORE = 0,
	PROXY_DONE = 1
};

/* Parse the first bytes of a connection.  A checksum TLV is verified, other
 * TLVs are skipped.  An IPv4-mapped IPv6 address becomes AF_INET.
 * returns PROXY_MORE when more bytes are needed, and all of in belongs to the
 * header; PROXY_BAD when it is not such a header (err, for the journal) */
enum proxy_answer proxy_parse(struct slice in, struct proxy *out,
    struct err *err);

#endif
