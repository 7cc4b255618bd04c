/* test_attempts.c - how often a wrong password may be given
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <stdio.h>

#include "web/session/attempts.h"

#include "base/banned.h"

enum { PAUSE = ATTEMPTS_PAUSE_MS };

static struct attempts attempts;
static int64_t now_ms = 1000000;

/* A try and its end; false: it was refused. */
static bool
tried(const char *client, const char *user, bool is_good)
{
	now_ms += PAUSE;
	if (attempts_refuse(&attempts, client, slice_of(user), now_ms) !=
	    NULL)
		return false;
	if (is_good)
		attempts_good(&attempts, client, slice_of(user));
	else
		attempts_failed(&attempts, client, slice_of(user), now_ms);
	return true;
}

static void
begin(void)
{
	attempts_init(&attempts);
}

TestSuite(attempts, .init = begin);

Test(attempts, a_client_has_five)
{
	for (int i = 0; i < ATTEMPTS_OF_CLIENT; i++)
		cr_expect(tried("192.0.2.1", "lena", false));
	cr_expect(!tried("192.0.2.1", "lena", true));
	cr_expect(!tried("192.0.2.1", "adam", true), "whoever it names");
	cr_expect(tried("192.0.2.2", "lena", true), "others come in");
	now_ms += ATTEMPTS_MS;
	cr_expect(tried("192.0.2.1", "lena", false), "later");
	cr_expect(tried("192.0.2.1", "lena", false), "counted anew");
}

Test(attempts, a_user_has_twenty_from_anywhere)
{
	char client[32];

	for (int i = 0; i < ATTEMPTS_OF_USER; i++) {
		snprintf(client, sizeof(client), "192.0.2.%d", i);
		cr_expect(tried(client, "lena", false));
	}
	cr_expect(!tried("198.51.100.1", "lena", true));
	cr_expect(tried("198.51.100.1", "adam", true));
}

Test(attempts, a_good_one_forgives)
{
	for (int i = 0; i < ATTEMPTS_OF_CLIENT - 1; i++)
		cr_expect(tried("192.0.2.1", "lena", false));
	cr_expect(tried("192.0.2.1", "lena", true));
	for (int i = 0; i < ATTEMPTS_OF_CLIENT; i++)
		cr_expect(tried("192.0.2.1", "lena", false));
}

Test(attempts, all_wait_for_one_another)
{
	cr_expect(tried("192.0.2.1", "lena", false));
	cr_expect_not_null(attempts_refuse(&attempts, "192.0.2.2",
	    SLICE("adam"), now_ms + PAUSE - 1));
	cr_expect_null(attempts_refuse(&attempts, "192.0.2.2", SLICE("adam"),
	    now_ms + PAUSE));
}

Test(attempts, a_network_of_ipv6_is_one)
{
	char client[64];

	for (int i = 0; i < ATTEMPTS_OF_CLIENT; i++) {
		snprintf(client, sizeof(client), "2001:db8:1:2:%d::1", i);
		cr_expect(tried(client, "lena", false));
	}
	cr_expect(!tried("2001:db8:1:2:ffff::9", "lena", true));
	cr_expect(tried("2001:db8:1:3:ffff::9", "lena", true));
}

/* A flood of names: what is forgotten is what is longest ago. */
Test(attempts, are_bounded)
{
	char user[32];

	for (int i = 0; i < 3 * ATTEMPTS_PLACES; i++) {
		snprintf(user, sizeof(user), "user%d", i);
		attempts_failed(&attempts, "192.0.2.1", slice_of(user),
		    now_ms + i);
	}
	now_ms += 3 * ATTEMPTS_PLACES;
	cr_expect(!tried("192.0.2.1", "lena", true));
}
