/* test_response.c - answers as they go back
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "io/dns/dns.h"
#include "resolver/wire/response.h"

/* mx.test MX 10 a.mx.test, with a signature, as libunbound has it: names
 * point to each other */
static const unsigned char packet[] =
    "\x00\x00\x81\x80\x00\x01\x00\x02\x00\x00\x00\x01"
    "\x02mx\x04test\x00\x00\x0f\x00\x01"
    "\xc0\x0c\x00\x2e\x00\x01\x00\x00\x0e\x10\x00\x04sign"
    "\xc0\x0c\x00\x0f\x00\x01\x00\x00\x0e\x10\x00\x06\x00\x0a\x01" "a\xc0\x0c"
    "\x00\x00\x29\x04\xd0\x00\x00\x80\x00\x00\x00";
enum { SIGNATURE_BYTES = 16 };

static struct dns_query query;

static void
ask(bool wants_signatures)
{
	static const char plain[] = "\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00"
	    "\x00\x01\x02Mx\x04test\x00\x00\x0f\x00\x01"
	    "\x00\x00\x29\x04\xd0\x00\x00\x00\x00\x00\x00";
	unsigned char bytes[sizeof(plain)];
	enum dns_code code;

	memcpy(bytes, plain, sizeof(plain));
	if (wants_signatures)
		bytes[sizeof(plain) - 1 - 4] = 0x80;
	cr_assert_eq(query_read(bytes, sizeof(plain) - 1, &query, &code),
	    QUERY_GOOD);
}

static const struct finding found = { .is_secure = true,
    .trouble = DNS_TROUBLE_NONE, .packet = packet,
    .packet_bytes = sizeof(packet) - 1 };

static struct str
answer(const struct finding *finding, size_t room)
{
	struct str out = STR_INIT;

	response_make(&out, &query, finding, room);
	return out;
}

#define BYTES(s) ((const unsigned char *)(s).buf)

Test(response, records_go_on_and_signatures_only_to_who_wants_them)
{
	struct dns_mx mx[DNS_MX_MAX];
	struct dns_trust trust;
	struct str short_one, long_one;
	struct err err;
	size_t n;

	ask(false);
	short_one = answer(&found, 1232);
	cr_expect_eq(dns_parse_mx(BYTES(short_one), short_one.len, mx, &n,
	    &err), DNS_OK);
	cr_expect_str_eq(mx[0].host, "a.mx.test");
	dns_parse_trust(BYTES(short_one), short_one.len, &trust);
	cr_expect(trust.is_secure);
	cr_expect_eq(short_one.buf[7], 1);
	cr_expect_eq(memcmp(short_one.buf, "\x12\x34", 2), 0);
	cr_expect_eq(short_one.buf[13], 'M', "the question as it was asked");
	ask(true);
	long_one = answer(&found, 1232);
	cr_expect_eq(long_one.buf[7], 2);
	cr_expect_eq(long_one.len, short_one.len + SIGNATURE_BYTES);
	str_release(&short_one);
	str_release(&long_one);
}

Test(response, what_does_not_fit_is_cut)
{
	struct str out;

	ask(false);
	out = answer(&found, 40);
	cr_expect(dns_answer_is_cut(BYTES(out), out.len));
	cr_expect_eq(out.buf[7], 0);
	cr_expect_eq(out.buf[11], 1, "OPT");
	str_release(&out);
}

Test(response, why_it_is_bogus)
{
	char why[400];
	struct finding finding = { .code = DNS_CODE_FAILED,
	    .trouble = DNS_TROUBLE_BOGUS, .why = why };
	struct dns_error error;
	struct str out;

	ask(false);
	memset(why, 'x', sizeof(why) - 1);
	why[sizeof(why) - 1] = '\0';
	memcpy(why, "no\nkeys\x1b", 8);
	out = answer(&finding, 1232);
	cr_expect_eq(dns_answer_result(BYTES(out), out.len), DNS_TRY_AGAIN);
	cr_expect(dns_parse_error(BYTES(out), out.len, &error));
	cr_expect_eq(error.code, DNS_ERROR_BOGUS);
	cr_expect_eq(strlen(error.words), RESPONSE_WHY_BYTES);
	cr_expect_eq(strncmp(error.words, "no keys xx", 10), 0, "%s",
	    error.words);
	for (size_t n = 0; n < out.len; n++)
		cr_expect(!dns_parse_error(BYTES(out), n, &error), "%zu", n);
	str_release(&out);
}

/* Cut anywhere, or with any byte changed, it is read within its bounds. */
Test(response, a_damaged_answer_is_a_failure)
{
	ask(true);
	for (size_t i = 0; i < sizeof(packet) - 1; i++) {
		unsigned char *copy = malloc(sizeof(packet));
		struct finding damaged = found;
		struct str out;

		memcpy(copy, packet, sizeof(packet));
		damaged.packet = copy;
		damaged.packet_bytes = i;
		out = answer(&damaged, 1232);
		cr_expect_eq(dns_answer_result(BYTES(out), out.len),
		    DNS_TRY_AGAIN, "%zu", i);
		str_release(&out);
		damaged.packet_bytes = sizeof(packet) - 1;
		for (unsigned change = 1; change < 256; change++) {
			copy[i] = (unsigned char)(packet[i] ^ change);
			out = answer(&damaged, 1232);
			cr_expect_geq(out.len, DNS_HEADER_BYTES);
			str_release(&out);
		}
		free(copy);
	}
}
