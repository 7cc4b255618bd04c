/* launcher.c - starts transport agents; the only part that keeps root
 *
 * In     request lines from the scheduler, each start with one descriptor
 * Out    agents with that descriptor as stdin and stdout; the service beside
 *        the daemon, with that and what it listens on; notices of both
 * Holds  its own copy of the configuration, pid and token of each agent
 * Trusts the configuration alone says what runs: of a request it takes a
 *        clause number, a channel that the clause is for, and a token
 * Spec   launcher.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef HAVE_SYS_PRCTL_H
#include <sys/prctl.h>
#endif

#include "base/title.h"
#include "journal/event.h"
#include "daemon/carriers.h"
#include "daemon/launcher.h"
#include "io/ipc.h"

#include "base/banned.h"

enum {
	CHANNEL_BYTES_MAX = 32,
	AGENTS_MAX = 16384,		/* at a time */
	SOCKET_FD = 3,
	SERVICE_FD = 4,			/* of the service beside us */
	GIVEN_FD = 4			/* beside_fd, for it */
};

struct agent {			/* several may be in one process */
	pid_t		pid;
	unsigned	token;
};

static struct {
	struct process		*process;
	struct loop		*loop;
	int			 socket;
	struct ipc_inbox	 inbox;
	struct agent		*agents;
	size_t			 agent_count;
} launcher;

/* ---- the child ---------------------------------------------------------- */

static void
descriptors_above_close(unsigned first)
{
#ifdef HAVE_CLOSE_RANGE
	if (close_range(first, ~0U, 0) == 0)
		return;
#endif
	closefrom((int)first);
}

static void
launched_signals_default(void)
{
	sigset_t none;

	for (int i = 1; i < 32; i++)
		signal(i, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static void
launched_main(const struct launcher_command *command, int socket)
	__attribute__((noreturn));
static void
launched_main(const struct launcher_command *command, int socket)
{
	bool is_private = daemon_is_private(launcher.process->conf);
	struct err err;

	err_program("launcher");
	(void)setsid();		/* killed with all that it starts */
	if (dup2(socket, STDIN_FILENO) < 0 || dup2(socket, STDOUT_FILENO) < 0)
		fatal("dup2: %s", strerror(errno));
	descriptors_above_close(STDERR_FILENO + 1);
	if (!command->as_root && daemon_drop(launcher.process->conf,
	    ROLE_AGENT, &err) < 0)
		fatal("%s: %s", command->path, err.text);
	umask(077);
	if (chdir("/") < 0)
		fatal("/: %s", strerror(errno));
	launched_signals_default();
	execve(command->path, command->words,
	    command_environment(is_private));
	fatal("%s: %s", command->path, strerror(errno));
}

/* What it listens on, and its end of the pair, are all that it is left of
 * ours: both are moved out of the way of each other first. */
static void
beside_main(int fd, int socket)
	__attribute__((noreturn));
static void
beside_main(int fd, int socket)
{
	struct process *process = launcher.process;

	(void)setsid();
	fd = fcntl(fd, F_DUPFD, SERVICE_FD + 1);
	socket = fcntl(socket, F_DUPFD, SERVICE_FD + 1);
	if (fd < 0 || socket < 0 || dup2(socket, SOCKET_FD) < 0 ||
	    dup2(fd, SERVICE_FD) < 0)
		fatal("dup2: %s", strerror(errno));
	descriptors_above_close(SERVICE_FD + 1);
	(void)fcntl(SOCKET_FD, F_SETFD, FD_CLOEXEC);
	(void)fcntl(SERVICE_FD, F_SETFD, FD_CLOEXEC);
	if (event_open(process->conf->log_dir) < 0)
		fatal("%s: %s", process->conf->log_dir, strerror(errno));
	launched_signals_default();
	signal(SIGPIPE, SIG_IGN);
	process->daemon->beside_run(process, SERVICE_FD, SOCKET_FD);
}

/* ---- requests ------------------------------------------------------------ */

static void
launcher_say(struct str *line)
{
	if (ipc_send(launcher.socket, str_slice(line), NULL, 0) < 0)
		_exit(0);	/* the scheduler is gone */
	str_release(line);
}

static void
say_exit(unsigned token, pid_t pid, int status)
{
	struct str line = STR_INIT;

	str_addf(&line, "exit %u %ld %d\n", token, (long)pid, status);
	launcher_say(&line);
}

static void
child_add(unsigned token, pid_t pid)
{
	struct str line = STR_INIT;

	launcher.agents[launcher.agent_count].pid = pid;
	launcher.agents[launcher.agent_count++].token = token;
	str_addf(&line, "begin %u %ld\n", token, (long)pid);
	launcher_say(&line);
}

static void
child_remove(size_t index, int status)
{
	struct agent agent = launcher.agents[index];

	launcher.agents[index] = launcher.agents[--launcher.agent_count];
	say_exit(agent.token, agent.pid, status);
}

static void
launcher_on_child(void *context)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		carriers_forget(pid);
		for (size_t i = launcher.agent_count; i-- > 0;)
			if (launcher.agents[i].pid == pid)
				child_remove(i, status);
	}
}

