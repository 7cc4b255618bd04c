/* test_berths.c - how many agents one user may keep waiting
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/unit/transports/box.h"
#include "transports/mailbox/berths.h"

enum { ONE = 1000, OTHER = 1001 };

/* An agent that takes a berth and stays. */
static pid_t
sit(void)
{
	int ends[2];
	char byte = 'n';
	pid_t pid;

	cr_assert_eq(pipe(ends), 0);
	pid = fork();
	if (pid == 0) {
		byte = berth_take() ? 'y' : 'n';
		(void)!write(ends[1], &byte, 1);
		for (;;)
			pause();
	}
	cr_assert_eq(read(ends[0], &byte, 1), 1);
	cr_expect_eq(byte, 'y');
	close(ends[0]);
	close(ends[1]);
	return pid;
}

static void
leave(pid_t pid)
{
	int status;

	kill(pid, SIGKILL);
	cr_assert_eq(waitpid(pid, &status, 0), pid);
}

Test(berths, a_user_has_two, .timeout = 300)
{
	pid_t sitting[BERTHS_OF_ONE];
	int64_t began_ms;

	box_start(MAILBOX_MAILDIR, "{user}");
	berths_setup(box.top);
	berth_for(ONE);
	for (int i = 0; i < BERTHS_OF_ONE; i++)
		sitting[i] = sit();
	cr_expect_not(berth_take());
	cr_expect(berth_may_wait(clock_steady_ms()));
	cr_expect_not(berth_may_wait(clock_steady_ms() - BERTH_SHORT_MS));

	/* they sit for long now: nobody waits for them */
	began_ms = clock_steady_ms();
	for (int i = 0; i < 10; i++)
		cr_expect_not(berth_take());
	cr_expect_lt(clock_steady_ms() - began_ms, 10 * BERTH_LONG_MS);

	berth_for(OTHER);
	cr_expect(berth_take());
	berth_leave();
	berth_for(ONE);
	leave(sitting[0]);		/* as a killed agent */
	cr_expect(berth_take());
	berth_leave();
	leave(sitting[1]);
	berths_finish();
	box_finish();
}

/* Without the file, as in a directory that is not there, nothing is bounded. */
Test(berths, without_a_file_everybody_has_one)
{
	berths_setup("/nonexistent");
	berth_for(ONE);
	cr_expect(berth_take());
	cr_expect(berth_may_wait(0));
	berth_leave();
}

/* Nor with one that is no file: it has no locks, and nobody would get any. */
Test(berths, a_fifo_in_its_place_is_not_used)
{
	box_start(MAILBOX_MAILDIR, "{user}");
	cr_assert_eq(mkfifo(box_path_of("mailbox.berths"), 0600), 0);
	berths_setup(box.top);
	cr_expect(berth_take());
	cr_expect(berth_may_wait(0));
	berths_finish();
	box_finish();
}
