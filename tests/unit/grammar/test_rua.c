/* test_rua.c - where domains want reports to go, as they write it
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>

#include "grammar/rua.h"

static const struct {
	const char	*record, *uris;	/* NULL: it is none */
} records[] = {
	{ "v=TLSRPTv1; rua=mailto:a@b.test", "mailto:a@b.test" },
	{ "v=TLSRPTv1;rua=mailto:a@b.test;", "mailto:a@b.test" },
	{ "v=TLSRPTv1; x=y; rua = https://r.test/ ; z", "https://r.test/" },
	{ "v=TLSRPTv1; rua=", NULL },
	{ "v=TLSRPTv1", NULL },
	{ "v=TLSRPTv2; rua=mailto:a@b.test", NULL },
	{ "rua=mailto:a@b.test; v=TLSRPTv1", NULL },
	{ "v=DMARC1; rua=mailto:a@b.test", NULL },
	{ "", NULL },
};

Test(rua, records_of_tls)
{
	for (size_t i = 0; i < sizeof(records) / sizeof(records[0]); i++) {
		struct slice uris = SLICE("");
		bool is_one = rua_of_tls(slice_of(records[i].record), &uris);

		cr_assert_eq(is_one, records[i].uris != NULL, "%s",
		    records[i].record);
		cr_assert(!is_one || slice_is(uris, records[i].uris), "%s",
		    records[i].record);
	}
}

static const struct {
	const char	*uris;
	size_t		 count, other;
	const char	*first;
	uint64_t	 bytes_max;
} lists[] = {
	{ "mailto:a@b.test", 1, 0, "a@b.test", 0 },
	{ "MAILTO:a@b.test", 1, 0, "a@b.test", 0 },
	{ " mailto:a@b.test , mailto:c@d.test", 2, 0, "a@b.test", 0 },
	{ "mailto:a@b.test,mailto:a@b.test", 1, 0, "a@b.test", 0 },
	{ "mailto:a%40b.test", 1, 0, "a@b.test", 0 },
	{ "mailto:a%2cb@b.test", 0, 1, NULL, 0 },
	{ "mailto:a@b.test?subject=x", 1, 0, "a@b.test", 0 },
	{ "mailto:a@b.test!10m", 1, 0, "a@b.test", 10485760 },
	{ "mailto:a@b.test!10485760", 1, 0, "a@b.test", 10485760 },
	{ "mailto:a@b.test!500", 1, 0, "a@b.test", 500 },
	{ "mailto:a@b.test!2K", 1, 0, "a@b.test", 2048 },
	{ "mailto:a@b.test!x", 1, 0, "a@b.test", 0 },
	{ "mailto:a@b.test!99999999999999t", 1, 0, "a@b.test", 0 },
	{ "https://r.test/v1,mailto:a@b.test", 1, 1, "a@b.test", 0 },
	{ "mailto:a", 0, 1, NULL, 0 },
	{ "mailto:<a@b.test>", 0, 1, NULL, 0 },
	{ "mailto:a@b.test%0d%0aBcc:x", 0, 1, NULL, 0 },
	{ "mailto:a@b.test%00", 0, 1, NULL, 0 },
	{ "mailto:a%20b@b.test", 0, 1, NULL, 0 },
	{ "mailto:", 0, 1, NULL, 0 },
	{ "mailto:%", 0, 1, NULL, 0 },
	{ "", 0, 0, NULL, 0 },
	{ ",,", 0, 0, NULL, 0 },
	{ "mailto:a@b.test,mailto:b@b.test,mailto:c@b.test,mailto:d@b.test,"
	    "mailto:e@b.test", 4, 1, "a@b.test", 0 },
};

Test(rua, lists_of_addresses)
{
	struct rua_address out[RUA_MAX];
	size_t other;

	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		size_t count = rua_addresses(slice_of(lists[i].uris), out,
		    &other);

		cr_assert_eq(count, lists[i].count, "%s: %zu", lists[i].uris,
		    count);
		cr_assert_eq(other, lists[i].other, "%s: %zu other",
		    lists[i].uris, other);
		if (count == 0)
			continue;
		cr_assert_str_eq(out[0].text, lists[i].first);
		cr_assert_eq(out[0].bytes_max, lists[i].bytes_max, "%s",
		    lists[i].uris);
	}
}

Test(rua, one_that_is_too_long_is_left_out)
{
	struct rua_address out[RUA_MAX];
	struct str uri = STR_INIT;
	size_t other;

	str_adds(&uri, "mailto:");
	for (unsigned i = 0; i < RUA_ADDRESS_BYTES; i++)
		str_addc(&uri, 'a');
	str_adds(&uri, "@b.test");
	cr_assert_eq(rua_addresses(str_slice(&uri), out, &other), 0);
	cr_assert_eq(other, 1);
	str_release(&uri);
}
