/* test_kept.c - answers of the DNS are kept as long as they say, and no longer
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "io/dns/kept.h"

#include "base/banned.h"

#define TXT	DNS_TYPE_TXT

enum { SOA = 6, CNAME = DNS_TYPE_CNAME,
	RCODE_OK = 0, RCODE_SERVFAIL = 2, RCODE_NO_NAME = 3, FLAG_CUT = 2 };

static struct dns_kept *kept;
static struct str answer;

static void
setup(void)
{
	kept = dns_kept_new();
	str_init(&answer);
}

static void
teardown(void)
{
	dns_kept_free(&kept);
	str_release(&answer);
}

TestSuite(kept, .init = setup, .fini = teardown, .timeout = 60);

static void
put16(unsigned value)
{
	str_addc(&answer, (char)(value >> 8));
	str_addc(&answer, (char)(value & 0xff));
}

/* An answer to a question about the name "a", without records. */
static void
answer_begin(unsigned rcode)
{
	str_reset(&answer);
	put16(1);
	put16(0x8180u | rcode);
	put16(1);
	for (int i = 0; i < 3; i++)
		put16(0);
	str_add(&answer, "\1a\0", 3);
	put16(TXT);
	put16(1);
}

/* section: 0 of the answer, 1 of the authority; data of n bytes. */
static void
answer_add(unsigned section, unsigned type, uint32_t ttl_s, const char *data,
    size_t n)
{
	put16(0xc00c);
	put16(type);
	put16(1);
	put16(ttl_s >> 16);
	put16(ttl_s & 0xffff);
	put16((unsigned)n);
	str_add(&answer, data, n);
	answer.buf[7 + 2 * section]++;
}

static void
answer_add_text(uint32_t ttl_s)
{
	answer_add(0, TXT, ttl_s, "\1x", 2);
}

static void
answer_add_soa(uint32_t ttl_s, unsigned char least_s)
{
	char data[22] = { 0 };

	data[21] = (char)least_s;
	answer_add(1, SOA, ttl_s, data, sizeof(data));
}

/* Does an answer that is put in now count after so many ms? */
static bool
counts(enum dns_result result, int64_t after_ms)
{
	enum dns_result found;
	struct slice bytes;

	dns_kept_free(&kept);
	kept = dns_kept_new();
	dns_kept_add(kept, TXT, SLICE("a"), 1000, result, str_slice(&answer));
	if (!dns_kept_find(kept, TXT, SLICE("A"), 1000 + after_ms, &found,
	    &bytes))
		return false;
	cr_assert_eq(found, result);
	cr_assert(slice_equal(bytes, str_slice(&answer)));
	return true;
}

static bool
lasts(enum dns_result result, int64_t for_s)
{
	return counts(result, for_s * 1000 - 1) &&
	    !counts(result, for_s * 1000);
}

Test(kept, an_answer_counts_as_long_as_its_shortest_ttl)
{
	answer_begin(RCODE_OK);
	answer_add_text(40);
	cr_assert(lasts(DNS_OK, 40));
	answer_add_text(7);
	cr_assert(lasts(DNS_OK, 7));
	answer_begin(RCODE_OK);
	answer_add(0, CNAME, 5, "\xc0\x0c", 2);
	answer_add_text(50);
	cr_assert(lasts(DNS_OK, 5), "an alias counts, too");
}

Test(kept, never_longer_than_a_minute_and_never_for_nothing)
{
	answer_begin(RCODE_OK);
	answer_add_text(86400);
	cr_assert(lasts(DNS_OK, DNS_KEPT_FOR_MAX_S));
	answer_begin(RCODE_OK);
	answer_add_text(0);
	cr_assert_not(counts(DNS_OK, 0));
	answer_begin(RCODE_OK);
	answer_add_text(0x80000000);
	cr_assert_not(counts(DNS_OK, 0), "RFC 2181 section 8");
}

Test(kept, that_there_are_none_counts_by_its_soa)
{
	answer_begin(RCODE_NO_NAME);
	cr_assert_not(counts(DNS_NO_NAME, 0), "RFC 2308 section 5");
	answer_add_soa(30, 9);
	cr_assert(lasts(DNS_NO_NAME, 9));
	answer_begin(RCODE_OK);
	cr_assert_not(counts(DNS_OK, 0));
	answer_add_soa(8, 200);
	cr_assert(lasts(DNS_OK, 8));
	/* an alias that leads to nothing */
	answer_begin(RCODE_OK);
	answer_add(0, CNAME, 50, "\xc0\x0c", 2);
	cr_assert_not(counts(DNS_OK, 0));
	answer_add_soa(20, 30);
	cr_assert(lasts(DNS_OK, 20));
}

