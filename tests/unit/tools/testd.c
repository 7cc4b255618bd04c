/* testd.c - every program of a mail system at once, for tests of the frame
 *
 * Called as router, scheduler or smtpserver it is a daemon that climbs the
 * real ladder and notes what happened to it in RUN/facts; called as an
 * agent (http, mailbox, ...) it greets with who it is and ends with status
 * 7 when its socket does.
 *
 * The scheduler has its socket, and nothing to tell there.
 *
 *	TESTD_FAIL=NAME		NAME fails before it is ready
 *	RUN/hold-NAME		while it exists NAME does not become ready
 *	RUN/hold-names		while it exists the router does not say that it
 *				has looked at the names of routed messages
 *	TESTD_AGENTS=1		the scheduler starts one agent of each kind
 *
 * SPDX-License-Identifier: ISC
 */
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "daemon/skeleton.h"
#include "io/ipc.h"

#include "base/banned.h"

static char name[64];
static int facts_fd = -1;

__attribute__((format(printf, 1, 2)))
static void
fact(const char *format, ...)
{
	char text[1024];
	va_list ap;
	int n = snprintf(text, sizeof(text), "%s %ld ", name, (long)getpid());

	va_start(ap, format);
	n += vsnprintf(text + n, sizeof(text) - (size_t)n - 1, format, ap);
	va_end(ap);
	text[n++] = '\n';
	if (write(facts_fd, text, (size_t)n) != n)
		_exit(99);
}

/* ---- an agent ---------------------------------------------------- */

static int
agent_main(int argc, char **argv)
{
	char line[64], open_fds[64] = "";
	gid_t groups[16];
	ssize_t n;

	for (int fd = 2; fd < 64; fd++)
		if (fcntl(fd, F_GETFD) >= 0)
			snprintf(open_fds + strlen(open_fds),
			    sizeof(open_fds) - strlen(open_fds), ",%d", fd);
	dprintf(1, "#hungry program=%s uid=%u gid=%u groups=%d fds=0,1%s "
	    "args=%d conf=%s test=%s secret=%s\n", name,
	    (unsigned)getuid(), (unsigned)getgid(), getgroups(16, groups),
	    open_fds, argc, getenv("ZMAILER_CONF") ? "yes" : "no",
	    getenv("ZM_NTH_TEST") ? "yes" : "no",
	    getenv("TESTD_AGENTS") ? "yes" : "no");
	while ((n = read(0, line, sizeof(line))) > 0)
		;
	return 7;
}

/* ---- the scheduler's agents -------------------------------------- */

static struct errand {
	const char	*channel, *command_host;
	int		 socket;
	struct watch	*watch;
	struct ipc_inbox inbox;
} errands[] = {
	{ .channel = "http", .command_host = "x" },
	{ .channel = "local", .command_host = "x" },
	{ .channel = "hold", .command_host = "x" },	/* is killed */
	{ .channel = "nosuch", .command_host = "x" },
};
enum { ERRANDS = sizeof(errands) / sizeof(errands[0]) };

static void
on_agent(void *context, unsigned ready)
{
	struct errand *errand = context;
	struct slice line;
	size_t cursor = 0;
	struct err err;

	if (ipc_receive(errand->socket, &errand->inbox) <= 0) {
		watch_free(&errand->watch);
		close(errand->socket);
		ipc_inbox_release(&errand->inbox);
		return;
	}
	if (ipc_line(&errand->inbox, &cursor, &line) != IPC_LINE)
		return;
	fact("agent %s says " SLICE_FMT, errand->channel, SLICE_ARG(line));
	ipc_inbox_consume(&errand->inbox, cursor);
	if (strcmp(errand->channel, "hold") == 0)
		(void)launcher_kill_agent((unsigned)(errand - errands), &err);
	else
		(void)shutdown(errand->socket, SHUT_WR);
}

