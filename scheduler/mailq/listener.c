/* listener.c - ZMailer's mailq protocol, beside the scheduler
 *
 * In     clients of the mailq statement
 * Out    a process for each; a pair of sockets, one end to the scheduler
 * Holds  the listener; how many talk
 * Trusts the scheduler; it ends when that closes their socket
 * Spec   doc/protocol/mailq.md section 1
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef HAVE_SYS_PRCTL_H
#include <sys/prctl.h>
#endif

#include "base/title.h"
#include "journal/event.h"
#include "daemon/listen_socket.h"
#include "io/ipc.h"
#include "scheduler/mailq/listener.h"
#include "scheduler/mailq/session.h"

#include "base/banned.h"

enum { LOOK_MS = 1000 };	/* a child's end may come between two looks */

struct listener {
	struct process	*process;
	int		 socket;	/* clients come in */
	int		 scheduler;
	unsigned	 clients;
};

static void
listener_on_child(int number)
{
	/* nothing but that poll(2) ends */
}

static void
listener_reap(struct listener *listener)
{
	while (listener->clients > 0 && waitpid(-1, NULL, WNOHANG) > 0)
		listener->clients--;
}

static void
listener_start_session(struct listener *listener, int client)
{
	int ends[2];
	struct err err;
	pid_t pid;

	if (ipc_pair(ends, &err) < 0) {
		warning("mailq: %s", err.text);
		return;
	}
	if (ipc_send(listener->scheduler, SLICE("session\n"), &ends[1],
	    1) < 0)
		_exit(0);		/* the scheduler is gone */
	close(ends[1]);
	event_flush();
	pid = fork();
	if (pid == 0) {
		close(listener->socket);
		close(listener->scheduler);
		mailq_session(listener->process->conf, client, ends[0]);
		event_flush();
		_exit(0);
	}
	if (pid > 0)
		listener->clients++;
	else
		warning("mailq: cannot fork: error %d", errno);
	close(ends[0]);
}

static void
listener_take_client(struct listener *listener)
{
	int client = accept(listener->socket, NULL, NULL);

	if (client < 0)
		return;
	(void)fcntl(client, F_SETFD, FD_CLOEXEC);
	if (listener->clients < MAILQ_CLIENTS_MAX)
		listener_start_session(listener, client);
	close(client);
}

static void
listener_confine(struct process *process)
{
	struct sigaction action = { .sa_handler = listener_on_child };
	struct err err;

	err_program("scheduler-mailq");
	title_set("scheduler mailq");
#ifdef HAVE_SYS_PRCTL_H
	(void)prctl(PR_SET_NAME, "scheduler-mailq", 0, 0, 0);
#endif
	if (daemon_drop(process->conf, ROLE_AGENT, &err) < 0)
		fatal("%s", err.text);	/* nothing was served yet */
	signal(SIGHUP, SIG_IGN);	/* users are read for each client */
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);	/* the scheduler's end is ours */
	(void)sigaction(SIGCHLD, &action, NULL);
}

static void
listener_said(enum event_kind kind, const struct process *process)
{
	event(kind, NULL, "listen",
	    slice_of(process->conf->mailq.listen.text), NULL);
	event_flush();
}

void
mailq_run(struct process *process, int fd, int scheduler)
{
	struct listener listener = { .process = process, .socket = fd,
	    .scheduler = scheduler };
	struct pollfd fds[2] = {
		{ .fd = scheduler, .events = POLLIN },
		{ .fd = fd, .events = POLLIN },
	};

	listener_confine(process);
	listener_said(EV_MAILQ_START, process);
	for (;;) {
		listener_reap(&listener);
		if (poll(fds, 2, LOOK_MS) <= 0)
			continue;
		if (fds[0].revents != 0)	/* it says nothing: it ended */
			break;
		listener_take_client(&listener);
	}
	close(fd);
	listener_said(EV_MAILQ_STOP, process);
	_exit(0);
}

void
mailq_take(struct given *given, struct process *process)
{
	int fd = process->conf->mailq.users == NULL ? -1 : given_find(given,
	    &process->conf->mailq.listen);

	process->beside_fd = fd > 0 ? fd : 0;
}

int
mailq_open(const struct process *process, int *out_fd, struct err *err)
{
	const struct conf *conf = process->conf;

	if (conf->mailq.users == NULL)
		return err_set(err, "there is no mailq statement");
	if (process->beside_fd > 0 && given_fits(process->beside_fd,
	    &conf->mailq.listen)) {
		*out_fd = fcntl(process->beside_fd, F_DUPFD_CLOEXEC, 0);
		return *out_fd < 0 ? err_sys(err, "mailq") : 0;
	}
	*out_fd = listen_socket(&conf->mailq.listen, err);
	return *out_fd < 0 ? err_prefix(err, "mailq") : 0;
}
