/* test_copies.c - questions about copies, what goes together, leases
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <string.h>

#include "io/consult/share_ask.h"
#include "share/copies/bounds.h"
#include "share/copies/copying.h"

#define FORTY "0123456789012345678901234567890123456789"
#define SIXTY "a-_.56789012345678901234567890123456789012345678901234567890"
#define SIXTY_FOUR SIXTY "1234"

Test(share_copies, a_question_is_read)
{
	static const struct {
		const char		*line;
		enum copying_verb	verb;
		const char		*id, *area, *node, *ids;
		size_t			count;
	} rows[] = {
		{ "7 copy 01ab router", COPYING_COPY, "01ab", "router", "",
		    "", 0 },
		{ "7 copy " FORTY " freezer/" SIXTY, COPYING_COPY, FORTY,
		    "freezer/" SIXTY, "", "", 0 },
		{ "7 kept z", COPYING_KEPT, "z", "", "", "", 0 },
		{ "7 done a b  c", COPYING_DONE, "", "", "", "a b  c", 3 },
		{ "7 lease", COPYING_LEASE, "", "", "", "", 0 },
		{ "7 taken 0", COPYING_TAKEN, "", "", "", "", 0 },
		{ "7 taken 9223372036854775807", COPYING_TAKEN, "", "", "",
		    "", 0 },
		{ "7 takeover mx-1.example", COPYING_TAKEOVER, "", "",
		    "mx-1.example", "", 0 },
		{ "7 takeover " SIXTY_FOUR, COPYING_TAKEOVER, "", "",
		    SIXTY_FOUR, "", 0 },
		{ "7 taken 1 2", COPYING_TAKEN, "", "", "", "", 0 },
		{ "7 left 0a 0b", COPYING_LEFT, "", "", "", "0a 0b", 2 },
		{ "7 offer 5 mx2 0a 0b", COPYING_OFFER, "", "", "mx2",
		    "0a 0b", 2 },
		{ "7 withdraw 0a", COPYING_WITHDRAW, "", "", "", "0a", 1 },
		{ "7 offers", COPYING_OFFERS, "", "", "", "", 0 },
		{ "7 take mx1", COPYING_TAKE, "", "", "mx1", "", 0 },
		{ "7 arriving 0a", COPYING_ARRIVING, "0a", "", "", "", 0 },
		{ "7 arriving -", COPYING_ARRIVING, "", "", "", "", 0 },
		{ "7 arrived 0a 0b", COPYING_ARRIVED, "", "", "", "0a 0b",
		    2 },
		{ "7 held mx1 0a", COPYING_HELD, "0a", "", "mx1", "", 0 },
		{ "7 held mx1 -", COPYING_HELD, "", "", "mx1", "", 0 },
		{ "7 takeover mx1 9 300", COPYING_TAKEOVER, "", "", "mx1",
		    "", 0 },
		{ "7 overdue 60", COPYING_OVERDUE, "", "", "", "", 0 },
	};
	struct copying q;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		cr_assert(copying_read(slice_of(rows[i].line), &q), "%s",
		    rows[i].line);
		cr_expect(slice_is(q.token, "7"));
		cr_expect(slice_is(q.line, rows[i].line));
		cr_expect_eq(q.verb, rows[i].verb, "%s", rows[i].line);
		cr_expect(slice_is(q.id, rows[i].id), "%s", rows[i].line);
		cr_expect(slice_is(q.area, rows[i].area), "%s",
		    rows[i].line);
		cr_expect(slice_is(q.node, rows[i].node), "%s",
		    rows[i].line);
		cr_expect(slice_is(q.ids, rows[i].ids), "%s", rows[i].line);
		cr_expect_eq(q.id_count, rows[i].count, "%s", rows[i].line);
	}
}

Test(share_copies, a_line_that_is_none_is_refused)
{
	static const char *const rows[] = {
		"", "7", "7 ", "copy a router", "7 status", "7 copy",
		"7 copy a", "7 copy a queue", "7 copy a router x",
		"7 copy A router", "7 copy a/b router", "7 copy - router",
		"7 copy " FORTY "0 router", "7 copy a freezer",
		"7 copy a freezer/", "7 copy a freezer/A",
		"7 copy a freezer/../x", "7 copy a freezer/" SIXTY "1",
		"7 copy a routers", "7 kept", "7 kept a b", "7 kept {",
		"7 done", "7 done a,b", "7 done a B", "7 lease x", "7 taken",
		"7 taken -1", "7 taken x", "7 taken 1 2 3",
		"7 taken 1 x", "7 left", "7 left A", "7 offer mx2 0a",
		"7 offer 1 mx2", "7 offer -1 mx2 0a", "7 offer 1 MX2 0a",
		"7 withdraw", "7 offers x", "7 take", "7 take mx1 0a",
		"7 held", "7 held mx1", "7 held mx1 A", "7 held - 0a",
		"7 arriving", "7 arriving a b", "7 arrived",
		"7 taken 9223372036854775808", "7 takeover",
		"7 takeover -mx", "7 takeover MX", "7 takeover a/b",
		"7 takeover " SIXTY_FOUR "5", "7 takeover a b", "7 take MX",
		"7 arriving B", "7 arrived a -", "7 fetch a b", "7 took a b",
		"7 copies", "7 COPY a router", "7 takeover mx1 9",
		"7 takeover mx1 x 60", "7 takeover mx1 9 0",
		"7 takeover mx1 9 60 1", "7 overdue", "7 overdue 0",
		"7 overdue 31536001", "7 overdue 60 x", "7 overdue -1",
		"01234567890123456789012345678901 lease",
	};
	struct copying q;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		cr_expect(!copying_read(slice_of(rows[i]), &q), "%s",
		    rows[i]);
}

/* As many as a question may have, and one more. */
Test(share_copies, ids_are_counted)
{
	struct str line = STR_INIT;
	struct copying q;

	str_adds(&line, "7 done");
	for (int i = 0; i < COPYING_IDS_MAX; i++)
		str_adds(&line, " a");
	cr_expect(copying_read(str_slice(&line), &q));
	cr_expect_eq(q.id_count, COPYING_IDS_MAX);
	str_adds(&line, " a");
	cr_expect(!copying_read(str_slice(&line), &q));
	str_release(&line);
}

