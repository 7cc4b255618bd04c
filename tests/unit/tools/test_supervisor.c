/* test_supervisor.c - started in order, kept alive, reloaded, stopped
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sysexits.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "instance.h"
#include "mail/spool/spool.h"
#include "tools/run/standstill/parts.h"
#include "tools/run/supervisor.h"

#define PRIVATE "user smtpserver -\nuser router -\nuser scheduler -\n" \
	"user agent -\n"

static struct instance in;

static void
setup(void)
{
	instance_make(&in);
}

static void
teardown(void)
{
	instance_remove(&in);
}

TestSuite(supervisor, .init = setup, .fini = teardown, .timeout = 60);

/* Offset of text in RUN/facts. */
static long
place_of(const char *text)
{
	char path[400], all[16384];
	int fd;
	ssize_t n;
	const char *at;

	snprintf(path, sizeof(path), "%s/facts", in.run);
	fd = open(path, O_RDONLY);
	cr_assert_geq(fd, 0);
	n = read(fd, all, sizeof(all) - 1);
	close(fd);
	all[n] = '\0';
	at = strstr(all, text);
	return at ? at - all : -1;
}

static bool
exists(const char *dir, const char *name)
{
	char path[400];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return access(path, F_OK) == 0;
}

static long
line_of(const char *name, const char *what)
{
	char path[400], line[1024];
	FILE *file;
	long number = 0, found = -1;

	snprintf(path, sizeof(path), "%s/facts", in.run);
	file = fopen(path, "r");
	cr_assert_not_null(file);
	while (fgets(line, sizeof(line), file) != NULL) {
		number++;
		if (strncmp(line, name, strlen(name)) == 0 &&
		    strstr(line, what) != NULL)
			found = number;
	}
	fclose(file);
	return found;
}

Test(supervisor, starts_router_first_and_stops_smtpserver_first)
{
	cr_assert(instance_start(&in));
	cr_expect(exists(in.run, "zmailer.pid"));
	cr_expect_lt(line_of("router", "start"), line_of("scheduler", "start"));
	cr_expect_lt(line_of("scheduler", "start"),
	    line_of("smtpserver", "start"));
	cr_expect_eq(instance_stop(&in), 0);
	cr_expect_lt(line_of("smtpserver", "stop"), line_of("router", "stop"));
	cr_expect_lt(line_of("router", "stop"), line_of("scheduler", "stop"));
	cr_expect_not(exists(in.run, "zmailer.pid"));
	cr_expect_not(exists(in.run, "zmailer.state"));
}

Test(supervisor, restarts_a_killed_child_and_notes_it)
{
	pid_t first, second;

	cr_assert(instance_start(&in));
	first = instance_child(&in, "router");
	kill(first, SIGKILL);
	instance_expect(&in, "run/facts", "start", 4);
	second = instance_child(&in, "router");
	cr_expect_neq(first, second);
	instance_expect(&in, "log/events-*.jsonl",
	    "\"name\":\"router\",\"status\":\"signal 9\",\"restart\":\"100ms\"",
	    1);
	kill(second, SIGKILL);
	instance_expect(&in, "log/events-*.jsonl", "\"restart\":\"200ms\"", 1);
	instance_child(&in, "router");
	cr_expect_eq(instance_stop(&in), 0);
}

/* A long queue: who waits for the start does not wait for its names. */
Test(supervisor, hands_on_that_the_names_were_read)
{
	char path[400];
	int fd;

	(void)mkdir(in.run, 0755);
	snprintf(path, sizeof(path), "%s/hold-names", in.run);
	fd = open(path, O_WRONLY | O_CREAT, 0600);
	cr_assert_geq(fd, 0);
	close(fd);
	cr_assert(instance_start(&in));
	kill(in.pid, SIGUSR2);
	instance_expect(&in, "run/zmailer.state", "names of the queue", 1);
	kill(instance_child(&in, "scheduler"), SIGKILL);
	instance_expect(&in, "run/facts", "start", 4);
	instance_expect(&in, "run/facts", "names", 0);
	cr_expect_eq(unlink(path), 0);
	instance_expect(&in, "run/facts", "names", 1);
	kill(instance_child(&in, "scheduler"), SIGKILL);
	instance_expect(&in, "run/facts", "names", 2);
	cr_expect_eq(instance_stop(&in), 0);
}

Test(supervisor, a_daemon_that_cannot_start_ends_the_first_start)
{
	setenv("TESTD_FAIL", "scheduler", 1);
	cr_expect_not(instance_start(&in));
	cr_expect_eq(instance_wait(&in), EX_UNAVAILABLE);
	cr_expect_gt(line_of("router", "stop"), 0);
	cr_expect_eq(line_of("smtpserver", "start"), -1);
}

