/* test_sidecar.c - a process beside the supervisor: its end, its next one
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "daemon/child.h"
#include "daemon/sidecar.h"

struct owner {
	struct sidecar	sidecar;
	struct loop	*loop;
	int		heard;		/* our end of its socket */
	bool		is_wanted;
	unsigned	ends;
};

static char clock_path[] = "/tmp/zm-sidecar-XXXXXX";

static void
clock_make_movable(void)
{
	int64_t none = 0;
	int fd = mkstemp(clock_path);

	cr_assert_eq(write(fd, &none, sizeof(none)), (ssize_t)sizeof(none));
	close(fd);
	setenv("ZMAILER_TEST_CLOCK", clock_path, 1);
	(void)clock_steady_ms();	/* maps it */
}

static void
clock_set(int64_t ahead_s)
{
	int fd = open(clock_path, O_RDWR);

	cr_assert_eq(pwrite(fd, &ahead_s, sizeof(ahead_s), 0),
	    (ssize_t)sizeof(ahead_s));
	close(fd);
}

static void
clock_remove(void)
{
	unlink(clock_path);
}

TestSuite(sidecar, .init = clock_make_movable, .fini = clock_remove,
    .timeout = 120);

/* Says that it is there and what else is open; ends with its lifeline. */
static void
run_said(void *context)
{
	char byte = 'a';

	for (int fd = SIDECAR_LIFELINE_FD + 1; fd < 256; fd++)
		if (fcntl(fd, F_GETFD) >= 0)
			byte++;		/* what it was not given */
	(void)!write(SIDECAR_SOCKET_FD, &byte, 1);
	(void)!read(SIDECAR_LIFELINE_FD, &byte, 1);
}

static bool
owner_wants(void *context)
{
	return ((struct owner *)context)->is_wanted;
}

static void
owner_on_end(void *context)
{
	((struct owner *)context)->ends++;
}

static const struct sidecar_kind kind = {
	.name = "said", .is_wanted = owner_wants, .run = run_said,
};

static void
owner_open(struct owner *owner, bool is_wanted)
{
	int ends[2];

	*owner = (struct owner){ .loop = loop_new(),
	    .is_wanted = is_wanted };
	sidecar_init(&owner->sidecar, &kind, owner->loop, owner);
	cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	owner->heard = ends[0];
	owner->sidecar.socket = ends[1];
	sidecar_begin(&owner->sidecar);
}

static void
owner_close(struct owner *owner)
{
	sidecar_stop(&owner->sidecar);
	close(owner->heard);
	close(owner->sidecar.socket);
	loop_free(&owner->loop);
	/* nobody is left behind */
	cr_expect_eq(waitpid(-1, NULL, WNOHANG), -1);
	cr_expect_eq(errno, ECHILD);
}

/* It runs, and has what it was given alone. */
static void
owner_hear(struct owner *owner)
{
	char byte = 0;

	cr_assert_gt(owner->sidecar.pid, 0);
	cr_assert_eq(read(owner->heard, &byte, 1), 1);
	cr_expect_eq(byte, 'a', "%d descriptors too many", byte - 'a');
}

/* Wait for its end, and say so; returns its pid. */
static pid_t
owner_reap(struct owner *owner)
{
	pid_t pid = waitpid(-1, NULL, 0);

	sidecar_ended(&owner->sidecar, getpid());	/* another's */
	sidecar_ended(&owner->sidecar, pid);
	return pid;
}

Test(sidecar, one_that_was_told_to_end_has_a_successor_at_once)
{
	struct owner owner;
	pid_t first;

	owner_open(&owner, true);
	owner_hear(&owner);
	first = owner.sidecar.pid;
	sidecar_begin(&owner.sidecar);		/* there is one */
	cr_expect_eq(owner.sidecar.pid, first);
	sidecar_renew(&owner.sidecar);
	cr_expect_eq(owner_reap(&owner), first);
	owner_hear(&owner);
	cr_expect_neq(owner.sidecar.pid, first);
	sidecar_stop(&owner.sidecar);
	(void)owner_reap(&owner);
	cr_expect_eq(owner.sidecar.pid, 0);
	owner_close(&owner);
}

Test(sidecar, one_that_ended_by_itself_has_a_successor_later)
{
	struct owner owner;

	owner_open(&owner, true);
	owner_hear(&owner);
	cr_assert_eq(kill(owner.sidecar.pid, SIGKILL), 0);
	(void)owner_reap(&owner);
	cr_expect_eq(owner.sidecar.pid, 0);
	clock_set(CHILD_RESTART_MS / 1000);
	loop_turn(owner.loop, 0);
	owner_hear(&owner);
	sidecar_stop(&owner.sidecar);
	(void)owner_reap(&owner);
	owner_close(&owner);
}

Test(sidecar, one_that_is_replaced_ends_beside_the_next)
{
	struct owner owner;
	pid_t first;

	owner_open(&owner, true);
	owner_hear(&owner);
	first = owner.sidecar.pid;
	sidecar_replace(&owner.sidecar);
	owner_hear(&owner);
	cr_expect_eq(owner_reap(&owner), first);
	cr_expect_gt(owner.sidecar.pid, 0);
	owner.is_wanted = false;
	sidecar_replace(&owner.sidecar);
	(void)owner_reap(&owner);
	cr_expect_eq(owner.sidecar.pid, 0);
	owner_close(&owner);
}

Test(sidecar, the_last_one_is_waited_for)
{
	struct owner owner;

	owner_open(&owner, true);
	owner_hear(&owner);
	cr_expect_not(sidecar_end(&owner.sidecar, 7000, owner_on_end, &owner));
	cr_expect_not(sidecar_end(&owner.sidecar, 7000, owner_on_end, &owner));
	(void)owner_reap(&owner);
	cr_expect_eq(owner.ends, 1u);
	cr_expect_eq(owner.sidecar.pid, 0);
	sidecar_begin(&owner.sidecar);
	cr_expect_eq(owner.sidecar.pid, 0);
	cr_expect(sidecar_end(&owner.sidecar, 7000, owner_on_end, &owner));
	owner_close(&owner);
}

Test(sidecar, one_that_does_not_end_is_killed)
{
	struct owner owner;
	int status;
	pid_t pid;

	owner_open(&owner, true);
	owner_hear(&owner);
	pid = owner.sidecar.pid;
	cr_assert_eq(kill(pid, SIGSTOP), 0);
	cr_expect_not(sidecar_end(&owner.sidecar, 7000, owner_on_end, &owner));
	clock_set(7);
	loop_turn(owner.loop, 0);
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_expect(WIFSIGNALED(status));
	sidecar_ended(&owner.sidecar, pid);
	cr_expect_eq(owner.ends, 1u);
	owner_close(&owner);
}

Test(sidecar, none_runs_that_is_not_wanted)
{
	struct owner owner;

	owner_open(&owner, false);
	cr_expect_eq(owner.sidecar.pid, 0);
	sidecar_renew(&owner.sidecar);
	cr_expect_eq(owner.sidecar.pid, 0);
	owner.is_wanted = true;
	sidecar_renew(&owner.sidecar);
	owner_hear(&owner);
	sidecar_stop(&owner.sidecar);
	(void)owner_reap(&owner);
	owner_close(&owner);
}
