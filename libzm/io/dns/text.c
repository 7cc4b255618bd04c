/* text.c - the records of an answer as people write them
 *
 * In     whole answers, from anywhere
 * Out    for each record its owner, TTL, type and value as text
 * Holds  nothing
 * Trusts no answer: lengths are ns_parserr's, all that is no ASCII that can be
 *        seen is escaped
 * Spec   RFC 1035 section 5.1; RFC 3597 section 5; RFC 6698 section 2.2
 *
 * SPDX-License-Identifier: ISC
 */
#include <arpa/inet.h>
#include <arpa/nameser.h>
#include <resolv.h>
#include <string.h>
#include <strings.h>

#include "io/dns/dns.h"

#include "base/banned.h"

static const struct {
	const char	*name;
	unsigned	 type;
} dns_types[] = {
	{ "A", DNS_TYPE_A }, { "AAAA", DNS_TYPE_AAAA }, { "NS", ns_t_ns },
	{ "CNAME", DNS_TYPE_CNAME }, { "SOA", ns_t_soa },
	{ "PTR", DNS_TYPE_PTR }, { "MX", DNS_TYPE_MX },
	{ "TXT", DNS_TYPE_TXT }, { "SRV", ns_t_srv }, { "DS", 43 },
	{ "RRSIG", 46 }, { "DNSKEY", 48 }, { "TLSA", DNS_TYPE_TLSA },
	{ "CAA", 257 },
};
enum { DNS_TYPES = sizeof(dns_types) / sizeof(dns_types[0]) };

bool
dns_type_parse(const char *text, enum dns_type *out)
{
	uint64_t number;

	for (size_t i = 0; i < DNS_TYPES; i++)
		if (strcasecmp(text, dns_types[i].name) == 0) {
			*out = (enum dns_type)dns_types[i].type;
			return true;
		}
	if (strncasecmp(text, "TYPE", 4) != 0 ||
	    !slice_number(slice_of(text + 4), 1, 65535, &number))
		return false;
	*out = (enum dns_type)number;
	return true;
}

void
dns_type_text(unsigned type, struct str *out)
{
	for (size_t i = 0; i < DNS_TYPES; i++)
		if (dns_types[i].type == type) {
			str_adds(out, dns_types[i].name);
			return;
		}
	str_addf(out, "TYPE%u", type);
}

/* ---- values ------------------------------------------------------------- */

static void
value_add_hex(struct str *out, const unsigned char *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		str_addf(out, "%02x", bytes[i]);
}

/* What is odd in a name as "\\DDD": glibc reads names so, musl as they are. */
static void
value_add_printable(struct str *out, const char *name)
{
	for (; *name != '\0'; name++)
		if (*name > ' ' && *name < '\177')
			str_addc(out, *name);
		else
			str_addf(out, "\\%03u", (unsigned char)*name);
}

/* A name at data + at.  Returns how many bytes it takes there; 0: it is
 * none. */
static size_t
value_add_name(struct str *out, const ns_msg *message, const ns_rr *record,
    size_t at)
{
	char name[NS_MAXDNAME];
	int n = at >= ns_rr_rdlen(*record) ? -1 : dn_expand(
	    ns_msg_base(*message), ns_msg_end(*message),
	    ns_rr_rdata(*record) + at, name, sizeof(name));

	if (n < 0)
		return 0;
	value_add_printable(out, strcmp(name, ".") == 0 ? "" : name);
	str_addc(out, '.');
	return (size_t)n;
}

static void
value_add_strings(struct str *out, const unsigned char *bytes, size_t n)
{
	while (n > 0 && bytes[0] < n) {
		str_addf(out, "%s\"", out->len > 0 ? " " : "");
		for (size_t i = 1; i <= bytes[0]; i++) {
			unsigned char c = bytes[i];

			if (c < ' ' || c > '~')
				str_addf(out, "\\%03u", c);
			else
				str_addf(out, "%s%c", c == '"' || c == '\\' ?
				    "\\" : "", c);
		}
		str_addc(out, '"');
		n -= bytes[0] + 1u;
		bytes += bytes[0] + 1u;
	}
}

static bool
value_add_soa(struct str *out, const ns_msg *message, const ns_rr *record)
{
	size_t one = value_add_name(out, message, record, 0), two;
	const unsigned char *data = ns_rr_rdata(*record);

	str_addc(out, ' ');
	two = one == 0 ? 0 : value_add_name(out, message, record, one);
	if (two == 0 || ns_rr_rdlen(*record) != one + two + 20)
		return false;
	for (size_t i = 0; i < 5; i++)
		str_addf(out, " %lu", ns_get32(data + one + two + 4 * i));
	return true;
}

/* false: it is none of those, or damaged. */
static bool
value_add_known(struct str *out, const ns_msg *message, const ns_rr *record)
{
	const unsigned char *data = ns_rr_rdata(*record);
	size_t n = ns_rr_rdlen(*record);
	char text[INET6_ADDRSTRLEN];

	switch (ns_rr_type(*record)) {
	case ns_t_a: case ns_t_aaaa:
		if (n != (ns_rr_type(*record) == ns_t_a ? 4 : 16))
			return false;
		inet_ntop(n == 4 ? AF_INET : AF_INET6, data, text,
		    sizeof(text));
		str_adds(out, text);
		return true;
	case ns_t_ns: case ns_t_cname: case ns_t_ptr:
		return value_add_name(out, message, record, 0) > 0;
	case ns_t_mx:
		if (n < 3)
			return false;
		str_addf(out, "%u ", ns_get16(data));
		return value_add_name(out, message, record, 2) > 0;
	case ns_t_txt:
		value_add_strings(out, data, n);
		return true;
	case ns_t_soa:
		return value_add_soa(out, message, record);
	default:
		if ((unsigned)ns_rr_type(*record) != DNS_TYPE_TLSA || n < 3)
			return false;
		str_addf(out, "%u %u %u ", data[0], data[1], data[2]);
		value_add_hex(out, data + 3, n - 3);
		return true;
	}
}

static void
value_add(struct str *out, const ns_msg *message, const ns_rr *record)
{
	str_reset(out);
	if (value_add_known(out, message, record))
		return;
	str_reset(out);
	str_addf(out, "\\# %u ", ns_rr_rdlen(*record));
	value_add_hex(out, ns_rr_rdata(*record), ns_rr_rdlen(*record));
}

bool
dns_tell_records(const unsigned char *answer, size_t n, dns_record_fn *fn,
    void *context)
{
	struct str value = STR_INIT, name = STR_INIT;
	ns_msg message;
	ns_rr record;
	bool is_whole;

	if (ns_initparse(answer, (int)n, &message) < 0)
		return false;
	is_whole = true;
	for (int i = 0; is_whole && i < ns_msg_count(message, ns_s_an); i++) {
		is_whole = ns_parserr(&message, ns_s_an, i, &record) == 0;
		if (!is_whole || ns_rr_class(record) != ns_c_in)
			continue;
		value_add(&value, &message, &record);
		str_reset(&name);
		value_add_printable(&name, ns_rr_name(record));
		fn(context, &(struct dns_record){ .name = name.buf,
		    .ttl_s = (uint32_t)ns_rr_ttl(record),
		    .type = (unsigned)ns_rr_type(record),
		    .value = str_slice(&value) });
	}
	str_release(&value);
	str_release(&name);
	return is_whole;
}