Test(supervisor, a_second_instance_is_refused)
{
	struct instance second = in;

	cr_assert(instance_start(&in));
	cr_expect_not(instance_start(&second));
	cr_expect_eq(instance_wait(&second), EX_TEMPFAIL);
	cr_expect_neq(kill(instance_child(&in, "router"), 0), -1);
	cr_expect_eq(instance_stop(&in), 0);
}

Test(supervisor, daemons_stop_when_the_supervisor_is_killed)
{
	cr_assert(instance_start(&in));
	kill(in.pid, SIGKILL);
	instance_wait(&in);
	instance_expect(&in, "run/facts", "stop", 3);
	/* A new instance waits until the last of them is gone. */
	cr_expect(instance_start(&in));
	cr_expect_eq(instance_stop(&in), 0);
}

Test(supervisor, a_worker_sees_the_end_of_its_parent)
{
	cr_assert(instance_start(&in));
	instance_expect(&in, "run/facts", "worker says free", 1);
	kill(instance_child(&in, "smtpserver"), SIGKILL);
	instance_expect(&in, "run/facts", "worker says free", 2);
	cr_expect_eq(instance_stop(&in), 0);
}

Test(supervisor, a_good_configuration_reaches_the_daemons)
{
	cr_assert(instance_start(&in));
	instance_configure(&in, "two.test", PRIVATE);
	kill(in.pid, SIGHUP);
	instance_expect(&in, "run/facts", "reload two.test was one.test", 3);
	instance_expect(&in, "log/events-*.jsonl", "conf.reload", 4);
	cr_expect_eq(instance_stop(&in), 0);
}

Test(supervisor, a_daemon_that_starts_meanwhile_is_told_when_it_is_ready)
{
	char path[400];
	int fd;

	cr_assert(instance_start(&in));
	snprintf(path, sizeof(path), "%s/hold-router", in.run);
	fd = open(path, O_WRONLY | O_CREAT, 0600);
	cr_assert_geq(fd, 0);
	close(fd);
	kill(instance_child(&in, "router"), SIGKILL);
	instance_expect(&in, "run/facts", "holds", 1);
	instance_configure(&in, "two.test", PRIVATE);
	kill(in.pid, SIGHUP);
	instance_expect(&in, "run/facts", "reload two.test was one.test", 2);
	cr_expect_eq(unlink(path), 0);
	instance_expect(&in, "run/facts", "reload two.test was one.test", 3);
	cr_expect_gt(line_of("router", "reload"), 0);
	cr_expect_eq(instance_stop(&in), 0);
}

Test(supervisor, a_bad_configuration_is_refused_and_the_old_one_stays)
{
	static const char *const rows[] = {
		"no-such-statement x\n" PRIVATE,
		"hash 2\n" PRIVATE,	/* good, but needs a restart */
	};
	struct state state;
	struct err err;

	cr_assert(instance_start(&in));
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		instance_configure(&in, "bad.test", rows[i]);
		kill(in.pid, SIGHUP);
		instance_expect(&in, "log/events-*.jsonl", "conf.refused",
		    i + 1);
	}
	instance_expect(&in, "run/zmailer.state", "hash changed", 1);
	cr_expect_eq(state_read(in.run, &state, &err), STATE_READ);
	cr_expect_eq(state.reloads, 2);
	/* A daemon that is asked itself reads what was taken over. */
	instance_configure(&in, "bad.test", rows[0]);
	kill(instance_child(&in, "router"), SIGHUP);
	instance_expect(&in, "run/facts", "reload one.test was one.test", 1);
	cr_expect_eq(place_of("bad.test"), -1);
	instance_configure(&in, "good.test", PRIVATE);
	kill(in.pid, SIGHUP);
	instance_expect(&in, "run/facts", "reload good.test was one.test", 3);
	cr_expect_eq(instance_stop(&in), 0);
}

Test(supervisor, other_listeners_restart_the_smtpserver_alone)
{
	char more[600];

	cr_assert(instance_start(&in));
	snprintf(more, sizeof(more), "listen unix:%s/other\n" PRIVATE,
	    in.run);
	instance_configure(&in, "one.test", more);
	kill(in.pid, SIGHUP);
	instance_expect(&in, "run/facts", "start", 4);
	instance_expect(&in, "run/facts", "reload", 2);
	instance_child(&in, "smtpserver");
	instance_expect(&in, "log/events-*.jsonl", "daemon.exit", 0);
	cr_expect_eq(instance_stop(&in), 0);
}

