/* fork.c - a worker: a child with a socket and nothing of its parent's loop
 *
 * In     the parent's process
 * Out    a pid and a socket; in the child a process that starts afresh
 * Holds  nothing
 * Spec   skeleton.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#ifdef HAVE_SYS_PRCTL_H
#include <sys/prctl.h>
#endif

#include "base/title.h"
#include "journal/event.h"
#include "daemon/child.h"
#include "daemon/launcher.h"
#include "io/ipc.h"

#include "base/banned.h"

static void
forked_signals_default(void)
{
	static const int numbers[] = {
		SIGTERM, SIGINT, SIGHUP, SIGCHLD, SIGUSR1, SIGUSR2, SIGALRM,
	};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		signal(numbers[i], SIG_DFL);
}

/* "smtpserver-keys" of the smtpserver is "smtpserver keys"; its "smtpserver"
 * is a worker. */
static void
child_title(const struct daemon *daemon, const char *name)
{
	size_t n = strlen(daemon->name);

	if (strcmp(name, daemon->name) == 0)
		name = "worker";
	else if (strncmp(name, daemon->name, n) == 0 && name[n] == '-')
		name += n + 1;
	title_set("%s %s", daemon->name, name);
}

static void
child_begin(struct process *process, const char *name, pid_t parent)
{
	loop_free(&process->loop);
	forked_signals_default();
	err_program(name);
	if (process->daemon != NULL)
		child_title(process->daemon, name);
#ifdef HAVE_SYS_PRCTL_H
	(void)prctl(PR_SET_NAME, name, 0, 0, 0);
	(void)prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0);
#endif
	if (getppid() != parent)	/* it died before the prctl */
		_exit(EXIT_FATAL);
	/* The supervisor sees the end of the parent only when nobody else
	 * holds the parent's end of the lifeline. */
	if (process->lifeline >= 0)
		close(process->lifeline);
	process->lifeline = -1;
	process->lifeline_watch = NULL;
	process->is_stopping = false;
	launcher_forget();
	children_forget(process);
	process->loop = loop_new();
}

pid_t
daemon_fork(struct process *process, const char *name, int *out_socket,
    struct err *err)
{
	sigset_t all, before;
	pid_t parent = getpid(), pid;
	int ends[2];

	if (ipc_pair(ends, err) < 0)
		return -1;
	event_flush();		/* else the child has these lines, too */
	/* A signal in the child must not wake the parent's loop. */
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	pid = fork();
	if (pid == 0) {
		close(ends[0]);
		child_begin(process, name, parent);
		*out_socket = ends[1];
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (pid == 0)
		return 0;
	close(ends[1]);
	if (pid < 0) {
		close(ends[0]);
		return err_sys(err, "cannot fork %s", name);
	}
	*out_socket = ends[0];
	return pid;
}