static void
on_exit_notice(void *context, unsigned token, pid_t pid, int status)
{
	fact("exit %s %s %s %d", errands[token % ERRANDS].channel,
	    pid > 0 ? "ran" : "never",
	    WIFSIGNALED(status) ? "signal" : "status",
	    WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
}

static int
agents_start(struct process *process, struct err *err)
{
	launcher_on_exit(process, on_exit_notice, NULL);
	for (unsigned i = 0; i < ERRANDS; i++) {
		struct errand *errand = &errands[i];
		const struct conf_schedule *clause = conf_schedule_for(
		    process->conf, slice_of(errand->channel),
		    slice_of(errand->command_host));
		int ends[2];

		if (ipc_pair(ends, err) < 0 || launcher_start_agent(
		    (unsigned)(clause - process->conf->schedules),
		    errand->channel, ends[1], i, err) < 0)
			return -1;
		close(ends[1]);
		errand->socket = ends[0];
		ipc_inbox_init(&errand->inbox);
		errand->watch = loop_watch(process->loop, ends[0], LOOP_READ,
		    on_agent, errand);
	}
	return 0;
}

/* ---- the scheduler's socket ---------------------------------------- */

struct asker {
	int		 fd;
	struct watch	*watch;
};

/* Whatever is asked: nothing, in the form of doc/protocol/control.md. */
static void
on_asker(void *context, unsigned ready)
{
	static const char nothing[] = "{\"v\":1,\"done\":true}\n\n";
	struct asker *asker = context;
	char text[4096];
	ssize_t n = read(asker->fd, text, sizeof(text));

	for (ssize_t i = 0; i < n; i++)
		if (text[i] == '\n' &&
		    write(asker->fd, nothing, sizeof(nothing) - 1) < 0)
			break;
	if (n <= 0) {
		watch_free(&asker->watch);
		close(asker->fd);
		free(asker);
	}
}

struct desk {
	int		 fd;
	struct loop	*loop;
};

static void
on_desk(void *context, unsigned ready)
{
	struct desk *desk = context;
	struct asker *asker = calloc(1, sizeof(*asker));

	asker->fd = accept(desk->fd, NULL, NULL);
	asker->watch = loop_watch(desk->loop, asker->fd, LOOP_READ, on_asker,
	    asker);
}

static int
desk_open(struct process *process, struct err *err)
{
	static struct desk desk;
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	snprintf(address.sun_path, sizeof(address.sun_path),
	    "%s/scheduler.sock", process->conf->run_dir);
	(void)unlink(address.sun_path);
	desk.loop = process->loop;
	desk.fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (desk.fd < 0 || bind(desk.fd, (struct sockaddr *)&address,
	    sizeof(address)) < 0 || listen(desk.fd, 8) < 0)
		return err_sys(err, "%s", address.sun_path);
	loop_watch(desk.loop, desk.fd, LOOP_READ, on_desk, &desk);
	return 0;
}

/* ---- a worker ---------------------------------------------------- */

static void
on_worker(void *context, unsigned ready)
{
	int *socket = context;
	char text[64];
	ssize_t n = read(*socket, text, sizeof(text));

	if (n > 0)
		fact("worker says %.*s", (int)n, text);
	else
		_exit(98);	/* it must outlive us */
}

static void
on_parent_gone(void *context, unsigned ready)
{
	fact("worker ends");
	_exit(0);
}

static int
worker_start(struct process *process, struct err *err)
{
	static int socket;
	pid_t pid = daemon_fork(process, "worker", &socket, err);

	if (pid < 0)
		return -1;
	loop_watch(process->loop, socket, LOOP_READ,
	    pid == 0 ? on_parent_gone : on_worker, &socket);
	if (pid > 0)
		return 0;
	dprintf(socket, "%s", process->lifeline < 0 ? "free" : "tied");
	loop_run(process->loop);
	_exit(0);
}

/* ---- a daemon ---------------------------------------------------- */

static int
open_privileged(struct process *process, struct err *err)
{
	char path[4200];

	snprintf(path, sizeof(path), "%s/facts", process->conf->run_dir);
	facts_fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
	return facts_fd < 0 ? err_sys(err, "%s", path) : 0;
}

/* Bounded by the patience of the test that made the file. */
static void
hold(const struct process *process)
{
	const struct timespec nap = { .tv_nsec = 10000000 };
	char path[4200];

	snprintf(path, sizeof(path), "%s/hold-%s", process->conf->run_dir,
	    name);
	if (access(path, F_OK) < 0)
		return;
	fact("holds");
	while (access(path, F_OK) == 0)
		(void)nanosleep(&nap, NULL);
}

static struct timer names_timer;

static void
names_look(void *context)
{
	struct process *process = context;
	char path[4200];

	snprintf(path, sizeof(path), "%s/hold-names", process->conf->run_dir);
	if (access(path, F_OK) < 0)
		daemon_say_names_read(process);
	else
		timer_set(process->loop, &names_timer, clock_steady_ms() + 10,
		    names_look, process);
}

static void
names_read(struct process *process)
{
	fact("names");
}

static int
after_drop(struct process *process, struct err *err)
{
	const char *fails = getenv("TESTD_FAIL");
	gid_t groups[16];

	fact("start uid=%u gid=%u groups=%d back=%s", (unsigned)getuid(),
	    (unsigned)getgid(), getgroups(16, groups),
	    getuid() != 0 && setuid(0) == 0 ? "yes" : "no");
	hold(process);
	if (fails != NULL && strcmp(fails, name) == 0)
		return err_set(err, "told to fail");
	if (process->daemon->role == ROLE_ROUTER)
		timer_set(process->loop, &names_timer, clock_steady_ms(),
		    names_look, process);
	if (process->daemon->role == ROLE_SCHEDULER &&
	    desk_open(process, err) < 0)
		return -1;
	if (getenv("TESTD_AGENTS") != NULL && process->daemon->wants_launcher)
		return agents_start(process, err);
	if (strcmp(name, "smtpserver") == 0)
		return worker_start(process, err);
	return 0;
}

static void
reload(struct process *process, const struct conf *old)
{
	fact("reload %s was %s", process->conf->host, old->host);
}

static void
stop(struct process *process)
{
	fact("stop");
	loop_stop(process->loop);
}

int
main(int argc, char **argv)
{
	const char *base = strrchr(argv[0], '/');
	struct daemon daemon = { .name = name, .purpose = "A test.",
	    .open_privileged = open_privileged, .after_drop = after_drop,
	    .reload = reload, .stop = stop, .names_read = names_read };

	snprintf(name, sizeof(name), "%s", base ? base + 1 : argv[0]);
	if (strcmp(name, "router") == 0)
		daemon.role = ROLE_ROUTER;
	else if (strcmp(name, "smtpserver") == 0)
		daemon.role = ROLE_SMTPSERVER;
	else if (strcmp(name, "scheduler") == 0)
		daemon.role = ROLE_SCHEDULER;
	else
		return agent_main(argc, argv);
	daemon.wants_launcher = daemon.role == ROLE_SCHEDULER;
	return daemon_run(argc, argv, &daemon);
}