Test(supervisor, the_launcher_starts_agents_and_reports_their_ends)
{
	setenv("TESTD_AGENTS", "1", 1);
	setenv("ZM_NTH_TEST", "1", 1);
	cr_assert(instance_start(&in));
	instance_expect(&in, "run/facts", "exit http ran status 7", 1);
	instance_expect(&in, "run/facts", "exit local ran status 7", 1);
	instance_expect(&in, "run/facts", "exit hold ran signal 9", 1);
	instance_expect(&in, "run/facts", "exit nosuch never status 111", 1);
	instance_expect(&in, "run/facts", "program=mailbox", 1);
	/* Three standard descriptors, -C FILE, an environment by list. */
	instance_expect(&in, "run/facts", "fds=0,1,2 args=3 conf=yes", 3);
	instance_expect(&in, "run/facts", "secret=no", 3);
	instance_expect(&in, "run/facts", "test=yes", 3);
	cr_expect_eq(instance_stop(&in), 0);
}

/* ---- as root, with accounts that every system has ---------------- */

static const char *const accounts[] = { "daemon", "mail", "news", "nobody" };

static bool
can_drop(char more[512])
{
	struct passwd *user;
	static const char *const roles[] = { "smtpserver", "router",
	    "scheduler", "agent" };

	more[0] = '\0';
	if (getuid() != 0)
		return false;
	for (size_t i = 0; i < 4; i++) {
		user = getpwnam(accounts[i]);
		if (user == NULL || user->pw_uid == 0)
			return false;
		snprintf(more + strlen(more), 512 - strlen(more),
		    "user %s %s\n", roles[i], accounts[i]);
	}
	return true;
}

static void
expect_start_as(const char *name, const char *account, int groups)
{
	struct passwd *user = getpwnam(account);
	char want[256];

	snprintf(want, sizeof(want), "start uid=%u gid=%u groups=%d back=no",
	    (unsigned)user->pw_uid, (unsigned)user->pw_gid, groups);
	cr_expect_gt(line_of(name, want), 0, "%s: %s", name, want);
}

static void
expect_owner(const char *dir, const char *name, const char *owner,
    const char *group_of, mode_t mode)
{
	char path[400];
	struct stat st;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	cr_assert_eq(stat(path, &st), 0, "%s", path);
	cr_expect_eq(st.st_uid, owner ? getpwnam(owner)->pw_uid : 0, "%s",
	    path);
	cr_expect_eq(st.st_gid, getpwnam(group_of)->pw_gid, "%s", path);
	cr_expect_eq(st.st_mode & 07777, mode, "%s: %o", path,
	    (unsigned)st.st_mode);
}

Test(supervisor, as_root_each_daemon_becomes_its_account_for_good)
{
	char more[512], want[128];

	if (!can_drop(more))
		cr_skip("not root, or no such accounts");
	snprintf(more + strlen(more), sizeof(more) - strlen(more),
	    "hash 1\n");
	instance_configure(&in, "one.test", more);
	setenv("TESTD_AGENTS", "1", 1);
	setenv("ZM_NTH_TEST", "1", 1);
	cr_assert(instance_start(&in));
	instance_expect(&in, "run/facts", "exit local ran status 7", 1);
	instance_expect(&in, "run/facts", "exit http ran status 7", 1);
	expect_start_as("smtpserver", "daemon", 2);
	expect_start_as("router", "mail", 3);
	expect_start_as("scheduler", "news", 4);
	snprintf(want, sizeof(want), "program=http uid=%u gid=%u groups=1",
	    (unsigned)getpwnam("nobody")->pw_uid,
	    (unsigned)getpwnam("nobody")->pw_gid);
	instance_expect(&in, "run/facts", want, 1);
	instance_expect(&in, "run/facts", "program=mailbox uid=0", 1);
	instance_expect(&in, "run/facts", "test=no", 3);
	expect_owner(in.spool, "public", "mail", "mail", 03733);
	expect_owner(in.spool, "router", "mail", "daemon", 01730);
	expect_owner(in.spool, "router.9", "mail", "daemon", 01730);
	expect_owner(in.spool, "queue", "news", "mail", 02770);
	expect_owner(in.spool, "transport/Q", "news", "mail", 02770);
	expect_owner(in.dir, "log", NULL, "nobody", 02770);
	expect_owner(in.dir, "run", NULL, "mail", 01775);
	/* Every account can append to the journal. */
	for (size_t i = 0; i < 3; i++)
		instance_expect(&in, "log/events-*.jsonl", "daemon.start", 4);
	cr_expect_eq(instance_stop(&in), 0);
}

