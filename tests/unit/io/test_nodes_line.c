/* test_nodes_line.c - lines and frames between the nodes of a cluster
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <string.h>

#include "io/consult/nodes_line.h"

Test(nodes_line, a_call_names_a_node_and_what_for)
{
	static const struct { const char *line; int result; } rows[] = {
		{ "to mx2 control", 0 }, { "to mx-3.a verb", 0 },
		{ "to mx2 config", 0 },
		{ "to mx2", -1 }, { "to mx2 control ", -1 },
		{ "to  mx2 control", -1 }, { "to MX2 control", -1 },
		{ "to mx2 other", -1 }, { "to mx2 control x", -1 },
		{ "", -1 }, { "to", -1 }, { "from mx2 control", -1 },
		{ "to mx/2 control", -1 },
	};
	struct nodes_call call;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		cr_expect_eq(nodes_call_parse(slice_of(rows[i].line), &call),
		    rows[i].result, "%s", rows[i].line);
	cr_assert_eq(nodes_call_parse(SLICE("to mx2 verb"), &call), 0);
	cr_expect(slice_is(call.node, "mx2"));
	cr_expect_eq(call.want, NODES_VERB);
}

Test(nodes_line, a_hello_is_read_as_it_was_written)
{
	static const char *const bad[] = {
		"zmnodes 2 mx mx1 mx2 control write root",
		"zmnodes 1 mx mx1 mx2 control own root",
		"zmnodes 1 mx mx1 mx2 control write",
		"zmnodes 1 mx mx1 mx2 control write root x",
		"zmnodes 1 mx mx1 mx2 control write ro\"ot",
		"zmnodes 1 mx mx1 mx2 control write ro\\ot",
		"zmnodes 1 mx  mx2 control write root",
		"zmnodes 1 MX mx1 mx2 control write root", "",
	};
	struct nodes_hello hello = { .cluster = SLICE("mx"),
		.from = SLICE("mx1"), .to = SLICE("mx2"),
		.who = SLICE("alice"), .want = NODES_CONTROL,
		.may_write = true }, again;
	struct str line = STR_INIT;

	nodes_hello_add(&line, &hello);
	cr_expect_str_eq(line.buf, "zmnodes 1 mx mx1 mx2 control write "
	    "alice\n");
	cr_assert_eq(nodes_hello_parse(slice_first(str_slice(&line),
	    line.len - 1), &again), 0);
	cr_expect(again.may_write && again.want == NODES_CONTROL);
	cr_expect(slice_is(again.who, "alice") && slice_is(again.from, "mx1") &&
	    slice_is(again.to, "mx2") && slice_is(again.cluster, "mx"));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		cr_expect_eq(nodes_hello_parse(slice_of(bad[i]), &again), -1,
		    "%s", bad[i]);
	str_release(&line);
}

Test(nodes_line, nothing_is_longer_than_it_may_be)
{
	char who[NODES_WHO_BYTES_MAX + 2];
	struct str line = STR_INIT;
	struct nodes_hello hello;

	memset(who, 'w', sizeof(who));
	who[sizeof(who) - 1] = '\0';
	cr_expect_not(nodes_who_is_good(slice_of(who)));
	cr_expect(nodes_who_is_good(slice_of(who + 1)));
	str_addf(&line, "zmnodes 1 mx mx1 mx2 control write %s", who);
	cr_expect_eq(nodes_hello_parse(str_slice(&line), &hello), -1);
	str_release(&line);
}

Test(nodes_line, answers)
{
	struct slice words;
	uint64_t number;

	cr_expect_eq(nodes_answer_parse(SLICE("ok"), &number, &words),
	    NODES_OK);
	cr_expect_eq(number, 0);
	cr_expect_eq(nodes_answer_parse(SLICE("ok 17"), &number, &words),
	    NODES_OK);
	cr_expect_eq(number, 17);
	cr_expect_eq(nodes_answer_parse(SLICE("no it is not"), &number,
	    &words), NODES_NO);
	cr_expect(slice_is(words, "it is not"));
	cr_expect_eq(nodes_answer_parse(SLICE("okay"), &number, &words),
	    NODES_NONSENSE);
	cr_expect_eq(nodes_answer_parse(SLICE("ok x"), &number, &words),
	    NODES_NONSENSE);
}

Test(nodes_line, frames)
{
	static const struct { const char *line; int result; } rows[] = {
		{ "out 0", 0 }, { "err 65536", 0 }, { "exit 255", 0 },
		{ "out 65537", -1 }, { "exit 256", -1 }, { "out", -1 },
		{ "out -1", -1 }, { "out 1 ", -1 }, { "in 1", -1 },
		{ "out 99999999999999999999", -1 }, { "", -1 },
	};
	enum nodes_frame kind;
	struct str out = STR_INIT;
	size_t number;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		cr_expect_eq(nodes_frame_parse(slice_of(rows[i].line), &kind,
		    &number), rows[i].result, "%s", rows[i].line);
	nodes_frame_add(&out, NODES_ERR, SLICE("no\n"));
	cr_expect_str_eq(out.buf, "err 3\nno\n");
	str_release(&out);
}
