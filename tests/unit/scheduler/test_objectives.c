/* test_objectives.c - what arrived as soon as it was wanted
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <string.h>

#include "scheduler/plan/arrivals/objectives.h"

enum { NOW_S = 1800000000, SECOND = 1000, MINUTE = 60000 };

static struct {
	struct objectives all;
	struct conf_objective stated[4];
	struct conf	conf;
} s;

static void
want(const char *pattern, unsigned percent, int64_t span_s)
{
	s.stated[s.conf.objective_count++] = (struct conf_objective){
		.pattern = pattern,
		.percent = percent,
		.span_s = span_s
	};
}

static void
two_objectives(void)
{
	memset(&s, 0, sizeof(s));
	s.conf.objectives = s.stated;
	want("*@far.example", 90, 60);
	want("*", 50, 300);
	objectives_set(&s.all, &s.conf);
}

static void
no_objectives(void)
{
	objectives_release(&s.all);
}

TestSuite(objectives, .init = two_objectives, .fini = no_objectives);

static bool
is_met(unsigned slot, uint64_t waiting, int64_t now_s)
{
	const struct objective *objective = objectives_at(&s.all, slot);
	struct objective_piece sum = objective_sum(objective, now_s);

	return objective_is_met(objective, &sum, waiting);
}

Test(objectives, the_first_that_fits_counts)
{
	unsigned far = objectives_for(&s.all, SLICE("A@Far.Example"));
	unsigned rest = objectives_for(&s.all, SLICE("a@near.example"));

	cr_expect_str_eq(objectives_at(&s.all, far)->pattern,
	    "*@far.example");
	cr_expect_str_eq(objectives_at(&s.all, rest)->pattern, "*");
	cr_expect_null(objectives_at(&s.all, OBJECTIVE_NONE));
	s.conf.objective_count = 1;
	objectives_set(&s.all, &s.conf);
	cr_expect_eq(objectives_for(&s.all, SLICE("a@near.example")),
	    OBJECTIVE_NONE);
	cr_expect_null(objectives_at(&s.all, rest), "stated no more");
}

Test(objectives, is_met_by_the_share_that_came_in_time)
{
	unsigned slot = objectives_for(&s.all, SLICE("a@far.example"));

	cr_expect(is_met(slot, 0, NOW_S), "of nothing");
	cr_expect_not(is_met(slot, 1, NOW_S), "one waits");
	for (int i = 0; i < 9; i++)
		objectives_arrived(&s.all, slot, 60 * SECOND, false, NOW_S);
	cr_expect(is_met(slot, 1, NOW_S));
	objectives_arrived(&s.all, slot, 60 * SECOND + 1, true, NOW_S);
	cr_expect(is_met(slot, 0, NOW_S));
	cr_expect_not(is_met(slot, 1, NOW_S));
	cr_expect_eq(objective_sum(objectives_at(&s.all, slot), NOW_S).tried,
	    1);
}

Test(objectives, an_hour_counts)
{
	unsigned slot = objectives_for(&s.all, SLICE("a@far.example"));

	objectives_arrived(&s.all, slot, MINUTE * 10, false, NOW_S);
	cr_expect_not(is_met(slot, 0, NOW_S + 3000));
	cr_expect(is_met(slot, 0, NOW_S + 3900));
	cr_expect(is_met(slot, 0, NOW_S - 3900), "a clock that went back");
	/* the piece of an hour ago is used again */
	objectives_arrived(&s.all, slot, SECOND, false, NOW_S + 3600);
	cr_expect_eq(objective_sum(objectives_at(&s.all, slot),
	    NOW_S + 3600).late, 0);
}

Test(objectives, counts_stay_over_a_reload_and_a_restart)
{
	unsigned slot = objectives_for(&s.all, SLICE("a@far.example"));
	struct objectives again = { .slots = NULL };
	struct str text = STR_INIT, second = STR_INIT;

	objectives_arrived(&s.all, slot, SECOND, false, NOW_S);
	objectives_arrived(&s.all, slot, MINUTE * 10, true, NOW_S);
	s.stated[0].percent = 40;	/* its share may change */
	objectives_set(&s.all, &s.conf);
	cr_expect_eq(objectives_for(&s.all, SLICE("a@far.example")), slot);
	cr_expect(is_met(slot, 0, NOW_S));
	objectives_add_lines(&s.all, NOW_S, &text);
	objectives_set(&again, &s.conf);
	objectives_read(&again, str_slice(&text), NOW_S);
	objectives_add_lines(&again, NOW_S, &second);
	cr_expect_str_eq(second.buf, text.buf);
	cr_expect_not_null(strstr(text.buf, ",1,1,1\n"), "%s", text.buf);
	str_reset(&second);
	objectives_read(&again, SLICE("%objective\t60\t*@far.example\t1,2\n"
	    "%objective\tx\n%objective\t\n%objective\t61\t*\t6000000,1,1,1\n"
	    "smtp\tx\t1\n%objective\t60\t*@far.example\t6000000,9,9,9,9\n"),
	    NOW_S);
	objectives_add_lines(&again, NOW_S, &second);
	cr_expect_str_eq(second.buf, text.buf, "nonsense");
	objectives_release(&again);
	str_release(&text);
	str_release(&second);
}