/* One agent of a process that goes on (a carriers_ended_fn). */
static void
launcher_on_agent_end(unsigned token, pid_t pid)
{
	for (size_t i = 0; i < launcher.agent_count; i++)
		if (launcher.agents[i].token == token &&
		    launcher.agents[i].pid == pid) {
			child_remove(i, 0);
			return;
		}
}

static const struct conf_schedule *
clause_find(uint64_t clause, const char *channel, struct err *err)
{
	const struct conf *conf = launcher.process->conf;

	if (clause >= conf->schedule_count) {
		err_set(err, "there is no clause %llu",
		    (unsigned long long)clause);
		return NULL;
	}
	if (fnmatch(conf->schedules[clause].channel, channel, 0) != 0) {
		err_set(err, "clause %llu is not for %s",
		    (unsigned long long)clause, channel);
		return NULL;
	}
	return &conf->schedules[clause];
}

/* The pid, or -1. */
static pid_t
launched_fork(const struct launcher_command *command, int socket,
    const char *channel, struct err *err)
{
	sigset_t all, before;
	pid_t pid;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	pid = fork();
	if (pid == 0)
		launched_main(command, socket);
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (pid < 0)
		err_sys(err, "cannot fork an agent for %s", channel);
	return pid;
}

/* A process of its own, or a place in one that carries many.  As
 * launched_fork. */
static pid_t
launched_carry(const struct launcher_command *command, const char *channel,
    int socket, unsigned token, struct err *err)
{
	pid_t pid = carriers_give(channel,
	    launcher.process->conf->limits.processes, token, socket);
	int ends[2];

	if (pid > 0)
		return pid;
	if (ipc_pair(ends, err) < 0)
		return -1;
	pid = launched_fork(command, ends[1], channel, err);
	close(ends[1]);
	if (pid < 0)
		close(ends[0]);
	else
		carriers_add(channel, pid, ends[0], token, socket);
	return pid;
}

static int
launched_start(uint64_t clause, const char *channel, int socket, unsigned token,
    struct err *err)
{
	const struct conf_schedule *row = clause_find(clause, channel, err);
	bool is_many = row != NULL && row->command == NULL &&
	    conf_channel_is_many(channel);
	struct arena *arena = arena_new();
	struct launcher_command command;
	const char *text;
	pid_t pid = -1;

	text = row == NULL ? NULL :
	    row->command != NULL ? row->command : conf_channel_agent(channel);
	if (row != NULL && text == NULL)
		err_set(err, "channel %s has no agent: its schedule clause "
		    "needs a command", channel);
	if (text != NULL && command_build(arena, text,
	    launcher.process->conf_path, is_many, &command, err) == 0)
		pid = is_many ?
		    launched_carry(&command, channel, socket, token, err) :
		    launched_fork(&command, socket, channel, err);
	if (pid > 0)
		child_add(token, pid);
	arena_free(&arena);
	return pid < 0 ? -1 : 0;
}

/* "start CLAUSE CHANNEL TOKEN"; the channel is a word of ours: letters,
 * digits, dashes.  Returns -1 when it is none of that. */
static int
request_start(struct slice rest, int socket, struct err *err)
{
	struct slice clause_text, channel_text, token_text;
	uint64_t clause, token;
	char channel[CHANNEL_BYTES_MAX + 1];
	int result = -1;

	if (!slice_word(&rest, &clause_text) ||
	    !slice_word(&rest, &channel_text) ||
	    !slice_word(&rest, &token_text) ||
	    !slice_number(clause_text, 0, UINT32_MAX, &clause) ||
	    !slice_number(token_text, 0, UINT32_MAX, &token) ||
	    channel_text.n > CHANNEL_BYTES_MAX)
		return err_set(err, "a request for an agent is malformed");
	snprintf(channel, sizeof(channel), SLICE_FMT,
	    SLICE_ARG(channel_text));
	if (launcher.agent_count == AGENTS_MAX)
		err_set(err, "%d agents run already", AGENTS_MAX);
	else if (socket < 0)
		err_set(err, "a request came without its socket");
	else
		result = launched_start(clause, channel, socket,
		    (unsigned)token, err);
	if (result < 0)
		say_exit((unsigned)token, 0, EXIT_FATAL << 8);
	return result;
}

