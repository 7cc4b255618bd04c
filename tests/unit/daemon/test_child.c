/* test_child.c - a forked process: lines, its end, its next start
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "daemon/child.h"
#include "io/ipc.h"

enum { PATIENCE_MS = 20000 };	/* only a failing test waits so long */

struct owner {
	struct process	 process;
	struct child	*child, *other;
	struct str	 heard;		/* lines, each with its LF */
	struct child_end end;		/* the last one */
	unsigned	 ends, starts;
	bool		 frees_on_line, frees_on_end;
};

static void
clock_make_movable(void)
{
	static char path[] = "/tmp/zm-child-XXXXXX";
	int64_t none = 0;
	int fd = mkstemp(path);

	cr_assert_eq(write(fd, &none, sizeof(none)), (ssize_t)sizeof(none));
	close(fd);
	setenv("ZMAILER_TEST_CLOCK", path, 1);
	(void)clock_steady_ms();	/* maps it */
}

static void
clock_advance(int64_t s)
{
	const char *path = getenv("ZMAILER_TEST_CLOCK");
	int64_t ahead = 0;
	int fd = open(path, O_RDWR);

	cr_assert_eq(read(fd, &ahead, sizeof(ahead)), (ssize_t)sizeof(ahead));
	ahead += s;
	cr_assert_eq(pwrite(fd, &ahead, sizeof(ahead), 0),
	    (ssize_t)sizeof(ahead));
	close(fd);
}

static void
clock_remove(void)
{
	unlink(getenv("ZMAILER_TEST_CLOCK"));
}

TestSuite(child, .init = clock_make_movable, .fini = clock_remove);

/* ---- processes -------------------------------------------------------- */

/* Says back what it hears; "die" ends it. */
static void
run_echo(void *context, int socket)
{
	struct ipc_inbox inbox;
	struct slice line;
	struct str out = STR_INIT;

	ipc_inbox_init(&inbox);
	while (ipc_receive(socket, &inbox) == IPC_GOT) {
		size_t cursor = 0;

		while (ipc_line(&inbox, &cursor, &line) == IPC_LINE) {
			if (slice_is(line, "die"))
				_exit(7);
			str_add_slice(&out, line);
			str_addc(&out, '\n');
		}
		ipc_inbox_consume(&inbox, cursor);
		(void)ipc_send(socket, str_slice(&out), NULL, 0);
		str_reset(&out);
	}
	(void)ipc_send(socket, SLICE("bye\n"), NULL, 0);
}

/* Writes what came with a descriptor into that descriptor. */
static void
run_scribe(void *context, int socket)
{
	struct ipc_inbox inbox;
	int fd;

	ipc_inbox_init(&inbox);
	while (ipc_receive(socket, &inbox) == IPC_GOT) {
		while ((fd = ipc_take_fd(&inbox)) >= 0) {
			(void)ipc_send(fd, SLICE("here"), NULL, 0);
			close(fd);
		}
		ipc_inbox_consume(&inbox, inbox.bytes.len);
	}
}

static void
run_nothing(void *context, int socket)
{
}

/* ---- the owner -------------------------------------------------------- */

static void
on_read(void *context)
{
	struct owner *owner = context;
	struct slice line;

	while (child_line(owner->child, &line)) {
		str_add_slice(&owner->heard, line);
		str_addc(&owner->heard, '\n');
		if (owner->frees_on_line) {
			child_free(&owner->child);
			/* the line is there until we return */
			str_add_slice(&owner->heard, line);
			return;
		}
	}
}

static void
on_end(void *context, const struct child_end *end)
{
	struct owner *owner = context;

	owner->end = *end;
	owner->ends++;
	if (owner->frees_on_end)
		child_free(&owner->child);
}

static void
on_due(void *context)
{
	struct owner *owner = context;
	struct err err;

	owner->starts++;
	cr_assert_eq(child_start(owner->child, &err), 0, "%s", err.text);
}

static const struct child_kind echo = {
	.name = "echo", .is_kept = true, .run = run_echo, .due = on_due,
	.read = on_read, .ended = on_end,
};

static void
owner_open(struct owner *owner, const struct child_kind *kind)
{
	struct err err;

	memset(owner, 0, sizeof(*owner));
	owner->process.loop = loop_new();
	owner->process.lifeline = -1;
	str_init(&owner->heard);
	signal(SIGPIPE, SIG_IGN);
	owner->child = child_new(&owner->process, kind, owner);
	cr_assert_not(child_is_running(owner->child));
	cr_assert_eq(child_start(owner->child, &err), 0, "%s", err.text);
	cr_assert(child_is_running(owner->child));
}

static void
owner_close(struct owner *owner)
{
	child_free(&owner->child);
	child_free(&owner->other);
	cr_expect(LIST_EMPTY(&owner->process.children));
	loop_free(&owner->process.loop);
	str_release(&owner->heard);
	/* nobody is left behind */
	cr_expect_eq(waitpid(-1, NULL, WNOHANG), -1);
	cr_expect_eq(errno, ECHILD);
}

