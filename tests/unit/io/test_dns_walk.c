/* test_dns_walk.c - records of an answer that are not of the name asked for
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <string.h>

#include "io/dns/dns.h"
#include "tests/unit/io/dns_bytes.h"

enum { A = 1, CNAME = 5, MX = 15 };

/* A record by its bytes. */
static void
raw_put(unsigned char *answer, size_t *at, const char *name, int type,
    struct slice value)
{
	*at += dns_bytes_name(answer + *at, name);
	dns_bytes_put16(answer + *at, (unsigned)type);
	dns_bytes_put16(answer + *at + 2, 1);
	memset(answer + *at + 4, 0, 4);
	dns_bytes_put16(answer + *at + 8, (unsigned)value.n);
	memcpy(answer + *at + 10, value.p, value.n);
	*at += 10 + value.n;
	dns_bytes_put16(answer + 6, dns_get16(answer + 6) + 1);
}

/* Of each type one record of the name where the aliases lead, and others of
 * strangers, before it and after it. */
static size_t
strangers_put(unsigned char *answer, int type, struct slice theirs,
    struct slice ours)
{
	static const struct slice next = { "\4next\4test", 11 };
	static const struct slice end = { "\3end\4test", 10 };
	size_t at = dns_bytes_question(answer, "asked.test", type);

	dns_bytes_put16(answer + 6, 0);
	raw_put(answer, &at, "stranger.test", type, theirs);
	raw_put(answer, &at, "next.test", CNAME, end);
	raw_put(answer, &at, "asked.test", CNAME, next);
	raw_put(answer, &at, "asked.test", type, theirs);
	if (ours.n > 0)
		raw_put(answer, &at, "End.test", type, ours);
	raw_put(answer, &at, "x.end.test", type, theirs);
	return at;
}

Test(dns_walk, records_of_other_names_do_not_count)
{
	static const struct {
		int		 type;
		struct slice	 theirs, ours;
	} rows[] = {
		{ A, { "\1\2\3\4", 4 }, { "\1\2\3\5", 4 } },
		{ MX, { "\0\1\4evil", 8 }, { "\0\1\4good", 8 } },
		{ DNS_TYPE_TXT, { "\4evil", 5 }, { "\4good", 5 } },
		{ DNS_TYPE_PTR, { "\4evil", 6 }, { "\4good", 6 } },
		{ DNS_TYPE_TLSA, { "\3\1\1evil", 7 },
		    { "\3\1\1good", 7 } },
	};

	for (size_t i = 0; i < 2 * sizeof(rows) / sizeof(rows[0]); i++) {
		unsigned char answer[512] = { 0, 1, 0x84, 0x80 };
		bool is_there = i % 2 == 0;
		int type = rows[i / 2].type;
		struct slice none = { NULL, 0 };
		size_t n = strangers_put(answer, type, rows[i / 2].theirs,
		    is_there ? rows[i / 2].ours : none), count = 0;
		enum dns_result result;
		struct dns_address addresses[DNS_ADDRESS_MAX];
		struct dns_name names[DNS_PTR_MAX];
		struct dns_mx mx[DNS_MX_MAX];
		struct dns_records records;
		struct str text = STR_INIT;
		struct err err;
		uint32_t lasts_s;

		dns_records_init(&records);
		if (type == A) {
			result = dns_parse_addresses(answer, n, addresses,
			    &count, &err);
		} else if (type == MX) {
			result = dns_parse_mx(answer, n, mx, &count, &err);
			cr_expect(!is_there || strcmp(mx[0].host, "good") ==
			    0);
		} else if (type == DNS_TYPE_TXT) {
			result = dns_parse_txt(answer, n, &text, &err);
			cr_expect_str_eq(text.buf, is_there ? "good\n" : "");
			count = text.len > 0;
		} else if (type == DNS_TYPE_PTR) {
			result = dns_parse_ptr(answer, n, names, &count,
			    &err);
			cr_expect(!is_there || strcmp(names[0].text, "good")
			    == 0);
		} else {
			result = dns_parse_records(answer, n, DNS_TYPE_TLSA,
			    &records, &err);
			count = records.count;
		}
		cr_expect_eq(result, is_there ? DNS_OK : DNS_NONE, "%d: %d",
		    type, result);
		cr_expect_eq(count, is_there, "%d: %zu", type, count);
		/* what says nothing, and has no SOA, is not kept */
		cr_expect_eq(dns_answer_lasts(answer, n, &lasts_s), is_there);
		dns_records_release(&records);
		str_release(&text);
	}
}

/* Of an answer without a question it is not known whose records count. */
Test(dns_walk, an_answer_repeats_its_question)
{
	unsigned char answer[512] = { 0, 1, 0x84, 0x80 };
	size_t n = strangers_put(answer, A, (struct slice){ "\1\2\3\4", 4 },
	    (struct slice){ "\1\2\3\5", 4 }), count = 0;
	struct dns_address addresses[DNS_ADDRESS_MAX];
	struct dns_trust trust;
	struct err err;

	dns_parse_trust(answer, n, &trust);
	cr_expect_str_eq(trust.name, "end.test");
	dns_bytes_put16(answer + 4, 0);
	cr_expect_eq(dns_parse_addresses(answer, n, addresses, &count, &err),
	    DNS_BAD);
	cr_expect_eq(count, 0);
}

/* As text a name may have more bytes than it has in a message. */
Test(dns_walk, a_name_of_odd_bytes_is_itself)
{
	unsigned char answer[1024] = { 0, 1, 0x84, 0x80 };
	struct dns_address addresses[DNS_ADDRESS_MAX];
	char name[200];
	size_t at, count = 0;
	struct err err;

	memset(name, '@', sizeof(name));
	name[60] = name[120] = name[180] = '.';
	name[199] = '\0';
	at = dns_bytes_question(answer, name, A);
	raw_put(answer, &at, name, A, (struct slice){ "\1\2\3\4", 4 });
	cr_expect_eq(dns_parse_addresses(answer, at, addresses, &count, &err),
	    DNS_OK);
	cr_expect_eq(count, 1);
}