Test(kept, trouble_and_what_cannot_be_read_is_never_kept)
{
	answer_begin(RCODE_SERVFAIL);
	answer_add_text(60);
	cr_assert_not(counts(DNS_TRY_AGAIN, 0));
	cr_assert_not(counts(DNS_OK, 0), "whatever is said of it");
	answer_begin(RCODE_OK);
	answer_add_text(60);
	cr_assert_not(counts(DNS_BAD, 0));
	cr_assert_not(counts(DNS_TRY_AGAIN, 0));
	answer.buf[2] |= FLAG_CUT;
	cr_assert_not(counts(DNS_OK, 0));
	/* each shorter one is damaged */
	answer_begin(RCODE_OK);
	answer_add_text(60);
	while (answer.len > 0) {
		str_truncate(&answer, answer.len - 1);
		cr_assert_not(counts(DNS_OK, 0), "%zu bytes", answer.len);
	}
}

Test(kept, what_is_large_is_not_kept)
{
	static const char data[255];

	answer_begin(RCODE_OK);
	while (answer.len + sizeof(data) + 12 <= DNS_KEPT_BYTES_MAX)
		answer_add(0, TXT, 60, data, sizeof(data));
	cr_assert(counts(DNS_OK, 0));
	answer_add(0, TXT, 60, data, sizeof(data));
	cr_assert_not(counts(DNS_OK, 0));
}

Test(kept, an_answer_is_of_its_name_and_type_alone)
{
	static char long_name[300];
	enum dns_result result;
	struct slice bytes;

	answer_begin(RCODE_OK);
	answer_add_text(60);
	dns_kept_add(kept, TXT, SLICE("a"), 0, DNS_OK, str_slice(&answer));
	cr_assert(dns_kept_find(kept, TXT, SLICE("a"), 0, &result, &bytes));
	cr_assert_not(dns_kept_find(kept, DNS_TYPE_A, SLICE("a"), 0, &result,
	    &bytes));
	cr_assert_not(dns_kept_find(kept, TXT, SLICE("ab"), 0, &result,
	    &bytes));
	cr_assert_not(dns_kept_find(kept, TXT, SLICE(""), 0, &result, &bytes));
	memset(long_name, 'a', sizeof(long_name) - 1);
	dns_kept_add(kept, TXT, slice_of(long_name), 0, DNS_OK,
	    str_slice(&answer));
	cr_assert_not(dns_kept_find(kept, TXT, slice_of(long_name), 0, &result,
	    &bytes));
}

Test(kept, the_next_answer_takes_the_place_of_the_last)
{
	enum dns_result result;
	struct slice bytes;

	answer_begin(RCODE_OK);
	answer_add_text(60);
	dns_kept_add(kept, TXT, SLICE("a"), 0, DNS_OK, str_slice(&answer));
	cr_assert(dns_kept_find(kept, TXT, SLICE("a"), 0, &result, &bytes));
	answer_begin(RCODE_OK);
	answer_add(0, TXT, 60, "\1y", 2);
	dns_kept_add(kept, TXT, SLICE("a"), 60000, DNS_OK,
	    str_slice(&answer));
	cr_assert(dns_kept_find(kept, TXT, SLICE("a"), 60000, &result,
	    &bytes));
	cr_assert(slice_equal(bytes, str_slice(&answer)));
}

/* Names that are asked for once push out nothing that is in use. */
Test(kept, a_flood_of_names_pushes_out_nothing_in_use)
{
	enum { USED = 20, SHARED = 6, FLOOD = DNS_KEPT_PAIRS * 100 };
	enum dns_result result;
	struct slice bytes;
	unsigned found = 0;
	char name[32];

	answer_begin(RCODE_OK);
	answer_add_text(60);
	for (int i = 0; i < USED; i++) {
		snprintf(name, sizeof(name), "used%d.test", i);
		dns_kept_add(kept, TXT, slice_of(name), 0, DNS_OK,
		    str_slice(&answer));
		found += dns_kept_find(kept, TXT, slice_of(name), 0, &result,
		    &bytes);
	}
	cr_assert_eq(found, USED);
	for (int i = 0; i < FLOOD; i++) {
		snprintf(name, sizeof(name), "flood%d.test", i);
		dns_kept_add(kept, TXT, slice_of(name), 0, DNS_OK,
		    str_slice(&answer));
	}
	for (int i = 0; i < USED; i++) {
		snprintf(name, sizeof(name), "used%d.test", i);
		found -= dns_kept_find(kept, TXT, slice_of(name), 0, &result,
		    &bytes);
	}
	/* Of two that share a pair one is pushed out.  The key of the hash is
	 * new each time: three such pairs are there in 1 of 200 runs, seven in
	 * less than 1 of 10 million. */
	cr_assert_leq(found, SHARED, "%u of %d are gone", found, USED);
	found = 0;
	for (int i = 0; i < FLOOD; i++) {
		snprintf(name, sizeof(name), "flood%d.test", i);
		found += dns_kept_find(kept, TXT, slice_of(name), 0, &result,
		    &bytes);
	}
	cr_assert_leq(found, DNS_KEPT_PAIRS * 2, "the bound holds");
}