Test(supervisor, as_root_the_account_root_is_refused)
{
	char more[512];

	if (!can_drop(more))
		cr_skip("not root, or no such accounts");
	instance_configure(&in, "one.test", "user router root\n"
	    "user smtpserver daemon\nuser scheduler news\nuser agent nobody\n");
	cr_expect_not(instance_start(&in));
	cr_expect_eq(instance_wait(&in), EX_UNAVAILABLE);
	cr_expect_not(exists(in.run, "facts") &&
	    line_of("router", "start uid=0") > 0);
}

/* ---- the service manager ----------------------------------------- */

static int
manager_listen(char path[300])
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct timeval patience = { .tv_sec = 60 };
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	snprintf(path, 300, "%s/notify", in.dir);
	snprintf(address.sun_path, sizeof(address.sun_path), "%.100s", path);
	cr_assert_eq(bind(fd, (struct sockaddr *)&address, sizeof(address)),
	    0);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	return fd;
}

Test(supervisor, tells_the_service_manager_ready_and_stopping)
{
	char path[300], text[256];
	int fd = manager_listen(path);
	ssize_t n;

	setenv("NOTIFY_SOCKET", path, 1);
	cr_assert(instance_start(&in));
	n = recv(fd, text, sizeof(text) - 1, 0);
	cr_assert_gt(n, 0);
	text[n] = '\0';
	cr_expect_eq(strncmp(text, "READY=1", 7), 0, "%s", text);
	cr_expect_eq(instance_stop(&in), 0);
	n = recv(fd, text, sizeof(text) - 1, 0);
	cr_assert_gt(n, 0);
	text[n] = '\0';
	cr_expect_str_eq(text, "STOPPING=1");
}

/* What it says next that is not READY=1; false: nothing for a minute. */
static bool
manager_hears(int fd, const char *want)
{
	char text[256];
	ssize_t n;

	do {	/* whoever was stopped and goes on hears EINTR */
		n = recv(fd, text, sizeof(text) - 1, 0);
		text[n > 0 ? n : 0] = '\0';
		if (strcmp(text, want) == 0)
			return true;
	} while (n > 0 || (n < 0 && errno == EINTR));
	return false;
}

/* It is told three times in a span, but for a span in which a daemon did not
 * move, and again when that moves. */
Test(supervisor, the_watchdog_is_fed_by_what_moves)
{
	char path[300], text[256];
	int fd = manager_listen(path), fed = 0;
	struct timeval patience = { .tv_sec = 3 };
	struct state state;
	struct err err;

	setenv("NOTIFY_SOCKET", path, 1);
	setenv("WATCHDOG_USEC", "3000000", 1);
	cr_assert(instance_start(&in));
	cr_expect(manager_hears(fd, "WATCHDOG=1"));
	cr_assert_eq(state_read(in.run, &state, &err), STATE_READ);
	cr_assert_eq(kill(state.children[0].pid, SIGSTOP), 0);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	while (fed < 60 && recv(fd, text, sizeof(text), 0) > 0)
		fed++;
	cr_expect_lt(fed, 60);		/* it stops within a span */
	cr_assert_eq(kill(state.children[0].pid, SIGCONT), 0);
	patience.tv_sec = 60;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	cr_expect(manager_hears(fd, "WATCHDOG=1"));
	cr_expect_eq(instance_stop(&in), 0);
}

/* A router whose loop has not turned for 9 s, and lives; a scheduler that has
 * work for three minutes. */
static void
progress_put(const char *role, pid_t pid, int64_t turn_s, int64_t work_s)
{
	int64_t now_ms = clock_real_us() / 1000;
	struct {
		int64_t	numbers[4];	/* the last: its longest turn */
		char	name[32];
	} slot = { { pid, now_ms - turn_s * 1000, work_s == 0 ? 0 :
	    now_ms - work_s * 1000, 0 }, "" };
	char path[600];
	int fd;

	snprintf(slot.name, sizeof(slot.name), "%s", role);
	snprintf(path, sizeof(path), "%s/progress-%s", in.run, role);
	fd = open(path, O_WRONLY | O_CREAT, 0644);
	cr_assert_eq(write(fd, &slot, sizeof(slot)), (ssize_t)sizeof(slot));
	close(fd);
}

