/* test_progress.c - what a long order says meanwhile
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <signal.h>

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/queue/control.h"
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
		struct selection_progress progress = { .verb = "hold", .done =
		    "held",
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
	struct selection_progress progress;

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
	struct selection_progress progress;

	(void)signal(SIGINT, SIG_DFL);	/* a shell's job may ignore it */
	progress_begin(&progress, "hold", "held", 1);
	(void)progress_end(&progress, 1);
	raise(SIGINT);
}

/* ---- a single request --------------------------------------------------- */

/* A terminal of its own, and standard error is it.  returns the other end */
static int
terminal_open(void)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY), slave;

	cr_assert_geq(master, 0);
	cr_assert_eq(grantpt(master), 0);
	cr_assert_eq(unlockpt(master), 0);
	slave = open(ptsname(master), O_RDWR | O_NOCTTY);
	cr_assert_geq(slave, 0);
	cr_assert_eq(dup2(slave, STDERR_FILENO), STDERR_FILENO);
	close(slave);
	return master;
}

static int
scheduler_listen(const char *run_dir)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(address.sun_path, sizeof(address.sun_path),
	    "%s/scheduler.sock", run_dir);
	cr_assert_eq(bind(fd, (struct sockaddr *)&address, sizeof(address)),
	    0);
	cr_assert_eq(listen(fd, 1), 0);
	return fd;
}

/* A scheduler that answers when the person has been told.  Its exit status:
 * 0 if so. */
static void
scheduler_that_takes_its_time(int listener, int master)
{
	static const char answer[] = "{\"done\":true,\"messages\":3}\n\n";
	char seen[4096] = "";
	size_t used = 0;
	ssize_t n;
	int fd = accept(listener, NULL, NULL);

	while (strstr(seen, "hold: the scheduler is at it, 2s so far") ==
	    NULL && used < sizeof(seen) - 1 && (n = read(master, seen + used,
	    sizeof(seen) - 1 - used)) > 0) {
		used += (size_t)n;
		seen[used] = '\0';
	}
	n = write(fd, answer, strlen(answer));
	_exit(strstr(seen, "2s so far") != NULL && n > 0 ? 0 : 1);
}

Test(progress, a_request_that_takes_long_says_so_on_a_terminal,
    .timeout = 60)
{
	char dir[] = "/tmp/zmailer-wait-XXXXXX", path[64];
	struct str request = STR_INIT, last = STR_INIT;
	struct control control;
	int listener, master, status;
	struct err err = { "" };
	pid_t pid;

	cr_assert_not_null(mkdtemp(dir));
	listener = scheduler_listen(dir);
	master = terminal_open();
	pid = fork();
	if (pid == 0)
		scheduler_that_takes_its_time(listener, master);
	cr_assert_eq(control_connect(dir, &control, &err), CONTROL_REACHED);
	control.waits_as = "hold";
	control_begin(&request, "hold");
	cr_expect_eq(control_ask(&control, &request, NULL, NULL, &last, &err),
	    0, "%s", err.text);
	cr_expect_not(control.is_wait_shown);
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_expect_eq(status, 0);
	control_hang_up(&control);
	str_release(&request);
	str_release(&last);
	snprintf(path, sizeof(path), "%s/scheduler.sock", dir);
	unlink(path);
	rmdir(dir);
	close(listener);
	close(master);
}
