/* records.c - the records of an answer, copied into another one
 *
 * In     a whole answer, of libunbound
 * Out    its records, after a header and a question
 * Holds  nothing
 * Trusts no length, no count and no pointer of the answer
 * Spec   records.h; RFC 4035 section 3.2.1
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/ascii.h"
#include "io/dns/dns.h"
#include "resolver/wire/records.h"

#include "base/banned.h"

enum {
	POINTER_MARK = 0xc0,
	RECORD_FIXED_BYTES = 10,	/* type, class, TTL, length */
	SOA_NUMBERS_BYTES = 20
};

enum {				/* types that matter here */
	RECORD_NS = 2, RECORD_MD, RECORD_MF, RECORD_CNAME, RECORD_SOA,
	RECORD_MB, RECORD_MG, RECORD_MR, RECORD_PTR = 12, RECORD_MINFO = 14,
	RECORD_MX = 15, RECORD_DNAME = 39, RECORD_OPT = 41,
	RECORD_RRSIG = 46, RECORD_NSEC = 47, RECORD_NSEC3 = 50,
	RECORD_ANY = 255
};

struct packet {			/* being read */
	const unsigned char	*bytes;
	size_t			 n, at;
};

struct name {
	unsigned char	bytes[DNS_NAME_BYTES_MAX];
	size_t		n;
};

/* The name at packet->at, without pointers; at is after it then.  Pointers
 * lead back, each further than the one before, so they end. */
static bool
name_take(struct packet *packet, struct name *out)
{
	size_t at = packet->at, least = packet->at;
	bool is_away = false;

	out->n = 0;
	while (at < packet->n) {
		size_t length = packet->bytes[at];

		if ((length & POINTER_MARK) == POINTER_MARK) {
			if (packet->n - at < 2)
				return false;
			if (!is_away)
				packet->at = at + 2;
			is_away = true;
			at = (length & ~(size_t)POINTER_MARK) << 8 |
			    packet->bytes[at + 1];
			if (at >= least)
				return false;
			least = at;
			continue;
		}
		if ((length & POINTER_MARK) != 0 ||
		    packet->n - at < length + 1 ||
		    sizeof(out->bytes) - out->n < length + 1)
			return false;
		memcpy(out->bytes + out->n, packet->bytes + at, length + 1);
		out->n += length + 1;
		at += length + 1;
		if (length > 0)
			continue;
		if (!is_away)
			packet->at = at;
		return true;
	}
	return false;
}

static bool
name_is_asked(const struct name *name, const struct dns_query *query)
{
	if (name->n + 4 != query->question_bytes || name->n == 1)
		return false;
	for (size_t i = 0; i < name->n; i++)
		if (ascii_lower((char)name->bytes[i]) !=
		    ascii_lower((char)query->question[i]))
			return false;
	return true;
}

static void
name_put(struct str *out, const struct name *name,
    const struct dns_query *query)
{
	static const unsigned char pointer[2] = { POINTER_MARK,
	    DNS_HEADER_BYTES };

	if (name_is_asked(name, query))
		str_add(out, pointer, sizeof(pointer));
	else
		str_add(out, name->bytes, name->n);
}

/* So many names, after so many bytes, before so many: the types whose names
 * may be compressed.  -1: none of these. */
static int
data_names(unsigned type, size_t *out_before, size_t *out_after)
{
	*out_before = type == RECORD_MX ? 2 : 0;
	*out_after = type == RECORD_SOA ? SOA_NUMBERS_BYTES : 0;
	switch (type) {
	case RECORD_NS: case RECORD_MD: case RECORD_MF: case RECORD_CNAME:
	case RECORD_MB: case RECORD_MG: case RECORD_MR: case RECORD_PTR:
	case RECORD_MX: case RECORD_DNAME:
		return 1;
	case RECORD_SOA: case RECORD_MINFO:
		return 2;
	default:
		return -1;
	}
}

/* The data of a record, which ends at end. */
static bool
data_copy(struct str *out, const struct dns_query *query, struct packet *packet,
    size_t end, unsigned type)
{
	size_t before, after;
	struct name name;
	int names = data_names(type, &before, &after);

	if (names < 0) {
		str_add(out, packet->bytes + packet->at, end - packet->at);
		packet->at = end;
		return true;
	}
	if (end - packet->at < before)
		return false;
	str_add(out, packet->bytes + packet->at, before);
	packet->at += before;
	for (; names > 0; names--) {
		if (!name_take(packet, &name) || packet->at > end)
			return false;
		name_put(out, &name, query);
	}
	if (end - packet->at != after)
		return false;
	str_add(out, packet->bytes + packet->at, after);
	packet->at = end;
	return true;
}

static bool
record_is_shown(unsigned type, const struct dns_query *query)
{
	if (type == RECORD_OPT)
		return false;
	if (type != RECORD_RRSIG && type != RECORD_NSEC &&
	    type != RECORD_NSEC3)
		return true;
	return query->wants_signatures || query->type == type ||
	    query->type == RECORD_ANY;
}

/* One record; *out_count grows when it is shown. */
static bool
record_copy(struct str *out, const struct dns_query *query,
    struct packet *packet, unsigned *out_count)
{
	const unsigned char *fixed;
	struct name owner;
	unsigned type;
	size_t begin, end;

	if (!name_take(packet, &owner) ||
	    packet->n - packet->at < RECORD_FIXED_BYTES)
		return false;
	fixed = packet->bytes + packet->at;
	type = dns_get16(fixed);
	packet->at += RECORD_FIXED_BYTES;
	end = packet->at + dns_get16(fixed + 8);
	if (end > packet->n)
		return false;
	if (!record_is_shown(type, query)) {
		packet->at = end;
		return true;
	}
	name_put(out, &owner, query);
	str_add(out, fixed, RECORD_FIXED_BYTES);
	begin = out->len;
	if (!data_copy(out, query, packet, end, type) ||
	    out->len - begin > 0xffff)
		return false;
	out->buf[begin - 2] = (char)((out->len - begin) >> 8);
	out->buf[begin - 1] = (char)((out->len - begin) & 0xff);
	(*out_count)++;
	return true;
}

bool
records_copy(struct str *out, const struct dns_query *query,
    const unsigned char *bytes, size_t n,
    unsigned out_counts[RECORDS_SECTIONS])
{
	struct packet packet = { .bytes = bytes, .n = n,
	    .at = DNS_HEADER_BYTES };
	struct name skipped;

	memset(out_counts, 0, RECORDS_SECTIONS * sizeof(*out_counts));
	if (n < DNS_HEADER_BYTES)
		return false;
	for (unsigned i = dns_get16(bytes + 4); i > 0; i--) {
		if (!name_take(&packet, &skipped) || n - packet.at < 4)
			return false;
		packet.at += 4;
	}
	for (size_t section = 0; section < RECORDS_SECTIONS; section++)
		for (unsigned i = dns_get16(bytes + 6 + 2 * section);
		    i > 0; i--)
			if (!record_copy(out, query, &packet,
			    &out_counts[section]))
				return false;
	return true;
}