Test(supervisor, a_loop_that_does_not_turn_is_told_of)
{
	struct state state = { .pid = getpid(), .child_count = 2,
	    .children = { { .name = "router", .state = "ready",
	    .pid = getpid(), .since_s = 1 },
	    { .name = "scheduler", .state = "ready",
	    .pid = getpid(), .since_s = 1 } } };
	struct arena *arena = arena_new();
	struct standstill all = { .arena = arena };
	struct err err;

	cr_assert_eq(mkdir(in.run, 0700), 0);
	cr_assert_eq(state_write(in.run, &state, &err), 0);
	standstill_progress(&all, in.run);	/* nothing is known */
	cr_expect_eq(all.count, 0);
	progress_put("router", getpid(), 9, 0);
	standstill_progress(&all, in.run);
	cr_assert_eq(all.count, 1);
	progress_put("router", getpid(), 0, 0);
	progress_put("scheduler", getpid(), 0, 180);
	standstill_progress(&all, in.run);
	cr_assert_eq(all.count, 2);
	cr_expect_str_eq(all.rows[0].what, "process");
	cr_expect_not_null(strstr(all.rows[0].text,
	    "the router stands still since "), "%s", all.rows[0].text);
	cr_expect_not_null(strstr(all.rows[0].text, "it is busy"), "%s",
	    all.rows[0].text);
	cr_expect_str_eq(all.rows[1].what, "work");
	cr_expect_not(all.is_silent);
	progress_put("scheduler", getpid(), 5, 0);
	standstill_progress(&all, in.run);
	cr_expect(all.is_silent);
	arena_free(&arena);
}

/* Told to go on, after a signal had stopped it: it has not run yet. */
Test(supervisor, who_was_told_to_go_on_does_not_stand_still)
{
	struct state state = { .pid = getpid(), .child_count = 1,
	    .children = { { .name = "router", .state = "ready",
	    .pid = getpid(), .since_s = 1 } } };
	const struct timespec nap = { .tv_nsec = 100000000 };
	struct arena *arena = arena_new();
	struct standstill all = { .arena = arena };
	struct err err;
	pid_t pid;

	cr_assert_eq(mkdir(in.run, 0700), 0);
	cr_assert_eq(state_write(in.run, &state, &err), 0);
	progress_put("router", getpid(), 9, 0);
	pid = fork();
	if (pid == 0) {
		nanosleep(&nap, NULL);
		progress_put("router", getppid(), 0, 0);
		_exit(0);
	}
	cr_assert_gt(pid, 0);
	standstill_progress(&all, in.run);
	cr_expect_eq(all.count, 0);
	cr_assert_eq(waitpid(pid, NULL, 0), pid);
	arena_free(&arena);
}

/* A process that has ended, and that its parent never waits for, as pid 1 of
 * many a container does not. */
Test(supervisor, who_has_ended_does_not_stand_still)
{
	struct state state = { .pid = getpid(), .child_count = 1,
	    .children = { { .name = "router", .state = "ready",
	    .since_s = 1 } } };
	struct arena *arena = arena_new();
	struct standstill all = { .arena = arena };
	siginfo_t ended;
	struct err err;
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	cr_assert_gt(pid, 0);
	cr_assert_eq(waitid(P_PID, (id_t)pid, &ended, WEXITED | WNOWAIT), 0);
	state.children[0].pid = pid;
	cr_assert_eq(mkdir(in.run, 0700), 0);
	cr_assert_eq(state_write(in.run, &state, &err), 0);
	progress_put("router", pid, 9, 0);
	standstill_progress(&all, in.run);
	cr_expect_eq(all.count, 0);
	cr_assert_eq(waitpid(pid, NULL, 0), pid);
	arena_free(&arena);
}

/* ---- the state file ---------------------------------------------- */

Test(supervisor, the_state_file_comes_back_as_it_was_written)
{
	struct state state = { .pid = 12, .since_s = 34, .reloads = 5,
	    .refused = "a \"reason\"\nof two lines", .child_count = 1,
	    .children = { { .name = "router", .state = "ready",
	    .pid = 77, .since_s = 88, .restarts = 9 } } };
	struct state back;
	struct err err;

	cr_assert_eq(mkdir(in.run, 0700), 0);
	cr_expect_eq(state_read(in.run, &back, &err), STATE_NONE);
	cr_assert_eq(state_write(in.run, &state, &err), 0);
	cr_assert_eq(state_read(in.run, &back, &err), STATE_READ);
	cr_expect_eq(back.pid, 12);
	cr_expect_eq(back.reloads, 5);
	cr_expect_str_eq(back.refused, state.refused);
	cr_assert_eq(back.child_count, 1);
	cr_expect_str_eq(back.children[0].name, "router");
	cr_expect_eq(back.children[0].pid, 77);
	cr_expect_eq(back.children[0].restarts, 9);
}
