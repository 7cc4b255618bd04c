/* test_names.c - spool ids and file names
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/mail/fixture.h"

Test(names, ids_rise_and_never_come_twice)
{
	char last[SPOOL_ID_BYTES] = "", id[SPOOL_ID_BYTES];
	int64_t now = 1763600000000000;

	/* the clock stands, and even goes back: ids rise all the same */
	for (int i = 0; i < 1000000; i++) {
		spool_id_make(i % 3 ? now : now - i, 1, id);
		if (strcmp(last, id) >= 0)
			cr_assert_fail("%s then %s", last, id);
		memcpy(last, id, sizeof(id));
	}
}

Test(names, id_tells_time_and_inode)
{
	static const ino_t inodes[] = { 1, 31, 32, 4711, 1u << 31,
	    (ino_t)UINT64_MAX };
	int64_t now = 1763600000000000;
	char id[SPOOL_ID_BYTES];

	for (size_t i = 0; i < sizeof(inodes) / sizeof(inodes[0]); i++) {
		spool_id_make(now += 1000000, inodes[i], id);
		cr_expect(spool_id_is(slice_of(id)), "%s", id);
		cr_expect_leq(llabs(spool_id_time_us(slice_of(id)) - now), 16);
		cr_expect_eq(spool_id_inode(slice_of(id)), inodes[i]);
	}
}

Test(names, ids_carry_their_node)
{
	char id[SPOOL_ID_BYTES], with[SPOOL_ID_BYTES], node[SPOOL_NODE_BYTES];

	for (unsigned number = 0; number < SPOOL_NODES_MAX; number++) {
		spool_node_digits(number, node);
		spool_id_make_of(1763600000000000 + number, 4711, id);
		snprintf(with, sizeof(with), "%s", id);
		spool_id_add_node(node, with);
		cr_assert(spool_id_is(slice_of(with)), "%s", with);
		cr_assert_eq(strlen(with), strlen(id) + 3);
		cr_assert_eq(spool_id_inode(slice_of(with)), 4711);
		cr_assert_eq(spool_id_time_us(slice_of(with)),
		    spool_id_time_us(slice_of(id)));
	}
	snprintf(with, sizeof(with), "%s", id);
	spool_id_add_node("", with);
	cr_expect_str_eq(with, id);
}

Test(names, ids_are_told_from_other_words)
{
	static const struct { const char *in; bool want; } rows[] = {
		{ "0123456789a", true }, { "0123456789", false },
		{ "", false }, { "0123456789A", false },
		{ "0123456789i", false }, { "0123456789l", false },
		{ "0123456789o", false }, { "0123456789u", false },
		{ "0123456789-", false }, { "0123456789\n", false },
		{ "012345678901234567890123", true },
		{ "0123456789012345678901234", false },
		{ "0123456789au7k", true }, { "0123456789u7k", false },
		{ "0123456789au7", false }, { "0123456789au7kk", false },
		{ "0123456789au7l", false }, { "0123456789au", false },
		{ "0123456789au7ku", false }, { "u7k", false },
		{ "012345678901234567890123u00", true },
		{ "0123456789012345678901234u0", false },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		cr_expect_eq(spool_id_is(slice_of(rows[i].in)), rows[i].want,
		    "%s", rows[i].in);
	cr_expect_not(spool_id_is((struct slice){ "0123456789\0", 11 }));
}

Test(names, forms)
{
	static const struct {
		const char *in;
		bool ok;
		ino_t inode;
		pid_t pid;
		bool is_plan;
		const char *why;
	} rows[] = {
		{ "1", true, 1, 0, false, "" },
		{ "4711", true, 4711, 0, false, "" },
		{ "18446744073709551615", true, (ino_t)UINT64_MAX, 0, false,
		    "" },
		{ "18446744073709551616", false, 0, 0, false, "" },
		{ "D/J/4711", true, 4711, 0, false, "" },
		{ "J/4711", true, 4711, 0, false, "" },
		{ "A/B/C/4711", false, 0, 0, false, "" },
		{ "a/4711", false, 0, 0, false, "" },
		{ "4711-12", true, 4711, 12, false, "" },
		{ "..4711-12", true, 4711, 12, true, "" },
		{ "..4711", false, 0, 0, false, "" },
		{ ".4711", false, 0, 0, false, "" },
		{ "4711.deferred", true, 4711, 0, false, "deferred" },
		{ "4711._badheader", true, 4711, 0, false, "_badheader" },
		{ "4711.why.control", true, 4711, 0, false, "why.control" },
		{ "4711.policy-2", true, 4711, 0, false, "policy-2" },
		{ "4711.", false, 0, 0, false, "" },
		{ "4711.a b", false, 0, 0, false, "" },
		{ "4711./", false, 0, 0, false, "" },
		{ "..4711.why", false, 0, 0, false, "" },
		{ "0", false, 0, 0, false, "" },
		{ "01", false, 0, 0, false, "" },
		{ "-1", false, 0, 0, false, "" },
		{ "1-", false, 0, 0, false, "" },
		{ "1-0", false, 0, 0, false, "" },
		{ "1-2147483648", false, 0, 0, false, "" },
		{ "1-2-3", false, 0, 0, false, "" },
		{ "1x", false, 0, 0, false, "" },
		{ "", false, 0, 0, false, "" },
		{ "..", false, 0, 0, false, "" },
		{ "../1-2", false, 0, 0, false, "" },
		{ "plans/k/..4711-12", true, 4711, 12, true, "" },
		{ "plans/1/..4711-12", false, 0, 0, false, "" },
		{ "new/Z/4711", true, 4711, 0, false, "" },
		{ "new/4711", false, 0, 0, false, "" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct spool_name name;

		cr_expect_eq(spool_name_parse(slice_of(rows[i].in), &name),
		    rows[i].ok, "%s", rows[i].in);
		if (!rows[i].ok)
			continue;
		cr_expect_eq(name.inode, rows[i].inode, "%s", rows[i].in);
		cr_expect_eq(name.pid, rows[i].pid, "%s", rows[i].in);
		cr_expect_eq(name.is_plan, rows[i].is_plan, "%s", rows[i].in);
		cr_expect(slice_is(name.why, rows[i].why), "%s", rows[i].in);
	}
}

Test(names, hash_letters)
{
	static const struct {
		unsigned levels;
		ino_t inode;
		const char *want;
	} rows[] = {
		{ 0, 4711, "4711" }, { 1, 4711, "F/4711" },
		{ 2, 4711, "Z/F/4711" }, { 2, 1, "A/B/1" },
		{ 2, 26, "B/A/26" }, { 2, 675, "Z/Z/675" },
		{ 2, 676, "A/A/676" },
	};

	for (unsigned levels = 0; levels <= 2; levels++) {
		struct fixture f;

		fixture_open(&f, levels);
		for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
			char name[SPOOL_NAME_BYTES];

			if (rows[i].levels != levels)
				continue;
			spool_hashed_name(f.spool, rows[i].inode, name);
			cr_expect_str_eq(name, rows[i].want);
		}
		fixture_close(&f);
	}
}
