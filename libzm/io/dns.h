/* dns.h - the questions a mail system asks of the DNS
 *
 * dns.c alone includes libresolv.  Calls block (up to the resolver's
 * bounds: 2 tries of 5 s); only agents and helper processes make them.
 * Answers come from anywhere: counts, names and loops are bounded.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_IO_DNS_H
#define ZM_IO_DNS_H

#include <netinet/in.h>
#include <sys/socket.h>

#include "base/err.h"
#include "base/str.h"

enum {
	DNS_MX_MAX = 50,	/* hosts taken of one MX answer */
	DNS_ADDRESS_MAX = 16	/* addresses taken of one host */
};

enum dns_result {
	DNS_OK = 1,
	DNS_NONE = 0,		/* the name exists, no such record */
	DNS_NO_NAME = -1,	/* NXDOMAIN */
	DNS_TRY_AGAIN = -2,	/* SERVFAIL, time-out: defer */
	DNS_BAD = -3		/* answer unusable: defer; err says why */
};

struct dns_mx {
	unsigned	preference;
	char		host[256];	/* "" is a null MX (RFC 7505) */
};

struct dns_address {
	struct sockaddr_storage	address;	/* port is 0 */
	socklen_t		length;
};

/* Ask this server instead of /etc/resolv.conf's: "127.0.0.1:5353",
 * "[::1]:53"; NULL returns to the system's.  0 or -1. */
int dns_use(const char *server, struct err *err);

/* MX records, lowest preference first, equal ones shuffled (RFC 5321
 * section 5.1).  At most DNS_MX_MAX. */
enum dns_result dns_mx(const char *domain, struct dns_mx *out, size_t *out_n,
    struct err *err);

/* The two readers of whole answers, apart from the asking, for tests and
 * fuzzing.  dns_parse_addresses adds behind *out_n. */
enum dns_result dns_parse_mx(const unsigned char *answer, size_t n,
    struct dns_mx *out, size_t *out_n, struct err *err);
enum dns_result dns_parse_addresses(const unsigned char *answer, size_t n,
    struct dns_address *out, size_t *out_n, struct err *err);

/* A and AAAA of a host name or an address literal's inside ("192.0.2.1",
 * "IPv6:::1").  /etc/hosts counts as well ("localhost"). */
enum dns_result dns_addresses(const char *host, struct dns_address *out,
    size_t *out_n, struct err *err);

/* "192.0.2.1" or "IPv6:2001:db8::1" - as in an address literal. */
void dns_address_text(const struct sockaddr *address, char *out, size_t size);

#endif