Test(share_copies, what_a_line_brings_and_who_may_say_it)
{
	static const struct {
		enum copying_verb	verb;
		size_t			descriptors;
		bool			is_of_root;
	} rows[] = {
		{ COPYING_COPY, 1, false }, { COPYING_KEPT, 2, false },
		{ COPYING_DONE, 0, false }, { COPYING_LEASE, 0, false },
		{ COPYING_TAKEN, 0, false }, { COPYING_TAKEOVER, 0, true },
		{ COPYING_ROWS, 0, true }, { COPYING_LEFT, 0, false },
		{ COPYING_OFFER, 0, false }, { COPYING_WITHDRAW, 0, false },
		{ COPYING_OFFERS, 0, true }, { COPYING_TAKE, 0, true },
		{ COPYING_ARRIVING, 1, true }, { COPYING_ARRIVED, 0, true },
		{ COPYING_HELD, 1, true }, { COPYING_OVERDUE, 0, true },
	};

	cr_assert_eq(sizeof(rows) / sizeof(rows[0]), COPYING_VERBS);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		cr_expect_eq(copying_descriptors(rows[i].verb),
		    rows[i].descriptors);
		cr_expect_eq(copying_is_of_root(rows[i].verb),
		    rows[i].is_of_root);
	}
}

Test(share_copies, ids_become_an_array)
{
	static const struct {
		const char	*ids, *array;
	} rows[] = {
		{ "", "{}" }, { " a", "{a}" }, { "a  b c ", "{a,b,c}" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct str out = STR_INIT;

		copying_add_array(&out, slice_of(rows[i].ids));
		cr_expect_str_eq(out.buf, rows[i].array);
		str_release(&out);
	}
}

Test(share_copies, what_goes_together)
{
	static const struct {
		size_t		count;
		uint64_t	bytes, more;
		bool		takes;
	} rows[] = {
		{ 0, 0, 0, true },
		{ 0, 0, UINT64_MAX, true },		/* alone */
		{ 1, 0, COPIES_GROUP_BYTES_MAX, true },
		{ 1, 1, COPIES_GROUP_BYTES_MAX, false },
		{ 1, COPIES_GROUP_BYTES_MAX, 0, true },
		{ 1, UINT64_MAX, 0, false },		/* after a large one */
		{ 1, 0, UINT64_MAX, false },
		{ COPIES_GROUP_MAX - 1, 5, 5, true },
		{ COPIES_GROUP_MAX, 5, 0, false },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		cr_expect_eq(bounds_takes(rows[i].count, rows[i].bytes,
		    rows[i].more), rows[i].takes, "row %zu", i);
}

Test(share_copies, a_lease_counts_from_before_the_question)
{
	cr_expect_eq(bounds_lease_ms(0, 5), 0);		/* none was given */
	cr_expect_eq(bounds_lease_ms(1000, 1000), COPIES_LEASE_MS);
	cr_expect_eq(bounds_lease_ms(1000, 1700), COPIES_LEASE_MS - 700);
	cr_expect_eq(bounds_lease_ms(1000, 1000 + COPIES_LEASE_MS - 1), 1);
	cr_expect_eq(bounds_lease_ms(1000, 1000 + COPIES_LEASE_MS), 0);
	cr_expect_eq(bounds_lease_ms(1000, 99999), 0);
	/* two questions may be lost */
	cr_expect_gt(COPIES_LEASE_MS, 2 * COPIES_RENEW_MS);
}

Test(share_copies, the_pause_grows_only_for_one_that_lets_us_in)
{
	int64_t pause_ms = 0;

	for (int i = 0; i < 9; i++) {
		pause_ms = bounds_probe_ms(pause_ms, false, false);
		cr_expect_eq(pause_ms, COPIES_PROBE_MS);
	}
	pause_ms = bounds_probe_ms(pause_ms, false, true);
	cr_expect_eq(pause_ms, COPIES_PROBE_MS * 2);
	for (int i = 0; i < 9; i++)
		pause_ms = bounds_probe_ms(pause_ms, false, true);
	cr_expect_eq(pause_ms, COPIES_PROBE_MS_MAX);
	cr_expect_eq(bounds_probe_ms(pause_ms, true, true), COPIES_PROBE_MS);
	cr_expect_eq(bounds_probe_ms(pause_ms, false, false),
	    COPIES_PROBE_MS);
}

Test(share_copies, parts_are_all_of_a_message)
{
	static const uint64_t sizes[] = { 0, 1, COPIES_PART_BYTES - 1,
	    COPIES_PART_BYTES, COPIES_PART_BYTES + 1, UINT64_C(1) << 30 };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		uint64_t sum = 0, count = bounds_parts(sizes[i]);

		for (uint64_t n = 0; n < count; n++) {
			cr_expect_gt(bounds_part_bytes(sizes[i], n), 0);
			sum += bounds_part_bytes(sizes[i], n);
		}
		cr_expect_eq(sum, sizes[i]);
		cr_expect_eq(bounds_part_bytes(sizes[i], count), 0);
	}
}

Test(share_copies, an_owner_without_a_lease_is_missed)
{
	static const struct {
		const char	*line;
		bool		 is_trouble;
	} rows[] = {
		{ "owner mx1 1 0 3 100 -", true },
		{ "owner mx1 1 0 0 0 -", false },	/* nothing waits */
		{ "owner mx1 1 12 3 100 -", false },
		{ "owner mx1 2 - 3 100 mx2", false },	/* taken over */
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct share_line line;

		cr_expect_eq(share_line_parse(slice_of(rows[i].line), &line),
		    SHARE_OWNER, "%s", rows[i].line);
		cr_expect_eq(line.is_trouble, rows[i].is_trouble, "%s",
		    rows[i].line);
	}
}

/* A lease that was over, or a clock that was moved, is a break. */
Test(share_copies, since_when_the_database_answers)
{
	const uint64_t s = 1000000, at = 1795000000 * s;

	cr_expect_eq(bounds_since_us(0, 0, at), at, "the first");
	cr_expect_eq(bounds_since_us(at, at, at + 5 * s), at);
	cr_expect_eq(bounds_since_us(at, at + 60 * s, at + 75 * s), at,
	    "just in time");
	cr_expect_eq(bounds_since_us(at, at + 60 * s, at + 75 * s + 1),
	    at + 75 * s + 1, "it was over");
	cr_expect_eq(bounds_since_us(at, at + 60 * s, at + 3660 * s),
	    at + 3660 * s, "an hour later, or moved by one");
	cr_expect_eq(bounds_since_us(at, at + 60 * s, at + 50 * s),
	    at + 50 * s, "moved back");
	cr_expect_gt(bounds_since_us(at, at, 0), at + 86400 * 365 * s,
	    "nobody knows: never");
	cr_expect_eq(bounds_since_us(bounds_since_us(at, at, 0), 0, at), at);
}
