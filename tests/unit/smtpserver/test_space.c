/* test_space.c - room that was promised is nobody else's (RFC 1870)
 *
 * SPDX-License-Identifier: ISC
 */
#include <unistd.h>

#include "client_case.h"
#include "faults.h"
#include "smtpserver/transaction/space.h"

#include "base/banned.h"

#define MB (1 << 20)

static struct house house;

static int
client_new(void)
{
	int client = house_connect(&house, CLIENT);

	client_say(&house, client, HELLO);
	client_expect(&house, client, true, "220 250");
	return client;
}

static void
says(int client, const char *line, const char *want)
{
	client_say(&house, client, line);
	client_expect(&house, client, true, want);
}

/* 10 MB: 4 and 4 and no 4; small ones all the same. */
Test(space, promises_of_all_sessions_add_up)
{
	int a, b, c;

	house_open_clocked(&house, "size 50M\n");
	faults.free_bytes = 10 * MB + SPOOL_RESERVE_BYTES;
	a = client_new();
	b = client_new();
	c = client_new();
	says(a, "MAIL FROM:<a@src.test> SIZE=4194304\r\n", "250/2.1.0");
	says(b, "MAIL FROM:<b@src.test> SIZE=4194304\r\n", "250/2.1.0");
	says(c, "MAIL FROM:<c@src.test> SIZE=4194304\r\n", "452/4.3.1");
	says(c, "MAIL FROM:<c@src.test> SIZE=2097153\r\n", "452/4.3.1");
	says(c, "MAIL FROM:<c@src.test> SIZE=2097152\r\n", "250/2.1.0");
	says(c, "RSET\r\n", "250/2.0.0");
	says(c, "MAIL FROM:<c@src.test> SIZE=1000\r\n", "250/2.1.0");
	says(c, "RSET\r\nMAIL FROM:<c@src.test>\r\n", "250/2.0.0 250/2.1.0");
	/* given up, and gone without a word */
	says(c, "RSET\r\n", "250/2.0.0");
	says(a, "RSET\r\n", "250/2.0.0");
	says(c, "MAIL FROM:<c@src.test> SIZE=4194304\r\n", "250/2.1.0");
	says(a, "MAIL FROM:<a@src.test> SIZE=4194304\r\n", "452/4.3.1");
	close(b);
	(void)house_hear(&house, a, NULL);
	says(a, "MAIL FROM:<a@src.test> SIZE=4194304\r\n", "250/2.1.0");
	close(a);
	close(c);
	house_close(&house);
}

/* At DATA the file system sets the room aside, and shows that itself. */
Test(space, what_is_set_aside_counts_once)
{
	int a, b;

	house_open_clocked(&house, "size 50M\n");
	faults.free_bytes = 20 * MB + SPOOL_RESERVE_BYTES;
	a = client_new();
	b = client_new();
	says(a, "MAIL FROM:<a@src.test> SIZE=4194304\r\n"
	    "RCPT TO:<bob@example.org>\r\nDATA\r\n",
	    "250/2.1.0 250/2.1.5 354");
	faults.free_bytes -= 4 * MB;
	says(b, "MAIL FROM:<b@src.test> SIZE=16777217\r\n", "452/4.3.1");
	says(b, "MAIL FROM:<b@src.test> SIZE=16777216\r\n", "250/2.1.0");
	says(a, "x\r\n.\r\n", "250/2.0.0");
	says(b, "RSET\r\n", "250/2.0.0");
	faults.free_bytes += 4 * MB;
	says(b, "MAIL FROM:<b@src.test> SIZE=20971520\r\n", "250/2.1.0");
	close(a);
	close(b);
	house_close(&house);
}

/* Two workers, and what one that died had promised. */
Test(space, workers_know_of_each_other)
{
	struct space_shared *shared;
	struct space one, two;
	struct space_part *parts[2];
	struct promise a, b;
	struct err err;

	house_open_clocked(&house, "");
	faults.free_bytes = 10 * MB + SPOOL_RESERVE_BYTES;
	shared = space_shared_new(&err);
	cr_assert(shared != NULL, "%s", err.text);
	parts[0] = space_part_take(shared);
	parts[1] = space_part_take(shared);
	space_init(&one, house.spool);
	space_init(&two, house.spool);
	space_join(&one, shared, parts[0]);
	space_join(&two, shared, parts[1]);
	cr_assert(space_has(&one, 6 * MB, false));
	cr_expect(promise_make(&one, 6 * MB, &a));
	cr_expect(space_has(&two, 4 * MB, false));
	cr_expect_not(space_has(&two, 4 * MB + 1, false));
	cr_expect_not(promise_make(&two, 5 * MB, &b));
	promise_end(&b);		/* nothing: it was not made */
	cr_expect(promise_make(&two, 4 * MB, &b));
	cr_expect_not(space_has(&one, MB, false));
	cr_expect(space_has(&one, MB - 1, false));
	/* a quarter of what is free is set aside, by all together */
	cr_expect_not(promise_reserve(&two, &b));
	promise_end(&b);
	cr_expect(promise_make(&two, 2 * MB, &b));
	cr_expect(promise_reserve(&two, &b));
	cr_expect_not(promise_reserve(&two, &b));
	promise_end(&b);
	promise_end(&b);
	cr_expect_not(space_has(&two, 5 * MB, false));
	space_part_give_back(&parts[0]);	/* it died */
	cr_expect(space_has(&two, 10 * MB, false));
	cr_expect_eq(space_part_take(shared), one.part);
	/* nonsense in a part costs no more than that no large message is
	 * taken */
	one.part->claimed_bytes = UINT64_MAX - 3;
	two.part->claimed_bytes = 9;
	cr_expect_not(space_has(&two, MB, false));
	cr_expect(space_has(&two, 0, false));
	space_shared_free(&shared);
	house_close(&house);
}
