/* test_objective.c - objective: how soon mail is to arrive
 *
 * SPDX-License-Identifier: ISC
 */
#include "conf_case.h"
#include "conf/part/part.h"

Test(conf_objective, is_read_and_shown_as_it_was_written)
{
	struct str shown = STR_INIT;
	struct conf_case c;

	case_good(&c, "objective *@far.example 99% 5m\n"
	    "objective @near.example 100% 1h30m\n");
	cr_assert_eq(c.conf->objective_count, 2);
	cr_expect_eq(c.conf->objectives[0].percent, 99);
	cr_expect_eq(c.conf->objectives[0].span_s, 300);
	conf_objective_add(&shown, &c.conf->objectives[1]);
	cr_expect_str_eq(shown.buf, "@near.example 100% 90m");
	case_close(&c);
	str_release(&shown);
}

Test(conf_objective, means_addresses)
{
	static const struct { const char *pattern, *address; bool fits; }
	    rows[] = {
		{ "*@far.example", "a@far.example", true },
		{ "*@far.example", "A@FAR.EXAMPLE", true },
		{ "*@far.example", "a@a.far.example", false },
		{ "@far.example", "a@far.example", true },
		{ "@far.example", "\"b@c\"@far.example", true },
		{ "@far.example", "far.example", false },
		{ "@far.example", "", false },
		{ "a@far.example", "b@far.example", false },
		{ "*", "bob", true },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		cr_expect_eq(conf_objective_fits(rows[i].pattern,
		    slice_of(rows[i].address)), rows[i].fits, "row %zu", i);
}

Test(conf_objective, what_is_wrong_with_one)
{
	static const struct { const char *in, *want; } rows[] = {
		{ "objective", "'objective' needs" },
		{ "objective *@a.example", "'objective' needs" },
		{ "objective *@a.example 99 5m", "write 99%" },
		{ "objective *@a.example 0% 5m", "from 1 to 100" },
		{ "objective *@a.example 101% 5m", "from 1 to 100" },
		{ "objective *@a.example 99% 5", "write 5s for seconds" },
		{ "objective *@a.example 99% 10ms", "from 1s to 5d" },
		{ "objective *@a.example 99% 6d", "from 1s to 5d" },
		{ "objective a.example 99% 5m", "write @a.example" },
		{ "objective <> 99% 5m", "no recipient is empty" },
		{ "objective * 99% 5m\nobjective * 90% 1m",
		    "there is an objective for '*' already" },
		{ "table t /dev/null\nobjective <t> 99% 5m",
		    "an objective cannot ask a table" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		case_refused(rows[i].in, rows[i].want);
}
