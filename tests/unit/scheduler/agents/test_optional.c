/* test_optional.c - mail with TLS-Required: No beside mail without
 *
 * A whole scheduler; its agents' TLS is not what a policy asks for.
 *
 * SPDX-License-Identifier: ISC
 */
#include "mail/terms.h"
#include "tests/unit/scheduler/yard.h"

static struct yard yard;

/* n messages to cert@HOST, the last of them with TLS-Required: No. */
static void
some_arrive(const char *rcpt, int n, bool is_last_optional)
{
	static const struct terms optional = { .is_tls_optional = true };

	for (int i = 0; i < n; i++) {
		yard_terms = is_last_optional && i == n - 1 ? &optional : NULL;
		yard_message(&yard, "a@src.test", rcpt, NULL);
	}
	yard_terms = NULL;
}

Test(optional, a_policy_holds_nobody_who_asks_for_none)
{
	unsigned before, all = 1;

	yard_open(&yard, yard_quick);
	some_arrive("smtp/x.test/cert@x.test", 20, false);
	yard_settle(&yard, 150);
	before = yard.shared->jobs;
	some_arrive("smtp/x.test/cert@x.test", 1, true);
	cr_assert(yard_until(&yard, yard_has_delivered, &all));
	yard_settle(&yard, 100);
	cr_expect_leq(yard.shared->jobs, before + 2, "it and one probe, not %u",
	    yard.shared->jobs - before);
	before = yard.shared->jobs;
	some_arrive("smtp/x.test/cert@x.test", 5, false);
	yard_settle(&yard, 100);
	cr_expect_eq(yard.shared->jobs, before, "the others wait");
	/* ready behind those that bring the host down: four agents may have
	 * been given eleven each before the first of them answers */
	before = yard.shared->jobs;
	some_arrive("smtp/y.test/cert@y.test", 120, true);
	all = 2;
	cr_assert(yard_until(&yard, yard_has_delivered, &all));
	yard_settle(&yard, 100);
	cr_expect_leq(yard.shared->jobs, before + 60, "%u are fed",
	    yard.shared->jobs - before);
	yard_close(&yard);
}

Test(optional, who_asks_for_no_policy_waits_for_a_host_that_is_down)
{
	unsigned before;

	yard_open(&yard, yard_quick);
	yard.shared->is_down = 1;
	some_arrive("smtp/x.test/down@x.test", 5, true);
	yard_settle(&yard, 150);
	before = yard.shared->jobs;
	some_arrive("smtp/x.test/down@x.test", 5, true);
	yard_settle(&yard, 100);
	cr_expect_eq(yard.shared->jobs, before);
	yard_close(&yard);
}
