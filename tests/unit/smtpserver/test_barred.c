/* test_barred.c - rules that refuse a user at AUTH and in a session
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>

#include "house.h"

#include "base/banned.h"

/* Who is refused at AUTH, or in a session. */
static const struct {
	const char	*rules, *user;
	bool		 is_barred;
} barred_rows[] = {
	{ "", "alice", false },
	{ "reject user alice", "alice", true },
	{ "reject user alice", "bob", false },
	{ "reject user *@a.test", "x@a.test", true },
	{ "reject user <t>", "eve", true },
	{ "reject user <t>", "EVE", true },
	{ "reject user <t>", "bob", false },
	{ "reject auth", "bob", true },
	{ "reject user none", "bob", false },
	{ "reject user alice from 192.0.2.0/24", "alice", true },
	{ "reject user alice from 203.0.113.0/24", "alice", false },
	{ "reject user alice until 2001-01-01T00:00:00Z", "alice", false },
	/* what decides about a message only is no bar */
	{ "reject user alice to @far.test", "alice", false },
	{ "reject user alice sender @far.test", "alice", false },
	{ "reject shadow user alice", "alice", false },
	{ "reject from 192.0.2.0/24", "alice", false },
	{ "defer user alice", "alice", false },
	{ "limit rate 1/1h per user auth else reject", "alice", false },
	/* the first decides, and questions do not hide what comes after */
	{ "accept from 192.0.2.0/24 for any\nreject user alice", "alice",
	    false },
	{ "reject name none\nreject user alice", "alice", true },
	{ "limit parallel 3 per client of sessions\nreject user alice",
	    "alice", true },
};

Test(barred, users_are_barred)
{
	for (size_t i = 0; i < sizeof(barred_rows) / sizeof(barred_rows[0]);
	    i++) {
		struct policy_question question = { .is_submission = true,
		    .user = slice_of(barred_rows[i].user) };
		const char *words = NULL;
		struct policy *policy;
		struct house house;
		struct str rules = STR_INIT;

		str_addf(&rules, "%s\ntable t { eve - }",
		    barred_rows[i].rules);
		house_open(&house, rules.buf);
		policy = policy_new(house.conf);
		net_parse(SLICE("192.0.2.9"), &question.client, NULL);
		cr_expect_eq(policy_bars_user(policy, &question, &words) !=
		    NULL, barred_rows[i].is_barred, "row %zu (%s)", i,
		    barred_rows[i].rules);
		policy_free(&policy);
		house_close(&house);
		str_release(&rules);
	}
}
