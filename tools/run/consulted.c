/* consulted.c - processes that daemons consult: started, replaced, ended
 *
 * In     the configuration in force
 * Out    a process; after its end another one
 * Holds  the listening socket, and a pipe that ends with us
 * Spec   consulted.h, tables/ask/server.h, sts/ask/askers.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "daemon/skeleton.h"
#include "io/sts_ask.h"
#include "io/unix_socket.h"
#include "journal/event.h"
#include "mail/table/table.h"
#include "tools/run/consulted.h"
#include "tools/run/supervisor.h"

#include "base/banned.h"

enum { PATH_BYTES = 4200, SOCKET_FD = 3, LIFELINE_FD = 4 };

const struct consulted_kind consulted_tables = {
	.program = "tables", .socket = TABLES_SOCKET,
	.askers = ROLE_SMTPSERVER, .is_wanted = conf_asks_databases,
};

const struct consulted_kind consulted_sts = {
	.program = "sts", .socket = STS_SOCKET, .askers = ROLE_AGENT,
	.is_wanted = conf_asks_sts, .prepare = dirs_prepare_sts,
};

/* Those who may ask have one group. */
static void
consulted_share(const struct consulted *consulted, const char *path)
{
	struct err err;
	uid_t uid;
	gid_t gid;

	if (daemon_is_private(*consulted->conf))
		return;
	if (daemon_account(*consulted->conf, consulted->kind->askers,
	    &uid, &gid, &err) < 0 || chown(path, (uid_t)-1, gid) < 0)
		warning("who asks %s may not be able to, at %s",
		    consulted->kind->program, path);
}

static bool
consulted_listen(struct consulted *consulted)
{
	char path[PATH_BYTES];
	struct err err;

	if (consulted->socket >= 0)
		return true;
	snprintf(path, sizeof(path), "%s/%s", (*consulted->conf)->run_dir,
	    consulted->kind->socket);
	consulted->socket = unix_socket_listen(path, 0660, &err);
	if (consulted->socket < 0)
		warning("%s", err.text);
	else
		consulted_share(consulted, path);
	return consulted->socket >= 0;
}

static void
consulted_child(const struct consulted *consulted, int lifeline,
    const sigset_t *before) __attribute__((noreturn));
static void
consulted_child(const struct consulted *consulted, int lifeline,
    const sigset_t *before)
{
	int socket = fcntl(consulted->socket, F_DUPFD, LIFELINE_FD + 1);
	char path[PATH_BYTES];

	for (int i = 1; i < NSIG; i++)
		(void)signal(i, SIG_DFL);
	(void)signal(SIGPIPE, SIG_IGN);
	sigprocmask(SIG_SETMASK, before, NULL);
	lifeline = fcntl(lifeline, F_DUPFD, LIFELINE_FD + 1);
	if (socket < 0 || lifeline < 0 || dup2(socket, SOCKET_FD) < 0 ||
	    dup2(lifeline, LIFELINE_FD) < 0)
		_exit(EXIT_FATAL);
	closefrom(LIFELINE_FD + 1);
	daemon_libexec(consulted->kind->program, path, sizeof(path));
	execl(path, path, "-C", consulted->conf_path, (char *)NULL);
	fatal("cannot start %s: %s", path, strerror(errno));
}

static void
consulted_begin(void *context)
{
	struct consulted *consulted = context;
	sigset_t all, before;
	struct err err;
	int ends[2];

	if (consulted->is_over || consulted->pid > 0 ||
	    !consulted->kind->is_wanted(*consulted->conf) ||
	    !consulted_listen(consulted))
		return;
	if (consulted->kind->prepare != NULL &&
	    consulted->kind->prepare(*consulted->conf, &err) < 0)
		warning("%s", err.text);
	if (pipe2(ends, O_CLOEXEC) == 0) {
		event_flush();
		sigfillset(&all);
		sigprocmask(SIG_BLOCK, &all, &before);
		consulted->pid = fork();
		if (consulted->pid == 0)
			consulted_child(consulted, ends[0], &before);
		sigprocmask(SIG_SETMASK, &before, NULL);
		close(ends[0]);
		consulted->lifeline = ends[1];
		if (consulted->pid > 0)
			return;
		close(ends[1]);
	}
	warning("%s: %s", consulted->kind->program, strerror(errno));
	consulted->pid = 0;
	consulted->lifeline = -1;
	timer_set(consulted->loop, &consulted->timer, clock_steady_ms() +
	    CONSULTED_AGAIN_MS, consulted_begin, consulted);
}

/* It answers what it was asked, and ends. */
static void
consulted_let_go(struct consulted *consulted)
{
	if (consulted->lifeline >= 0)
		close(consulted->lifeline);
	consulted->lifeline = -1;
}

void
consulted_start(struct consulted *consulted,
    const struct consulted_kind *kind, struct loop *loop,
    struct conf *const *conf, const char *conf_path)
{
	*consulted = (struct consulted){ .kind = kind, .loop = loop,
	    .conf = conf, .conf_path = conf_path, .socket = -1,
	    .lifeline = -1 };
	consulted_begin(consulted);
}

void
consulted_reload(struct consulted *consulted)
{
	consulted_let_go(consulted);
	consulted->pid = 0;
	timer_clear(&consulted->timer);
	consulted_begin(consulted);
}

static void
consulted_on_patience(void *context)
{
	struct consulted *consulted = context;

	if (consulted->pid > 0)
		(void)kill(consulted->pid, SIGKILL);
}

bool
consulted_stop(struct consulted *consulted, loop_fn *ended_fn, void *context)
{
	if (consulted->pid == 0)
		return true;
	if (consulted->is_over)
		return false;
	consulted->is_over = true;
	consulted->ended_fn = ended_fn;
	consulted->context = context;
	consulted_let_go(consulted);
	timer_set(consulted->loop, &consulted->timer, clock_steady_ms() +
	    CONSULTED_END_MS, consulted_on_patience, consulted);
	return false;
}

void
consulted_ended(struct consulted *consulted, pid_t pid)
{
	if (pid != consulted->pid || pid == 0)
		return;
	consulted->pid = 0;
	consulted_let_go(consulted);
	timer_clear(&consulted->timer);
	if (consulted->is_over)
		consulted->ended_fn(consulted->context);
	else
		timer_set(consulted->loop, &consulted->timer,
		    clock_steady_ms() + CONSULTED_AGAIN_MS, consulted_begin,
		    consulted);
}
