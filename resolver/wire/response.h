/* response.h - an answer of the DNS, as it goes back to who asked
 *
 * RFC 1035 section 4.1.1, RFC 6891, RFC 8914.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_RESOLVER_WIRE_RESPONSE_H
#define ZM_RESOLVER_WIRE_RESPONSE_H

#include "base/str.h"
#include "resolver/wire/query.h"

enum {
	RESPONSE_STREAM_BYTES = 65535,	/* room where it is no datagram */
	RESPONSE_WHY_BYTES = 200
};

enum dns_trouble {		/* RFC 8914 section 4 */
	DNS_TROUBLE_OTHER = 0, DNS_TROUBLE_BOGUS = 6,
	DNS_TROUBLE_NOT_READY = 14, DNS_TROUBLE_UNREACHABLE = 22,
	DNS_TROUBLE_NETWORK = 23,
	DNS_TROUBLE_NONE = -1
};

/* What is known about a question. */
struct finding {
	enum dns_code	 code;
	bool		 is_secure;	/* then AD says so */
	enum dns_trouble trouble;
	const char	*why;		/* of the trouble; NULL: no words */
	const unsigned char *packet;	/* with the records; or NULL */
	size_t		 packet_bytes;
};

/* Append the answer to query.  One that is larger than room is cut: it has no
 * records, and TC says so. */
void response_make(struct str *out, const struct dns_query *query,
    const struct finding *finding, size_t room);

/* Append the answer to what query_read refused. */
void response_refuse(struct str *out, const struct dns_query *query,
    enum dns_code code);

#endif
