/* wire.c - questions and answers of the DNS as bytes
 *
 * In     names and types; whole answers, from anywhere
 * Out    queries; results and names
 * Holds  nothing
 * Trusts no answer: it must repeat the question, lengths are ns_parserr's,
 *        names must be host names
 * Spec   RFC 1035 section 4; RFC 6891; RFC 3596 section 2.5
 *
 * SPDX-License-Identifier: ISC
 */
#include <arpa/inet.h>
#include <arpa/nameser.h>
#include <resolv.h>
#include <stdio.h>
#include <string.h>

#include "base/ascii.h"
#include "io/dns/dns.h"
#include "io/dns/walk.h"

#include "base/banned.h"

enum {
	HEADER_BYTES = 12,
	FLAG_ANSWER = 0x80,		/* byte 2 */
	FLAG_CUT = 0x02,
	FLAG_RECURSE = 0x01,
	RCODE_MASK = 0x0f,		/* byte 3 */
	FLAG_AUTHENTIC = 0x20,
	EDNS_BYTES = 1232,
	OPT_TYPE = 41,
	OPTION_ERROR = 15,		/* RFC 8914 */
	RECORD_HEAD_BYTES = 10,		/* after the name */
	SOA_NUMBERS_BYTES = 20
};

static size_t
dns_put16(unsigned char *out, unsigned value)
{
	out[0] = (unsigned char)(value >> 8);
	out[1] = (unsigned char)value;
	return 2;
}

/* Labels and the root; returns 0 when the text is no domain. */
static size_t
put_name(unsigned char *out, size_t size, const char *name)
{
	struct slice rest = slice_of(name), label;
	size_t n = 0;

	if (slice_ends(rest, "."))
		rest.n--;
	while (slice_cut(&rest, '.', &label)) {
		if (label.n == 0 || label.n > 63 || n + label.n + 2 > size)
			return 0;
		out[n++] = (unsigned char)label.n;
		memcpy(out + n, label.p, label.n);
		n += label.n;
	}
	out[n++] = 0;
	return n <= 255 ? n : 0;
}

size_t
dns_make_query(const char *name, enum dns_type type, uint16_t id,
    unsigned char out[DNS_QUERY_BYTES_MAX])
{
	size_t n = HEADER_BYTES, name_bytes;

	memset(out, 0, HEADER_BYTES);
	dns_put16(out, id);
	out[2] = FLAG_RECURSE;
	out[3] = FLAG_AUTHENTIC;	/* say so (RFC 6840 section 5.7) */
	dns_put16(out + 4, 1);		/* one question */
	dns_put16(out + 10, 1);		/* one OPT */
	name_bytes = put_name(out + n, 256, name);
	if (name_bytes == 0)
		return 0;
	n += name_bytes;
	n += dns_put16(out + n, (unsigned)type);
	n += dns_put16(out + n, ns_c_in);
	out[n++] = 0;			/* the root */
	n += dns_put16(out + n, OPT_TYPE);
	n += dns_put16(out + n, EDNS_BYTES);
	memset(out + n, 0, 6);		/* flags; no options */
	return n + 6;
}

static size_t
question_bytes(const unsigned char *query, size_t n)
{
	size_t at = HEADER_BYTES;

	while (at < n && query[at] != 0)
		at += query[at] + 1u;
	at += 5;			/* root, type, class */
	return at <= n ? at - HEADER_BYTES : 0;
}

bool
dns_is_answer(const unsigned char *answer, size_t n,
    const unsigned char *query, size_t query_n)
{
	size_t question = query_n < HEADER_BYTES ? 0 :
	    question_bytes(query, query_n);

	if (question == 0 || n < HEADER_BYTES + question ||
	    memcmp(answer, query, 2) != 0 || !(answer[2] & FLAG_ANSWER) ||
	    answer[4] != 0 || answer[5] != 1)
		return false;
	for (size_t i = HEADER_BYTES; i < HEADER_BYTES + question; i++)
		if (ascii_lower((char)answer[i]) !=
		    ascii_lower((char)query[i]))
			return false;
	return true;
}

enum dns_result
dns_answer_result(const unsigned char *answer, size_t n)
{
	if (n < HEADER_BYTES)
		return DNS_TRY_AGAIN;
	switch (answer[3] & RCODE_MASK) {
	case ns_r_nxdomain:
		return DNS_NO_NAME;
	case ns_r_noerror:
		return (answer[2] & FLAG_CUT) && answer[6] == 0 &&
		    answer[7] == 0 ? DNS_TRY_AGAIN : DNS_OK;
	default:
		return DNS_TRY_AGAIN;
	}
}

bool
dns_answer_is_cut(const unsigned char *answer, size_t n)
{
	return n >= HEADER_BYTES && (answer[2] & FLAG_CUT) != 0;
}

