/* records.c - what stands in whole answers: MX, addresses, raw records
 *
 * In     answers of name servers, from anywhere
 * Out    hosts in the order to be tried, addresses, the bytes of records
 * Holds  nothing
 * Trusts no answer: lengths are ns_parserr's, counts are bounded here,
 *        host names must be host names, records must be the name's (walk.h)
 * Spec   RFC 5321 section 5.1, RFC 7505, RFC 1035, RFC 4035 section 3.2.3
 *
 * SPDX-License-Identifier: ISC
 */
#include <arpa/inet.h>
#include <arpa/nameser.h>
#include <resolv.h>
#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"
#include "io/dns/dns.h"
#include "io/dns/walk.h"

#include "base/banned.h"

/* Letters, digits, '-', '_' and '.': what may be a mail host's name. */
static bool
dns_is_host_name(const char *name)
{
	for (; *name != '\0'; name++)
		if (!ascii_is_alnum(*name) && *name != '-' &&
		    *name != '_' && *name != '.')
			return false;
	return true;
}

/* Lowest preference first; the random number decides among equals. */
struct mx_key {
	unsigned	preference;
	uint32_t	chance;
	size_t		index;
};

static int
mx_compare(const void *a, const void *b)
{
	const struct mx_key *x = a, *y = b;

	if (x->preference != y->preference)
		return x->preference < y->preference ? -1 : 1;
	return x->chance < y->chance ? -1 : x->chance > y->chance;
}

static void
mx_sort(struct dns_mx *mx, size_t n)
{
	struct mx_key keys[DNS_MX_MAX];
	struct dns_mx copy[DNS_MX_MAX];

	for (size_t i = 0; i < n; i++) {
		keys[i] = (struct mx_key){ mx[i].preference, arc4random(), i };
		copy[i] = mx[i];
	}
	qsort(keys, n, sizeof(keys[0]), mx_compare);
	for (size_t i = 0; i < n; i++)
		mx[i] = copy[keys[i].index];
}

enum dns_result
dns_parse_mx(const unsigned char *answer, size_t n, struct dns_mx *out,
    size_t *out_n, struct err *err)
{
	struct dns_walk walk;
	ns_rr record;
	unsigned records = 0;

	*out_n = 0;
	if (!dns_walk_begin(&walk, answer, n)) {
		err_set(err, "the MX answer cannot be read");
		return DNS_BAD;
	}
	while (*out_n < DNS_MX_MAX && dns_walk_next(&walk, &record)) {
		struct dns_mx *mx = &out[*out_n];

		if (ns_rr_type(record) != ns_t_mx || ns_rr_rdlen(record) < 3)
			continue;
		records++;
		mx->preference = ns_get16(ns_rr_rdata(record));
		if (dn_expand(ns_msg_base(walk.message),
		    ns_msg_end(walk.message),
		    ns_rr_rdata(record) + 2, mx->host,
		    sizeof(mx->host)) < 0 || !dns_is_host_name(mx->host))
			continue;
		(*out_n)++;
	}
	if (*out_n == 0 && records > 0) {
		err_set(err, "no MX record of the answer names a host");
		return DNS_BAD;
	}
	mx_sort(out, *out_n);
	return dns_parsed(*out_n > 0, walk.is_damaged, "MX", err);
}

/* ---- addresses --------------------------------------------------------- */

void
dns_address_set(int family, const void *bytes, struct dns_address *out)
{
	memset(out, 0, sizeof(*out));
	out->address.ss_family = (sa_family_t)family;
	if (family == AF_INET) {
		struct sockaddr_in *four = (struct sockaddr_in *)&out->address;

		memcpy(&four->sin_addr, bytes, sizeof(four->sin_addr));
		out->length = sizeof(*four);
	} else {
		struct sockaddr_in6 *six =
		    (struct sockaddr_in6 *)&out->address;

		memcpy(&six->sin6_addr, bytes, sizeof(six->sin6_addr));
		out->length = sizeof(*six);
	}
}

enum dns_result
dns_parse_addresses(const unsigned char *answer, size_t n,
    struct dns_address *out, size_t *out_n, struct err *err)
{
	struct dns_walk walk;
	ns_rr record;
	size_t before = *out_n;

	if (!dns_walk_begin(&walk, answer, n)) {
		err_set(err, "the address answer cannot be read");
		return DNS_BAD;
	}
	while (*out_n < DNS_ADDRESS_MAX && dns_walk_next(&walk, &record)) {
		if (ns_rr_type(record) == ns_t_a && ns_rr_rdlen(record) == 4)
			dns_address_set(AF_INET, ns_rr_rdata(record),
			    &out[(*out_n)++]);
		else if (ns_rr_type(record) == ns_t_aaaa &&
		    ns_rr_rdlen(record) == 16)
			dns_address_set(AF_INET6, ns_rr_rdata(record),
			    &out[(*out_n)++]);
	}
	return dns_parsed(*out_n > before, walk.is_damaged, "address", err);
}

/* ---- records as they are ----------------------------------------------- */

enum dns_result
dns_parse_records(const unsigned char *answer, size_t n, enum dns_type type,
    struct dns_records *out, struct err *err)
{
	struct dns_walk walk;
	ns_rr record;

	str_reset(&out->bytes);
	out->count = 0;
	if (!dns_walk_begin(&walk, answer, n)) {
		err_set(err, "the answer cannot be read");
		return DNS_BAD;
	}
	while (out->count < DNS_RECORDS_MAX && dns_walk_next(&walk,
	    &record)) {
		if ((unsigned)ns_rr_type(record) != (unsigned)type)
			continue;
		str_add(&out->bytes, (const char *)ns_rr_rdata(record),
		    ns_rr_rdlen(record));
		out->ends[out->count++] = out->bytes.len;
	}
	return dns_parsed(out->count > 0, walk.is_damaged, "record", err);
}

void
dns_records_init(struct dns_records *records)
{
	memset(records, 0, offsetof(struct dns_records, ends));
	str_init(&records->bytes);
}

struct slice
dns_records_at(const struct dns_records *records, size_t index)
{
	size_t from = index > 0 ? records->ends[index - 1] : 0;

	return (struct slice){ records->bytes.buf + from,
	    records->ends[index] - from };
}

void
dns_records_release(struct dns_records *records)
{
	str_release(&records->bytes);
}

/* ---- how far an answer is to be trusted -------------------------------- */

void
dns_parse_trust(const unsigned char *answer, size_t n, struct dns_trust *out)
{
	struct dns_walk walk;

	memset(out, 0, sizeof(*out));
	if (!dns_walk_begin(&walk, answer, n))
		return;
	out->is_secure = ns_msg_getflag(walk.message, ns_f_ad) != 0;
	strlcpy(out->name, walk.owner, sizeof(out->name));
}
