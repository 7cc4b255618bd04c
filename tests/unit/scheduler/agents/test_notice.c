/* test_notice.c - a notice of delay whose time comes while records cannot be
 * written
 *
 * SPDX-License-Identifier: ISC
 */
#include "tests/unit/scheduler/yard.h"

static struct yard yard;

static bool
yard_has_tried(struct yard *y, void *arg)
{
	return y->shared->jobs >= *(unsigned *)arg;
}

Test(notice, one_is_sent_when_an_attempt_is_recorded_again)
{
	struct str text = STR_INIT;
	unsigned one = 1, two = 2, three = 3;

	yard_open(&yard, yard_quick);
	yard.shared->is_down = 1;
	yard_message(&yard, "a@src.test", "smtp/x.test/unwritten@x.test",
	    NULL);
	cr_assert(yard_until(&yard, yard_has_tried, &one));
	cr_assert(yard_until(&yard, yard_is_quiet, NULL));
	yard_clock(&yard, 4 * 3600 + 60);
	cr_assert(yard_until(&yard, yard_has_tried, &two));
	cr_assert(yard_until(&yard, yard_is_quiet, NULL));
	yard_settle(&yard, 30);
	cr_expect_eq(yard_count(&yard, "router"), 0, "nobody knows of what");
	yard.shared->is_down = 0;
	yard_clock(&yard, 3 * 3600);
	cr_assert(yard_until(&yard, yard_has_tried, &three));
	cr_assert(yard_until(&yard, yard_router_has, &one));
	yard_only_file(&yard, "router", &text);
	cr_expect(yard_says(&text, "Action: delayed"));
	yard_clock(&yard, 3 * 3600);
	cr_assert(yard_until(&yard, yard_is_quiet, NULL));
	yard_settle(&yard, 30);
	cr_expect_eq(yard_count(&yard, "router"), 1, "and once");
	str_release(&text);
	yard_close(&yard);
}