static int
request_beside(int socket, struct err *err)
{
	const struct daemon *daemon = launcher.process->daemon;
	sigset_t all, before;
	pid_t pid = -1;
	int fd = -1;

	if (daemon->beside_open == NULL || socket < 0) {
		err_set(err, "a request for a service is malformed");
	} else if (launcher.agent_count == AGENTS_MAX) {
		err_set(err, "%d agents run already", AGENTS_MAX);
	} else if (daemon->beside_open(launcher.process, &fd, err) ==
	    0) {
		sigfillset(&all);
		sigprocmask(SIG_BLOCK, &all, &before);
		pid = fork();
		if (pid == 0)
			beside_main(fd, socket);
		sigprocmask(SIG_SETMASK, &before, NULL);
		close(fd);
		if (pid < 0)
			err_sys(err, "fork");
	}
	if (pid < 0)
		say_exit(LAUNCHER_BESIDE, 0, EXIT_FATAL << 8);
	else
		child_add(LAUNCHER_BESIDE, pid);
	return pid < 0 ? -1 : 0;
}

static int
request_kill(struct slice rest, struct err *err)
{
	struct slice word;
	uint64_t token;

	if (!slice_word(&rest, &word) ||
	    !slice_number(word, 0, UINT32_MAX, &token))
		return err_set(err, "a request to kill is malformed");
	for (size_t i = 0; i < launcher.agent_count; i++)
		if (launcher.agents[i].token == token &&
		    kill(-launcher.agents[i].pid, SIGKILL) < 0)
			(void)kill(launcher.agents[i].pid, SIGKILL);
	return 0;
}

static int
request_reload(struct err *err)
{
	struct process *process = launcher.process;
	struct arena *arena = arena_new();
	struct conf_report report;
	struct conf *fresh = conf_load(process->conf_path, arena, &report);

	if (fresh != NULL) {
		conf_free(&process->conf);
		process->conf = fresh;
		carriers_retire();
	} else {
		daemon_report_line(&report, err->text, sizeof(err->text));
	}
	arena_free(&arena);
	return fresh != NULL ? 0 : -1;
}

static void
launcher_request(struct slice line)
{
	struct err err = { "the scheduler asked for something unknown" };
	struct slice verb = SLICE("");
	int socket = -1, result = -1;

	(void)slice_word(&line, &verb);
	if (slice_is(verb, "start")) {
		socket = ipc_take_fd(&launcher.inbox);
		result = request_start(line, socket, &err);
		if (socket >= 0)
			close(socket);
	} else if (slice_is(verb, "beside")) {
		socket = ipc_take_fd(&launcher.inbox);
		result = request_beside(socket, &err);
		if (socket >= 0)
			close(socket);
	} else if (slice_is(verb, "kill")) {
		result = request_kill(line, &err);
	} else if (slice_is(verb, "reload")) {
		result = request_reload(&err);
	}
	if (result < 0)
		warning("%s", err.text);
}

static void
on_request(void *context, unsigned ready)
{
	struct slice line;
	size_t cursor = 0;
	int got;

	if (ipc_receive(launcher.socket, &launcher.inbox) <= 0)
		_exit(0);	/* agents see the end of their own sockets */
	while ((got = ipc_line(&launcher.inbox, &cursor, &line)) == IPC_LINE)
		launcher_request(line);
	if (got < 0)
		fatal("the scheduler sends a line without end");
	ipc_inbox_consume(&launcher.inbox, cursor);
}

/* The socket to the daemon, and what somebody gave for the service; all
 * others are closed. */
static void
launcher_place(struct process *process, int socket)
{
	int given = process->beside_fd <= 0 ? -1 :
	    fcntl(process->beside_fd, F_DUPFD, GIVEN_FD + 1);

	if (dup2(socket, SOCKET_FD) < 0 ||
	    (given >= 0 && dup2(given, GIVEN_FD) < 0))
		fatal("dup2: %s", strerror(errno));
	process->beside_fd = given >= 0 ? GIVEN_FD : 0;
	descriptors_above_close(given >= 0 ? GIVEN_FD + 1 : SOCKET_FD + 1);
	(void)fcntl(SOCKET_FD, F_SETFD, FD_CLOEXEC);
	if (given >= 0)
		(void)fcntl(GIVEN_FD, F_SETFD, FD_CLOEXEC);
}

void
launcher_main(struct process *process, int socket)
{
	err_program("launcher");
	title_set("%s launcher", process->daemon->name);
	event_open_fd(-1);
	launcher_place(process, socket);
#ifdef HAVE_SYS_PRCTL_H
	(void)prctl(PR_SET_NAME, "launcher", 0, 0, 0);
#endif
	launcher.process = process;
	launcher.socket = SOCKET_FD;
	ipc_inbox_init(&launcher.inbox);
	launcher.agents = mem_alloc(AGENTS_MAX, sizeof(struct agent));
	launcher.loop = loop_new();
	carriers_open(launcher.loop, launcher_on_agent_end);
	loop_signal(launcher.loop, SIGCHLD, launcher_on_child, NULL);
	loop_watch(launcher.loop, launcher.socket, LOOP_READ, on_request,
	    NULL);
	loop_run(launcher.loop);
	_exit(0);
}
