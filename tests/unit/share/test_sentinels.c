/* test_sentinels.c - where a sentinel says that the master is
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <string.h>

#include "share/redis/said.h"
#include "share/redis/sentinels.h"

Test(share_sentinels, an_address_is_read)
{
	struct store_place place;
	struct err err;

	cr_assert_eq(sentinels_read(
	    SLICE("$9\r\n192.0.2.7\r\n$4\r\n6380\r\n"), &place, &err), 0);
	cr_expect_str_eq(place.host, "192.0.2.7");
	cr_expect_str_eq(place.text, "192.0.2.7:6380");
	cr_expect_eq(place.address.ss_family, AF_INET);
	cr_assert_eq(sentinels_read(
	    SLICE("$11\r\n2001:db8::7\r\n$4\r\n6379\r\n"), &place, &err), 0);
	cr_expect_str_eq(place.host, "2001:db8::7");
	cr_expect_eq(place.address.ss_family, AF_INET6);
}

Test(share_sentinels, what_is_none_is_said)
{
	static const struct {
		const char *items, *why;
	} rows[] = {
		{ "", "what it tells is no address" },
		{ "$9\r\n192.0.2.7\r\n", "what it tells is no address" },
		{ "$9\r\n192.0.2.7\r\n$1\r\n0\r\n",
		    "what it tells is no address" },
		{ "$9\r\n192.0.2.7\r\n$5\r\n65536\r\n",
		    "what it tells is no address" },
		{ "$9\r\n192.0.2.7\r\n*0\r\n",
		    "what it tells is no address" },
		{ "$6\r\nre\ndis\r\n$4\r\n6379\r\n", "it tells 're\\x0Adis', "
		    "which is no address: set resolve-hostnames no" },
		{ "$9\r\nlocalhost\r\n$4\r\n6379\r\n", "it tells "
		    "'localhost', which is no address: set resolve-hostnames "
		    "no" },
		{ "$3\r\n7.7\r\n$4\r\n6379\r\n", "it tells '7.7', which is "
		    "no address: set resolve-hostnames no" },
	};
	struct store_place place;
	struct err err;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		cr_expect_eq(sentinels_read(slice_of(rows[i].items), &place,
		    &err), -1, "%s", rows[i].items);
		cr_expect_str_eq(err.text, rows[i].why);
	}
}

/* However long, or with a byte that ends a string in C. */
Test(share_sentinels, a_name_without_an_end_is_cut)
{
	struct str items = STR_INIT;
	struct store_place place;
	struct err err;

	str_adds(&items, "$5000\r\n");
	for (int i = 0; i < 5000; i++)
		str_addc(&items, '1');
	str_adds(&items, "\r\n$4\r\n6379\r\n");
	cr_expect_eq(sentinels_read(str_slice(&items), &place, &err), -1);
	cr_expect_lt(strlen(err.text), 200);
	str_release(&items);
	cr_expect_eq(sentinels_read((struct slice){
	    "$11\r\n192.0.2.7\0x\r\n$4\r\n6379\r\n", 28 }, &place, &err), -1);
}

Test(share_sentinels, who_says_it_is_the_master)
{
	char why[64];

	cr_expect(said_is_master(SLICE("$6\r\nmaster\r\n:1\r\n*0\r\n")));
	cr_expect(!said_is_master(SLICE("$5\r\nslave\r\n")));
	cr_expect(!said_is_master(SLICE("$8\r\nsentinel\r\n")));
	cr_expect(!said_is_master(SLICE("")));
	said_error(SLICE("NOAUTH \x1b[1m"), why, sizeof(why));
	cr_expect_str_eq(why, "it says NOAUTH \\x1B[1m");
}
