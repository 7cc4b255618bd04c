/* query.c - one question of the DNS, as it comes from a process of this host
 *
 * In     a packet, whole
 * Out    its question; or the code that it is refused with
 * Holds  nothing
 * Trusts no byte: each is looked for before it is read, names have no
 *        pointers, and nothing may stand after what is counted
 * Spec   RFC 1035 section 4.1; RFC 6891 section 6.1; RFC 9619
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>

#include "base/ascii.h"
#include "io/dns/dns.h"
#include "resolver/wire/query.h"

#include "base/banned.h"

enum {
	FLAG_RESPONSE = 0x80, OPCODE_MASK = 0x78,	/* byte 2 */
	LABEL_BYTES_MAX = 63,
	CLASS_IN = 1,
	TYPE_OPT = 41, TYPE_META_FIRST = 249, TYPE_ANY = 255,
	OPT_BYTES = 11,		/* root, type, size, flags, length */
	FLAG_DO = 0x80
};

/* A label as text; what is more than letters, digits, - and _ as \DDD. */
static size_t
label_text(char *out, const unsigned char *label, size_t n)
{
	size_t length = 0;

	for (size_t i = 0; i < n; i++) {
		char c = (char)label[i];

		if (ascii_is_alnum(c) || c == '-' || c == '_')
			out[length++] = c;
		else
			length += (size_t)snprintf(out + length, 5, "\\%03u",
			    label[i]);
	}
	out[length++] = '.';
	return length;
}

/* The labels of the question's name from *at on; false: they do not end, or
 * too late. */
static bool
query_take_name(const unsigned char *packet, size_t n, size_t *at,
    struct dns_query *out)
{
	size_t text = 0, begin = *at;

	for (;;) {
		size_t label = *at < n ? packet[*at] : LABEL_BYTES_MAX + 1;

		if (label > LABEL_BYTES_MAX || n - *at < label + 1 ||
		    *at + label + 1 - begin > DNS_NAME_BYTES_MAX)
			return false;
		if (label > 0)
			text += label_text(out->name + text,
			    packet + *at + 1, label);
		*at += label + 1;
		if (label == 0)
			break;
	}
	if (text == 0)
		out->name[text++] = '.';
	out->name[text] = '\0';
	return true;
}

static bool
query_take_question(const unsigned char *packet, size_t n, size_t *at,
    struct dns_query *out)
{
	size_t begin = *at;

	if (!query_take_name(packet, n, at, out) || n - *at < 4)
		return false;
	out->type = dns_get16(packet + *at);
	*at += 4;
	out->question_bytes = *at - begin;
	memcpy(out->question, packet + begin, out->question_bytes);
	return true;
}

/* The one record that may follow. */
static bool
query_take_opt(const unsigned char *packet, size_t n, size_t at,
    struct dns_query *out, enum dns_code *out_code)
{
	const unsigned char *opt = packet + at;
	size_t room;

	if (n - at < OPT_BYTES || opt[0] != 0 ||
	    dns_get16(opt + 1) != TYPE_OPT ||
	    n - at - OPT_BYTES != dns_get16(opt + 9))
		return false;
	room = dns_get16(opt + 3);
	out->room = room < QUERY_ROOM_LEAST ? QUERY_ROOM_LEAST :
	    room > QUERY_ROOM_MOST ? QUERY_ROOM_MOST : room;
	out->has_edns = true;
	out->wants_signatures = (opt[7] & FLAG_DO) != 0;
	if (opt[6] != 0)
		*out_code = DNS_CODE_VERSION;
	return true;
}

static enum dns_code
query_judge(const struct dns_query *query)
{
	const unsigned char *end = query->question + query->question_bytes;

	if (dns_get16(end - 2) != CLASS_IN || query->type == 0 ||
	    query->type == TYPE_OPT || (query->type >= TYPE_META_FIRST &&
	    query->type < TYPE_ANY))
		return DNS_CODE_REFUSED;
	return DNS_CODE_GOOD;
}

static enum dns_code
query_take(const unsigned char *packet, size_t n, struct dns_query *out)
{
	enum dns_code code = DNS_CODE_GOOD;
	unsigned more = dns_get16(packet + 10);
	size_t at = DNS_HEADER_BYTES;

	if ((packet[2] & OPCODE_MASK) != 0)
		return DNS_CODE_UNKNOWN;
	if (dns_get16(packet + 4) != 1 || dns_get16(packet + 6) != 0 ||
	    dns_get16(packet + 8) != 0 || more > 1 ||
	    !query_take_question(packet, n, &at, out) ||
	    (more == 1 ? !query_take_opt(packet, n, at, out, &code) :
	    at != n))
		return DNS_CODE_FORMAT;
	return code != DNS_CODE_GOOD ? code : query_judge(out);
}

enum query_read
query_read(const unsigned char *packet, size_t n, struct dns_query *out,
    enum dns_code *out_code)
{
	memset(out, 0, sizeof(*out));
	out->room = QUERY_ROOM_LEAST;
	if (n < DNS_HEADER_BYTES || (packet[2] & FLAG_RESPONSE) != 0)
		return QUERY_DROPPED;
	out->id = (uint16_t)dns_get16(packet);
	memcpy(out->flags, packet + 2, 2);
	*out_code = query_take(packet, n, out);
	if (*out_code == DNS_CODE_FORMAT || *out_code == DNS_CODE_UNKNOWN)
		out->question_bytes = 0;
	return *out_code == DNS_CODE_GOOD ? QUERY_GOOD : QUERY_REFUSED;
}
