/* test_query.c - questions as they should be and as they should not
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "io/dns/dns.h"
#include "resolver/wire/query.h"

static struct dns_query query;
static enum dns_code code;

/* From memory of exactly that size, so that a byte too many is found. */
static enum query_read
take(const unsigned char *packet, size_t n)
{
	unsigned char *copy = malloc(n + (n == 0));
	enum query_read result;

	memcpy(copy, packet, n);
	result = query_read(copy, n, &query, &code);
	free(copy);
	return result;
}

Test(query, our_own_question_is_one)
{
	unsigned char packet[DNS_QUERY_BYTES_MAX];
	size_t n = dns_make_query("_25._tcp.mx.example.org", DNS_TYPE_TLSA,
	    0x1234, packet);

	cr_expect_eq(take(packet, n), QUERY_GOOD);
	cr_expect_eq(query.id, 0x1234);
	cr_expect_str_eq(query.name, "_25._tcp.mx.example.org.");
	cr_expect_eq(query.type, DNS_TYPE_TLSA);
	cr_expect(query.has_edns);
	cr_expect(!query.wants_signatures);
	cr_expect_eq(query.room, 1232);
	for (size_t i = 0; i < n; i++)
		cr_expect_neq(take(packet, i), QUERY_GOOD, "%zu bytes", i);
}

#define HEAD(flags, questions, more) \
	"\x12\x34" flags "\x00" questions "\x00\x00\x00\x00\x00" more
#define NAME "\x02mx\x04test\x00\x00\x0f\x00\x01"
#define OPT(size, rest) "\x00\x00\x29" size rest

#define ROW(bytes, read, code, what) \
	{ bytes, sizeof(bytes) - 1, QUERY_##read, DNS_CODE_##code, what }

static const struct {
	const char	*bytes;
	size_t		 n;
	enum query_read	 read;
	enum dns_code	 code;
	const char	*what;
} rows[] = {
	ROW(HEAD("\x01\x00", "\x01", "\x00") NAME, GOOD, GOOD, "no EDNS"),
	ROW(HEAD("\x01\x00", "\x01", "\x01") NAME
	    OPT("\x04\xd0", "\x00\x00\x80\x00\x00\x00"), GOOD, GOOD, "DO"),
	ROW("", DROPPED, GOOD, "nothing"),
	ROW("\x12\x34\x01", DROPPED, GOOD, "half a header"),
	ROW(HEAD("\x81\x80", "\x01", "\x00") NAME, DROPPED, GOOD,
	    "an answer: answering it would never end"),
	ROW(HEAD("\x28\x00", "\x01", "\x00") NAME, REFUSED, UNKNOWN, "update"),
	ROW(HEAD("\x01\x00", "\x00", "\x00"), REFUSED, FORMAT, "none"),
	ROW(HEAD("\x01\x00", "\x02", "\x00") NAME NAME, REFUSED, FORMAT,
	    "two questions"),
	ROW(HEAD("\x01\x00", "\x01", "\x00") NAME "x", REFUSED, FORMAT,
	    "a byte more"),
	ROW(HEAD("\x01\x00", "\x01", "\x00") "\xc0\x0c\x00\x0f\x00\x01",
	    REFUSED, FORMAT, "a pointer to itself"),
	ROW(HEAD("\x01\x00", "\x01", "\x00") "\x40" NAME, REFUSED, FORMAT,
	    "a label of a kind that there is not"),
	ROW(HEAD("\x01\x00", "\x01", "\x00") "\x3f" "abc", REFUSED, FORMAT,
	    "a label that does not end"),
	ROW(HEAD("\x01\x00", "\x01", "\x00") "\x01" "a\x00\x00\x01\x00\x03",
	    REFUSED, REFUSED, "CHAOS"),
	ROW(HEAD("\x01\x00", "\x01", "\x00") "\x01" "a\x00\x00\xfc\x00\x01",
	    REFUSED, REFUSED, "a whole zone"),
	ROW(HEAD("\x01\x00", "\x01", "\x01") NAME
	    OPT("\x04\xd0", "\x00\x01\x00\x00\x00\x00"), REFUSED, VERSION,
	    "EDNS 1"),
	ROW(HEAD("\x01\x00", "\x01", "\x01") NAME
	    OPT("\x04\xd0", "\x00\x00\x00\x00\x00\x04"), REFUSED, FORMAT,
	    "options that are not there"),
	ROW(HEAD("\x01\x00", "\x01", "\x01") NAME
	    OPT("\x04\xd0", "\x00\x00\x00\x00\x00\x00" "xy"), REFUSED, FORMAT,
	    "bytes after the options"),
	ROW(HEAD("\x01\x00", "\x01", "\x02") NAME
	    OPT("\x04\xd0", "\x00\x00\x00\x00\x00\x00")
	    OPT("\x04\xd0", "\x00\x00\x00\x00\x00\x00"), REFUSED, FORMAT,
	    "two OPT"),
};

Test(query, rows)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		enum query_read read = take(
		    (const unsigned char *)rows[i].bytes, rows[i].n);

		cr_expect_eq(read, rows[i].read, "%s: %d", rows[i].what, read);
		if (read == QUERY_REFUSED)
			cr_expect_eq(code, rows[i].code, "%s: %d",
			    rows[i].what, code);
	}
}

/* 255 bytes are a name, one more is none; odd bytes are escaped. */
Test(query, long_and_odd_names)
{
	unsigned char packet[DNS_HEADER_BYTES + 300] = { 0x12, 0x34, 1, 0, 0,
	    1 };
	size_t at = DNS_HEADER_BYTES;

	for (int label = 0; label < 4; label++) {
		size_t n = label < 3 ? 63 : 61;

		packet[at] = (unsigned char)n;
		memset(packet + at + 1, 0xe4, n);
		at += n + 1;
	}
	packet[at + 2] = packet[at + 4] = 1;
	cr_expect_eq(take(packet, at + 5), QUERY_GOOD);
	cr_expect_eq(strlen(query.name), 4 * 250 + 4);
	cr_expect_eq(strncmp(query.name, "\\228\\228", 8), 0);
	packet[at - 62] = 62;
	packet[at] = 0xe4;
	packet[at + 1] = packet[at + 2] = packet[at + 4] = 0;
	packet[at + 3] = packet[at + 5] = 1;
	cr_expect_eq(take(packet, at + 6), QUERY_REFUSED);
	cr_expect_eq(code, DNS_CODE_FORMAT);
}