/* ---- how long it counts ------------------------------------------------- */

/* RFC 2181 section 8 */
static uint32_t
ttl_of(uint32_t ttl_s)
{
	return ttl_s > INT32_MAX ? 0 : ttl_s;
}

/* RFC 2308 section 3: the least of the SOA's TTL and its last number. */
static bool
lasts_by_soa(ns_msg *message, uint32_t *out_s)
{
	ns_rr record;

	for (int i = 0; i < ns_msg_count(*message, ns_s_ns); i++) {
		uint32_t ttl_s, least_s;

		if (ns_parserr(message, ns_s_ns, i, &record) < 0)
			return false;
		if (ns_rr_type(record) != ns_t_soa ||
		    ns_rr_class(record) != ns_c_in ||
		    ns_rr_rdlen(record) < SOA_NUMBERS_BYTES)
			continue;
		ttl_s = ttl_of((uint32_t)ns_rr_ttl(record));
		least_s = ttl_of((uint32_t)ns_get32(ns_rr_rdata(record) +
		    ns_rr_rdlen(record) - 4));
		*out_s = ttl_s < least_s ? ttl_s : least_s;
		return true;
	}
	return false;
}

/* The least of the records of the answer.  false: one cannot be read.
 * *out_is_there: some are what was asked for. */
static bool
lasts_by_records(struct dns_walk *walk, uint32_t *out_s, bool *out_is_there)
{
	ns_rr record;

	*out_s = UINT32_MAX;
	*out_is_there = false;
	for (int i = 0; i < ns_msg_count(walk->message, ns_s_an); i++) {
		uint32_t ttl_s;

		if (ns_parserr(&walk->message, ns_s_an, i, &record) < 0)
			return false;
		ttl_s = ttl_of((uint32_t)ns_rr_ttl(record));
		if (ttl_s < *out_s)
			*out_s = ttl_s;
		*out_is_there = *out_is_there ||
		    ((int)ns_rr_type(record) == walk->type &&
		    dns_walk_fits(walk, &record));
	}
	return true;
}

bool
dns_answer_lasts(const unsigned char *answer, size_t n, uint32_t *out_s)
{
	enum dns_result result = dns_answer_result(answer, n);
	uint32_t soa_s = UINT32_MAX;
	struct dns_walk walk;
	bool is_there;

	if ((result != DNS_OK && result != DNS_NO_NAME) ||
	    dns_answer_is_cut(answer, n) ||
	    !dns_walk_begin(&walk, answer, n) ||
	    !lasts_by_records(&walk, out_s, &is_there))
		return false;
	if (result == DNS_OK && is_there)
		return true;
	if (!lasts_by_soa(&walk.message, &soa_s))
		return false;
	if (soa_s < *out_s)
		*out_s = soa_s;
	return true;
}

/* ---- words about trouble ------------------------------------------------ */

/* Of an option EDE: the code, then words.  What is no ASCII is a blank. */
static void
error_take(const unsigned char *data, size_t n, struct dns_error *out)
{
	size_t length = 0;

	out->code = dns_get16(data);
	for (size_t i = 2; i < n && length < DNS_WORDS_BYTES - 1 &&
	    data[i] != 0; i++)
		out->words[length++] = data[i] < ' ' || data[i] > '~' ? ' ' :
		    (char)data[i];
	out->words[length] = '\0';
}

/* The options of an OPT record. */
static bool
error_find(const unsigned char *options, size_t n, struct dns_error *out)
{
	while (n >= 4) {
		size_t length = dns_get16(options + 2);

		if (length > n - 4)
			return false;
		if (dns_get16(options) == OPTION_ERROR && length >= 2) {
			error_take(options + 4, length, out);
			return true;
		}
		options += 4 + length;
		n -= 4 + length;
	}
	return false;
}

/* One record; NULL: it does not end. */
static const unsigned char *
error_look(const unsigned char *at, const unsigned char *end,
    struct dns_error *out, bool *out_is_found)
{
	int name = dn_skipname(at, end);
	size_t length;

	if (name < 0 || end - at - name < RECORD_HEAD_BYTES)
		return NULL;
	at += name;
	length = dns_get16(at + 8);
	if (length > (size_t)(end - at) - RECORD_HEAD_BYTES)
		return NULL;
	if (name == 1 && dns_get16(at) == OPT_TYPE)
		*out_is_found = error_find(at + RECORD_HEAD_BYTES, length,
		    out);
	return at + RECORD_HEAD_BYTES + length;
}

