/* query.h - one question of the DNS, as it comes from a process of this host
 *
 * RFC 1035 section 4.1, RFC 6891.  One question a packet; nothing is kept of
 * the packet.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_RESOLVER_WIRE_QUERY_H
#define ZM_RESOLVER_WIRE_QUERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	DNS_HEADER_BYTES = 12,
	DNS_NAME_BYTES_MAX = 255,
	QUERY_QUESTION_BYTES_MAX = DNS_NAME_BYTES_MAX + 4,
	QUERY_TEXT_BYTES = 4 * DNS_NAME_BYTES_MAX + 2,	/* all as \DDD */
	QUERY_ROOM_LEAST = 512,		/* RFC 1035 section 4.2.1 */
	QUERY_ROOM_MOST = 4096
};

enum dns_code {			/* of an answer: RFC 1035, RFC 6891 */
	DNS_CODE_GOOD = 0, DNS_CODE_FORMAT = 1, DNS_CODE_FAILED = 2,
	DNS_CODE_NO_NAME = 3, DNS_CODE_UNKNOWN = 4, DNS_CODE_REFUSED = 5,
	DNS_CODE_VERSION = 16
};

struct dns_query {
	uint16_t	id;
	unsigned char	flags[2];	/* opcode, RD, CD are repeated */
	unsigned char	question[QUERY_QUESTION_BYTES_MAX];
	size_t		question_bytes;	/* 0: it could not be read */
	char		name[QUERY_TEXT_BYTES];	/* as text, escaped, with the
						 * last dot */
	unsigned	type;
	bool		has_edns, wants_signatures;	/* OPT; DO */
	size_t		room;		/* of a datagram's answer */
};

enum query_read {
	QUERY_DROPPED,		/* no question at all: no answer either */
	QUERY_REFUSED,		/* *out_code says why; out is fit for
				 * response_refuse */
	QUERY_GOOD
};

/* Take a packet apart. */
enum query_read query_read(const unsigned char *packet, size_t n,
    struct dns_query *out, enum dns_code *out_code);

#endif
