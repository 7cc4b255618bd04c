/* test_members.c - who is there
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>

#include "share/ledger/members.h"

static const char *names[] = { "mx1", "mx2", "mx3" };
static const struct conf_cluster cluster = {
	.name = "mx", .nodes = names, .node_count = 3, .self = "mx1",
};

Test(share_members, those_seen_within_half_a_minute_count)
{
	static const struct { const char *text; unsigned count; } rows[] = {
		{ "mx1 0 mx2 3 mx3 30", 3 },
		{ "mx1 0 mx2 31", 1 },
		{ "mx1 0 mx9 4", 2 },
		{ "mx1 99", 1 },
		{ "", 1 },
		{ "mx1 0 mx2", 1 },
		{ "mx1 0 m\x01x 4 a\xff 2", 1 },
		{ "mx1 0 mx2 -4 mx3 0", 1 },
	};
	struct members *members = members_new(&cluster);

	cr_expect_eq(members_count(members), 3);	/* nobody said */
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		members_take(members, slice_of(rows[i].text),
		    (int64_t)(i + 1) * 100000);
		cr_expect_eq(members_count(members), rows[i].count, "%s",
		    rows[i].text);
	}
	members_free(&members);
}

/* Redis lost what it knew: who has not been heard of again counts for as long
 * as anybody may be silent. */
Test(share_members, a_redis_that_begins_anew)
{
	struct members *members = members_new(&cluster);

	members_take(members, SLICE("mx1 0 mx2 3 mx3 4"), 1000);
	members_take(members, SLICE("mx1 0"), 6000);
	cr_expect_eq(members_count(members), 3);
	members_take(members, SLICE("mx1 0 mx3 0"), 30000);
	cr_expect_eq(members_count(members), 2);
	members_free(&members);
}

Test(share_members, a_status_names_all_and_strangers)
{
	struct members *members = members_new(&cluster);
	struct str out = STR_INIT;

	members_take(members, SLICE("mx1 0 mx9 4 mx2 7"), 1000);
	members_add_status(members, SLICE("t"), 3000, &out);
	cr_expect_str_eq(out.buf, "t node mx1 2 self\nt node mx2 9 other\n"
	    "t node mx3 - other\nt node mx9 6 stranger\n");
	str_release(&out);
	members_free(&members);
}

Test(share_members, their_number_is_bounded)
{
	struct members *members = members_new(&cluster);
	struct str text = STR_INIT;

	for (int i = 0; i < 2000; i++)
		str_addf(&text, "n%d 1 ", i);
	members_take(members, str_slice(&text), 0);
	cr_expect_eq(members_count(members), CLUSTER_NODES_MAX * 2 - 3);
	str_release(&text);
	members_free(&members);
}
