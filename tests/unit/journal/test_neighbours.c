/* test_neighbours.c - programs that fail, as all processes see it
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "journal/counters.h"
#include "journal/neighbours.h"

#include "base/banned.h"

static char neighbours_dir[64];

static void
neighbours_open(void)
{
	int fd;

	snprintf(neighbours_dir, sizeof(neighbours_dir),
	    "/tmp/zmneighboursXXXXXX");
	cr_assert_not_null(mkdtemp(neighbours_dir));
	fd = open(neighbours_dir, O_RDONLY | O_DIRECTORY);
	counters_open(fd);
	close(fd);
}

static void
neighbours_close(void)
{
	char command[100];

	snprintf(command, sizeof(command), "rm -r %s", neighbours_dir);
	cr_assert_eq(system(command), 0);
}

TestSuite(neighbours, .init = neighbours_open, .fini = neighbours_close);

Test(neighbours, one_is_down_from_its_first_failure_to_its_next_answer)
{
	struct neighbour state;

	neighbour_works("milter", "unix:/m");
	neighbour_told("milter", "unix:/m");
	cr_expect_not(neighbour_is_down("milter", "unix:/m", &state));
	neighbour_fails("milter", "unix:/m", "connect: refused");
	neighbour_fails("milter", "unix:/m", "something else");
	neighbour_told("milter", "unix:/m");
	neighbour_told("milter", "unix:/m");
	cr_assert(neighbour_is_down("milter", "unix:/m", &state));
	cr_expect_str_eq(state.reason, "connect: refused");
	cr_expect_eq(state.told, 2);
	cr_expect_gt(state.since_s, 0);
	cr_expect_not(neighbour_is_down("auth", "unix:/m", &state));
	neighbour_works("milter", "unix:/m");
	cr_expect_not(neighbour_is_down("milter", "unix:/m", &state));
	neighbour_fails("milter", "unix:/m", "again");
	cr_assert(neighbour_is_down("milter", "unix:/m", &state));
	cr_expect_eq(state.told, 0);
	cr_expect_str_eq(state.reason, "again");
}

Test(neighbours, what_one_process_notes_another_reads)
{
	struct neighbour state;
	int fd, status;
	pid_t pid = fork();

	cr_assert_geq(pid, 0);
	if (pid == 0) {
		neighbour_fails("auth", "/run/a", "gone");
		neighbour_told("auth", "/run/a");
		_exit(0);
	}
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	fd = open(neighbours_dir, O_RDONLY | O_DIRECTORY);
	cr_assert_eq(counters_read(fd), 0);
	close(fd);
	cr_assert(neighbour_is_down("auth", "/run/a", &state));
	cr_expect_eq(state.told, 1);
}

/* More than have a place: those that work give theirs, the rest is left
 * out. */
Test(neighbours, a_table_that_is_full_does_no_harm)
{
	struct neighbour state;
	char name[24];

	for (int i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "unix:/%d", i);
		neighbour_fails("milter", name, "no");
	}
	cr_expect(neighbour_is_down("milter", "unix:/0", &state));
	cr_expect_not(neighbour_is_down("milter", "unix:/99", &state));
	neighbour_works("milter", "unix:/0");
	neighbour_fails("milter", "unix:/99", "no");
	cr_expect(neighbour_is_down("milter", "unix:/99", &state));
}

Test(neighbours, without_memory_nothing_happens)
{
	struct neighbour state;

	counters_open(-1);
	neighbour_fails("milter", "unix:/m", "no");
	neighbour_told("milter", "unix:/m");
	neighbour_works("milter", "unix:/m");
	cr_expect_not(neighbour_is_down("milter", "unix:/m", &state));
}