static void
owner_say(struct owner *owner, const char *line)
{
	str_addf(child_outbox(owner->child), "%s\n", line);
	child_send(owner->child);
}

static void
turn_until_heard(struct owner *owner, const char *want)
{
	int64_t until_us = clock_real_us() + PATIENCE_MS * 1000;

	while (strcmp(owner->heard.buf, want) != 0 &&
	    clock_real_us() < until_us)
		loop_turn(owner->process.loop, 20);
	cr_assert_str_eq(owner->heard.buf, want);
	str_reset(&owner->heard);
}

static void
turn_until_ends(struct owner *owner, unsigned ends)
{
	int64_t until_us = clock_real_us() + PATIENCE_MS * 1000;

	while (owner->ends < ends && clock_real_us() < until_us)
		loop_turn(owner->process.loop, 20);
	cr_assert_eq(owner->ends, ends);
}

/* It dies now; the next start is due after want_ms. */
static void
die(struct owner *owner, int64_t want_ms)
{
	unsigned ends = owner->ends;

	owner_say(owner, "die");
	turn_until_ends(owner, ends + 1);
	cr_expect_eq(owner->end.again_ms, want_ms);
}

/* ---- tests ------------------------------------------------------------ */

Test(child, it_starts_talks_and_ends)
{
	struct owner owner;
	pid_t pid;

	owner_open(&owner, &echo);
	pid = child_pid(owner.child);
	owner_say(&owner, "one");
	owner_say(&owner, "two");
	turn_until_heard(&owner, "one\ntwo\n");
	owner_say(&owner, "die");
	turn_until_ends(&owner, 1);
	cr_expect_eq(owner.end.pid, pid);
	cr_expect(WIFEXITED(owner.end.status));
	cr_expect_eq(WEXITSTATUS(owner.end.status), 7);
	cr_expect_not(child_is_running(owner.child));
	cr_expect_eq(child_pid(owner.child), 0);
	owner_close(&owner);
}

Test(child, it_is_started_again_after_its_delay)
{
	struct owner owner;

	owner_open(&owner, &echo);
	die(&owner, CHILD_RESTART_MS);
	loop_turn(owner.process.loop, 0);
	cr_expect_not(child_is_running(owner.child));
	clock_advance(1);
	loop_turn(owner.process.loop, 0);
	cr_expect_eq(owner.starts, 1);
	owner_say(&owner, "again");
	turn_until_heard(&owner, "again\n");
	owner_close(&owner);
}

Test(child, early_deaths_wait_longer_and_a_long_life_is_forgiven)
{
	struct owner owner;

	owner_open(&owner, &echo);
	for (int64_t ms = CHILD_RESTART_MS; ms < CHILD_RESTART_MAX_MS;
	    ms *= 2) {
		die(&owner, ms);
		clock_advance(ms / 1000);
		loop_turn(owner.process.loop, 0);
		cr_assert(child_is_running(owner.child));
	}
	die(&owner, CHILD_RESTART_MAX_MS);
	clock_advance(CHILD_RESTART_MAX_MS / 1000);
	loop_turn(owner.process.loop, 0);
	clock_advance(2);
	die(&owner, 0);
	loop_turn(owner.process.loop, 0);
	cr_expect(child_is_running(owner.child));
	die(&owner, CHILD_RESTART_MS);
	owner_close(&owner);
}

Test(child, a_start_that_fails_is_tried_again)
{
	struct owner owner;

	owner_open(&owner, &echo);
	child_stop(owner.child);
	child_start_later(owner.child);
	loop_turn(owner.process.loop, 0);
	cr_expect_not(child_is_running(owner.child));
	clock_advance(1);
	loop_turn(owner.process.loop, 0);
	cr_expect(child_is_running(owner.child));
	owner_close(&owner);
}

Test(child, it_may_be_stopped_while_its_timer_runs)
{
	struct owner owner;

	owner_open(&owner, &echo);
	die(&owner, CHILD_RESTART_MS);
	child_stop(owner.child);
	clock_advance(100);
	loop_turn(owner.process.loop, 0);
	cr_expect_eq(owner.starts, 0);
	owner_close(&owner);
}

/* Signals but SIGKILL wait for a stopped process; its owner does not. */
Test(child, a_stopped_process_does_not_keep_its_owner, .timeout = 30)
{
	struct owner owner;
	struct err err;

	owner_open(&owner, &echo);
	cr_assert_eq(kill(child_pid(owner.child), SIGSTOP), 0);
	child_stop(owner.child);
	cr_expect_not(child_is_running(owner.child));
	cr_assert_eq(child_start(owner.child, &err), 0);
	cr_assert_eq(kill(child_pid(owner.child), SIGSTOP), 0);
	child_free(&owner.child);
	owner_close(&owner);
}

Test(child, it_may_be_freed_while_its_timer_runs)
{
	struct owner owner;

	owner_open(&owner, &echo);
	die(&owner, CHILD_RESTART_MS);
	child_free(&owner.child);
	clock_advance(100);
	loop_turn(owner.process.loop, 0);
	cr_expect_eq(owner.starts, 0);
	owner_close(&owner);
}

