/* answers.c - the supervisor's side: a socket, and a process at it
 *
 * In     the configuration in force
 * Out    a process; after its end another one
 * Holds  the listening socket, so that nobody is refused meanwhile
 * Spec   answers.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "daemon/skeleton.h"
#include "journal/event.h"
#include "tools/answers/internal.h"

#include "base/banned.h"

enum { AGAIN_MS = 1000, SOCKET_FD = 3, LIFELINE_FD = 4 };

static answers_run_fn *answers_run;

void
answers_offer(answers_run_fn *run)
{
	answers_run = run;
}

static bool
answers_address(const char *run_dir, struct sockaddr_un *out)
{
	int n;

	*out = (struct sockaddr_un){ .sun_family = AF_UNIX };
	n = snprintf(out->sun_path, sizeof(out->sun_path), "%s/"
	    ANSWERS_NAME, run_dir);
	return n > 0 && (size_t)n < sizeof(out->sun_path);
}

static int
answers_listen(const char *run_dir)
{
	struct sockaddr_un address;
	int fd;

	if (!answers_address(run_dir, &address))
		return -1;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	(void)unlink(address.sun_path);	/* the lock says we are alone */
	if (fd >= 0 && (bind(fd, (struct sockaddr *)&address,
	    sizeof(address)) != 0 || chmod(address.sun_path, 0666) != 0 ||
	    listen(fd, SOMAXCONN) != 0)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* In a process without what we have open: our locks and lifelines end with
 * us, not with it. */
static void
answers_child(const struct answers *answers, int lifeline,
    const sigset_t *before) __attribute__((noreturn));
static void
answers_child(const struct answers *answers, int lifeline,
    const sigset_t *before)
{
	int socket = fcntl(answers->socket, F_DUPFD, LIFELINE_FD + 1);

	for (int i = 1; i < NSIG; i++)
		(void)signal(i, SIG_DFL);
	sigprocmask(SIG_SETMASK, before, NULL);
	event_open_fd(-1);
	lifeline = fcntl(lifeline, F_DUPFD, LIFELINE_FD + 1);
	if (socket < 0 || lifeline < 0 || dup2(socket, SOCKET_FD) < 0 ||
	    dup2(lifeline, LIFELINE_FD) < 0)
		_exit(EXIT_FATAL);
	closefrom(LIFELINE_FD + 1);
	answers_serve(SOCKET_FD, LIFELINE_FD, *answers->conf, answers_run);
}

static void
answers_begin(void *context)
{
	struct answers *answers = context;
	sigset_t all, before;
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) != 0) {
		warning("answers: pipe: %s", strerror(errno));
		timer_set(answers->loop, &answers->timer,
		    clock_steady_ms() + AGAIN_MS, answers_begin, answers);
		return;
	}
	event_flush();
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	answers->pid = fork();
	if (answers->pid == 0)
		answers_child(answers, ends[0], &before);
	sigprocmask(SIG_SETMASK, &before, NULL);
	close(ends[0]);
	answers->lifeline = ends[1];
	if (answers->pid < 0) {
		warning("answers: cannot fork: %s", strerror(errno));
		answers->pid = 0;
		answers->lifeline = -1;
		close(ends[1]);
		timer_set(answers->loop, &answers->timer,
		    clock_steady_ms() + AGAIN_MS, answers_begin, answers);
	}
}

void
answers_start(struct answers *answers, struct loop *loop,
    struct conf *const *conf)
{
	*answers = (struct answers){ .loop = loop, .conf = conf,
	    .socket = -1, .lifeline = -1 };
	if (answers_run == NULL || daemon_is_private(*conf))
		return;
	answers->socket = answers_listen((*conf)->run_dir);
	if (answers->socket >= 0)
		answers_begin(answers);
	else
		warning("%s/" ANSWERS_NAME ": %s; those who may not read the "
		    "journal themselves get no answers", (*conf)->run_dir,
		    strerror(errno));
}

/* Its end is seen by answers_ended. */
void
answers_reload(struct answers *answers)
{
	if (answers->pid > 0)
		close(answers->lifeline);
	answers->lifeline = -1;
}

void
answers_stop(struct answers *answers)
{
	struct sockaddr_un address;

	if (answers->socket < 0)
		return;
	timer_clear(&answers->timer);
	if (answers_address((*answers->conf)->run_dir, &address))
		(void)unlink(address.sun_path);
	close(answers->socket);
	answers->socket = -1;
	answers_reload(answers);
}

/* One that was told to end has a successor at once. */
void
answers_ended(struct answers *answers, pid_t pid)
{
	bool was_told = answers->lifeline < 0;

	if (pid != answers->pid || pid == 0)
		return;
	answers->pid = 0;
	if (answers->lifeline >= 0)
		close(answers->lifeline);
	answers->lifeline = -1;
	if (answers->socket < 0)
		return;
	if (was_told)
		answers_begin(answers);
	else
		timer_set(answers->loop, &answers->timer,
		    clock_steady_ms() + AGAIN_MS, answers_begin, answers);
}
