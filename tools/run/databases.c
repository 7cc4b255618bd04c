/* databases.c - the process that asks databases: started, replaced, ended
 *
 * In     the configuration in force
 * Out    a process; after its end another one
 * Holds  the listening socket, and a pipe that ends with us
 * Spec   databases.h, tables/ask/server.h
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
#include "io/unix_socket.h"
#include "journal/event.h"
#include "mail/table/table.h"
#include "tools/run/databases.h"

#include "base/banned.h"

enum { PATH_BYTES = 4200, SOCKET_FD = 3, LIFELINE_FD = 4 };

/* Those who may ask have smtpserver's group. */
static void
databases_share(const struct databases *databases, const char *path)
{
	struct err err;
	uid_t uid;
	gid_t gid;

	if (daemon_is_private(*databases->conf))
		return;
	if (daemon_account(*databases->conf, ROLE_SMTPSERVER, &uid, &gid,
	    &err) < 0 || chown(path, (uid_t)-1, gid) < 0)
		warning("who asks databases may not be able to, at %s", path);
}

static bool
databases_listen(struct databases *databases)
{
	char path[PATH_BYTES];
	struct err err;

	if (databases->socket >= 0)
		return true;
	snprintf(path, sizeof(path), "%s/" TABLES_SOCKET,
	    (*databases->conf)->run_dir);
	databases->socket = unix_socket_listen(path, 0660, &err);
	if (databases->socket < 0)
		warning("%s", err.text);
	else
		databases_share(databases, path);
	return databases->socket >= 0;
}

static void
databases_child(const struct databases *databases, int lifeline,
    const sigset_t *before) __attribute__((noreturn));
static void
databases_child(const struct databases *databases, int lifeline,
    const sigset_t *before)
{
	int socket = fcntl(databases->socket, F_DUPFD, LIFELINE_FD + 1);
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
	daemon_libexec("tables", path, sizeof(path));
	execl(path, path, "-C", databases->conf_path, (char *)NULL);
	fatal("cannot start %s: %s", path, strerror(errno));
}

static void
databases_begin(void *context)
{
	struct databases *databases = context;
	sigset_t all, before;
	int ends[2];

	if (databases->is_over || databases->pid > 0 ||
	    !conf_asks_databases(*databases->conf) ||
	    !databases_listen(databases))
		return;
	if (pipe2(ends, O_CLOEXEC) == 0) {
		event_flush();
		sigfillset(&all);
		sigprocmask(SIG_BLOCK, &all, &before);
		databases->pid = fork();
		if (databases->pid == 0)
			databases_child(databases, ends[0], &before);
		sigprocmask(SIG_SETMASK, &before, NULL);
		close(ends[0]);
		databases->lifeline = ends[1];
		if (databases->pid > 0)
			return;
		close(ends[1]);
	}
	warning("tables: %s", strerror(errno));
	databases->pid = 0;
	databases->lifeline = -1;
	timer_set(databases->loop, &databases->timer, clock_steady_ms() +
	    DATABASES_AGAIN_MS, databases_begin, databases);
}

/* It answers what it was asked, and ends. */
static void
databases_let_go(struct databases *databases)
{
	if (databases->lifeline >= 0)
		close(databases->lifeline);
	databases->lifeline = -1;
}

void
databases_start(struct databases *databases, struct loop *loop,
    struct conf *const *conf, const char *conf_path)
{
	*databases = (struct databases){ .loop = loop, .conf = conf,
	    .conf_path = conf_path, .socket = -1, .lifeline = -1 };
	databases_begin(databases);
}

void
databases_reload(struct databases *databases)
{
	databases_let_go(databases);
	databases->pid = 0;
	timer_clear(&databases->timer);
	databases_begin(databases);
}

static void
databases_on_patience(void *context)
{
	struct databases *databases = context;

	if (databases->pid > 0)
		(void)kill(databases->pid, SIGKILL);
}

bool
databases_stop(struct databases *databases, loop_fn *ended_fn, void *context)
{
	if (databases->pid == 0)
		return true;
	if (databases->is_over)
		return false;
	databases->is_over = true;
	databases->ended_fn = ended_fn;
	databases->context = context;
	databases_let_go(databases);
	timer_set(databases->loop, &databases->timer, clock_steady_ms() +
	    DATABASES_END_MS, databases_on_patience, databases);
	return false;
}

void
databases_ended(struct databases *databases, pid_t pid)
{
	if (pid != databases->pid || pid == 0)
		return;
	databases->pid = 0;
	databases_let_go(databases);
	timer_clear(&databases->timer);
	if (databases->is_over)
		databases->ended_fn(databases->context);
	else
		timer_set(databases->loop, &databases->timer,
		    clock_steady_ms() + DATABASES_AGAIN_MS, databases_begin,
		    databases);
}