Test(child, it_may_be_freed_when_a_line_comes)
{
	struct owner owner;

	owner_open(&owner, &echo);
	owner.frees_on_line = true;
	owner_say(&owner, "one\ntwo");
	turn_until_heard(&owner, "one\none");
	cr_expect_null(owner.child);
	owner_close(&owner);
}

Test(child, it_may_be_freed_at_its_end)
{
	struct owner owner;

	owner_open(&owner, &echo);
	owner.frees_on_end = true;
	owner_say(&owner, "die");
	turn_until_ends(&owner, 1);
	cr_expect_null(owner.child);
	clock_advance(100);
	loop_turn(owner.process.loop, 0);
	cr_expect_eq(owner.starts, 0);
	owner_close(&owner);
}

Test(child, who_is_dismissed_ends_by_itself_and_stays_away)
{
	struct owner owner;

	owner_open(&owner, &echo);
	child_dismiss(owner.child);
	owner_say(&owner, "still here");
	turn_until_heard(&owner, "still here\n");
	die(&owner, -1);
	owner_close(&owner);
}

Test(child, who_is_hung_up_on_is_heard_to_the_end)
{
	struct owner owner;

	owner_open(&owner, &echo);
	owner_say(&owner, "one");
	child_hang_up(owner.child);
	turn_until_heard(&owner, "one\nbye\n");
	turn_until_ends(&owner, 1);
	cr_expect_eq(owner.end.again_ms, -1);
	cr_expect_eq(owner.end.status, 0);
	owner_close(&owner);
}

Test(child, one_that_is_not_kept_is_not_started_again)
{
	static const struct child_kind once = {
		.name = "once", .run = run_nothing, .ended = on_end,
	};
	struct owner owner;

	owner_open(&owner, &once);
	turn_until_ends(&owner, 1);
	cr_expect_eq(owner.end.again_ms, -1);
	owner_close(&owner);
}

Test(child, descriptors_go_with_the_bytes)
{
	static const struct child_kind scribe = {
		.name = "scribe", .run = run_scribe,
	};
	struct owner owner;
	char bytes[8] = "";
	int ends[2];

	owner_open(&owner, &scribe);
	cr_assert_eq(ipc_pair(ends, NULL), 0);
	cr_expect_eq(child_fd_room(owner.child), IPC_FDS_MAX);
	child_add_fd(owner.child, ends[1]);
	cr_expect_eq(child_fd_room(owner.child), IPC_FDS_MAX - 1);
	owner_say(&owner, "take");
	cr_expect_eq(child_fd_room(owner.child), IPC_FDS_MAX);
	cr_expect_eq(read(ends[0], bytes, sizeof(bytes)), 4);
	cr_expect_str_eq(bytes, "here");
	close(ends[0]);
	owner_close(&owner);
}

Test(child, more_than_the_socket_takes_follows)
{
	struct owner owner;
	struct str want = STR_INIT;

	owner_open(&owner, &echo);
	for (int i = 0; i < 200000; i++)
		str_addf(&want, "%d\n", i);
	str_add_slice(child_outbox(owner.child), str_slice(&want));
	child_send(owner.child);
	cr_expect_gt(child_outbox(owner.child)->len, 0);
	turn_until_heard(&owner, want.buf);
	str_release(&want);
	owner_close(&owner);
}

/* With a copy of our end the sibling would keep it from its end of file, and
 * child_stop would wait for ever. */
Test(child, no_sibling_has_our_end_of_its_socket)
{
	struct owner owner;
	struct err err;

	owner_open(&owner, &echo);
	owner.other = child_new(&owner.process, &echo, &owner);
	cr_assert_eq(child_start(owner.other, &err), 0, "%s", err.text);
	alarm(PATIENCE_MS / 1000);
	child_stop(owner.child);
	alarm(0);
	cr_expect(child_is_running(owner.other));
	owner_close(&owner);
}

Test(child, what_somebody_else_started_ends_with_its_connection)
{
	static const struct child_kind foreign = {
		.name = "foreign", .read = on_read, .ended = on_end,
	};
	struct owner owner;
	int ends[2];

	owner_open(&owner, &echo);
	owner.other = owner.child;
	owner.child = child_new(&owner.process, &foreign, &owner);
	cr_assert_eq(ipc_pair(ends, NULL), 0);
	child_connect(owner.child, ends[0]);
	cr_expect_eq(child_pid(owner.child), 0);
	cr_assert_eq(ipc_send(ends[1], SLICE("hello\n"), NULL, 0), 6);
	turn_until_heard(&owner, "hello\n");
	close(ends[1]);
	turn_until_ends(&owner, 1);
	cr_expect_eq(owner.end.pid, 0);
	owner_close(&owner);
}

Test(child, it_runs_before_there_is_a_loop)
{
	struct owner owner;

	owner_open(&owner, &echo);
	child_stop(owner.child);
	loop_free(&owner.process.loop);
	cr_assert_eq(child_start(owner.child, NULL), 0);
	owner_say(&owner, "early");
	owner.process.loop = loop_new();
	child_attach(owner.child);
	turn_until_heard(&owner, "early\n");
	owner_close(&owner);
}
