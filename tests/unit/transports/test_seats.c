/* test_seats.c - how many agents one user may keep waiting
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/unit/transports/box.h"
#include "transports/mailbox/seats.h"

enum { ONE = 1000, OTHER = 1001 };

/* An agent that takes a seat and stays. */
static pid_t
sit(void)
{
	int ends[2];
	char byte = 'n';
	pid_t pid;

	cr_assert_eq(pipe(ends), 0);
	pid = fork();
	if (pid == 0) {
		byte = seat_take() ? 'y' : 'n';
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

Test(seats, a_user_has_two, .timeout = 300)
{
	pid_t sitting[SEATS_OF_ONE];
	int64_t began_ms;

	box_start(MAILBOX_MAILDIR, "{user}");
	seats_setup(box.top);
	seat_for(ONE);
	for (int i = 0; i < SEATS_OF_ONE; i++)
		sitting[i] = sit();
	cr_expect_not(seat_take());
	cr_expect(seat_may_wait(clock_steady_ms()));
	cr_expect_not(seat_may_wait(clock_steady_ms() - SEAT_SHORT_MS));

	/* they sit for long now: nobody waits for them */
	began_ms = clock_steady_ms();
	for (int i = 0; i < 10; i++)
		cr_expect_not(seat_take());
	cr_expect_lt(clock_steady_ms() - began_ms, 10 * SEAT_LONG_MS);

	seat_for(OTHER);
	cr_expect(seat_take());
	seat_leave();
	seat_for(ONE);
	leave(sitting[0]);		/* as a killed agent */
	cr_expect(seat_take());
	seat_leave();
	leave(sitting[1]);
	seats_finish();
	box_finish();
}

/* Without the file, as in a directory that is not there, nothing is bounded. */
Test(seats, without_a_file_everybody_has_one)
{
	seats_setup("/nonexistent");
	seat_for(ONE);
	cr_expect(seat_take());
	cr_expect(seat_may_wait(0));
	seat_leave();
}