bool
dns_parse_error(const unsigned char *answer, size_t n, struct dns_error *out)
{
	const unsigned char *at = answer + HEADER_BYTES, *end = answer + n;
	bool is_found = false;
	unsigned records;

	if (n < HEADER_BYTES || !(answer[2] & FLAG_ANSWER))
		return false;
	for (unsigned i = dns_get16(answer + 4); i > 0; i--) {
		int name = dn_skipname(at, end);

		if (name < 0 || end - at - name < 4)
			return false;
		at += name + 4;
	}
	records = dns_get16(answer + 6) + dns_get16(answer + 8) +
	    dns_get16(answer + 10);
	for (; records > 0 && !is_found && at != NULL; records--)
		at = error_look(at, end, out, &is_found);
	return is_found;
}

enum dns_result
dns_parsed(bool is_there, bool is_damaged, const char *type, struct err *err)
{
	if (is_there)
		return DNS_OK;
	if (!is_damaged)
		return DNS_NONE;
	err_set(err, "the %s answer is damaged", type);
	return DNS_BAD;
}

/* A name that others may compare and print. */
static bool
wire_is_host_name(const char *name)
{
	if (*name == '\0' || *name == '-')
		return false;
	for (; *name != '\0'; name++)
		if (!ascii_is_alnum(*name) && *name != '-' &&
		    *name != '_' && *name != '.')
			return false;
	return true;
}

enum dns_result
dns_parse_ptr(const unsigned char *answer, size_t n, struct dns_name *out,
    size_t *out_n, struct err *err)
{
	size_t before = *out_n;
	struct dns_walk walk;
	ns_rr record;

	if (!dns_walk_begin(&walk, answer, n)) {
		err_set(err, "the PTR answer cannot be read");
		return DNS_BAD;
	}
	while (*out_n < DNS_PTR_MAX && dns_walk_next(&walk, &record)) {
		char *text = out[*out_n].text;

		if (ns_rr_type(record) == ns_t_ptr &&
		    dn_expand(ns_msg_base(walk.message),
		    ns_msg_end(walk.message), ns_rr_rdata(record), text,
		    sizeof(out->text)) >= 0 &&
		    wire_is_host_name(text))
			(*out_n)++;
	}
	return dns_parsed(*out_n > before, walk.is_damaged, "PTR", err);
}

/* Length-prefixed strings, one after the other. */
static void
add_strings(struct str *out, const unsigned char *bytes, size_t n)
{
	while (n > 0 && bytes[0] < n) {
		str_add(out, bytes + 1, bytes[0]);
		n -= bytes[0] + 1u;
		bytes += bytes[0] + 1u;
	}
}

enum dns_result
dns_parse_texts(const unsigned char *answer, size_t n, struct str *out,
    size_t ends[], size_t max, size_t *out_n, struct err *err)
{
	struct dns_walk walk;
	ns_rr record;

	*out_n = 0;
	if (!dns_walk_begin(&walk, answer, n)) {
		err_set(err, "the TXT answer cannot be read");
		return DNS_BAD;
	}
	while (*out_n < max && dns_walk_next(&walk, &record)) {
		if (ns_rr_type(record) != ns_t_txt)
			continue;
		add_strings(out, ns_rr_rdata(record), ns_rr_rdlen(record));
		ends[(*out_n)++] = out->len;
	}
	return dns_parsed(*out_n > 0, walk.is_damaged, "TXT", err);
}

enum dns_result
dns_parse_txt(const unsigned char *answer, size_t n, struct str *out,
    struct err *err)
{
	size_t ends[DNS_TEXTS_MAX], count, from = 0;
	struct str texts = STR_INIT;
	enum dns_result result = dns_parse_texts(answer, n, &texts, ends,
	    DNS_TEXTS_MAX, &count, err);

	for (size_t i = 0; i < count; i++) {
		str_add_escaped(out, (struct slice){ texts.buf + from,
		    ends[i] - from });
		str_addc(out, '\n');
		from = ends[i];
	}
	str_release(&texts);
	return result;
}

static size_t
add_nibbles(char *out, size_t size, const unsigned char bytes[16])
{
	size_t n = 0;

	for (int i = 15; i >= 0; i--)
		n += (size_t)snprintf(out + n, size - n, "%x.%x.",
		    bytes[i] & 15, bytes[i] >> 4);
	return n;
}

void
dns_reverse_name(const struct sockaddr *address, const char *suffix,
    struct dns_name *out)
{
	size_t n;

	if (address->sa_family == AF_INET) {
		const unsigned char *b = (const unsigned char *)
		    &((const struct sockaddr_in *)address)->sin_addr;

		n = (size_t)snprintf(out->text, sizeof(out->text),
		    "%u.%u.%u.%u.", b[3], b[2], b[1], b[0]);
		suffix = suffix != NULL ? suffix : "in-addr.arpa";
	} else {
		n = add_nibbles(out->text, sizeof(out->text),
		    ((const struct sockaddr_in6 *)address)->sin6_addr.s6_addr);
		suffix = suffix != NULL ? suffix : "ip6.arpa";
	}
	snprintf(out->text + n, sizeof(out->text) - n, "%s", suffix);
}
