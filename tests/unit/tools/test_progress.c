/* test_progress.c - what a long order says meanwhile
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <signal.h>

#include "tools/selection/progress.h"

Test(progress, the_line_says_how_much_how_fast_how_long)
{
	static const struct {
		uint64_t	total, count;
		int64_t		span_us;
		const char	*want;
	} rows[] = {
		{ 5000, 1000, 2000000, "1000 of 5000 messages held, 500 a "
		    "second, 8s left" },
		{ 1, 0, 2000000, "0 of 1 message held" },
		{ 10, 1, 0, "1 of 10 messages held" },
		{ 500000, 1000, 1000000, "1000 of 500000 messages held, 1000 "
		    "a second, 8m19s left" },
		{ 5, 5, 1000000, "5 of 5 messages held, 5 a second, 0s "
		    "left" },
		{ 5, 9, 1000000, "9 of 5 messages held" },
	};
	struct str line = STR_INIT;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct progress progress = { .verb = "hold", .done = "held",
			.total = rows[i].total };

		str_reset(&line);
		progress_add(&line, &progress, rows[i].count,
		    rows[i].span_us);
		cr_expect_str_eq(line.buf, rows[i].want, "row %zu", i);
	}
	str_release(&line);
}

Test(progress, an_interrupt_stops_after_the_step_at_hand)
{
	struct progress progress;

	progress_begin(&progress, "hold", "held", 3);
	cr_expect(progress_step(&progress, 1));
	raise(SIGINT);
	cr_expect_not(progress_step(&progress, 2));
	cr_expect(progress_end(&progress, 2));
	progress_begin(&progress, "hold", "held", 3);
	cr_expect(progress_step(&progress, 1));
	cr_expect_not(progress_end(&progress, 3));
}

Test(progress, afterwards_an_interrupt_ends_the_program, .signal = SIGINT)
{
	struct progress progress;

	(void)signal(SIGINT, SIG_DFL);	/* a shell's job may ignore it */
	progress_begin(&progress, "hold", "held", 1);
	(void)progress_end(&progress, 1);
	raise(SIGINT);
}
