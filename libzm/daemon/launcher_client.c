/* launcher_client.c - the scheduler's end of the launcher
 *
 * In     wishes for agents; exit notices
 * Out    request lines, one write each; calls to launcher_exit_fn
 * Holds  the socket, the inbox
 * Spec   launcher.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "daemon/launcher.h"
#include "io/ipc.h"

#include "base/banned.h"

static struct {
	int			 socket;
	bool			 is_open;
	struct watch		*watch;
	struct ipc_inbox	 inbox;
	launcher_exit_fn	*fn;
	void			*context;
	launcher_begin_fn	*begin_fn;
	void			*begin_context;
} client;

int
launcher_fork(struct process *process, struct err *err)
{
	int ends[2];
	pid_t pid;

	if (ipc_pair(ends, err) < 0)
		return -1;
	pid = fork();
	if (pid < 0) {
		close(ends[0]);
		close(ends[1]);
		return err_sys(err, "cannot fork the launcher");
	}
	if (pid == 0)
		launcher_main(process, ends[1]);
	close(ends[1]);
	(void)fcntl(ends[0], F_SETFL, O_NONBLOCK);
	client.socket = ends[0];
	client.is_open = true;
	ipc_inbox_init(&client.inbox);
	return 0;
}

/* "exit TOKEN PID STATUS", "begin TOKEN PID"; the launcher is ours, yet a
 * line that is not so is dropped. */
static void
launcher_notice(struct slice line)
{
	uint64_t numbers[3] = { 0, 0, 0 };
	struct slice verb, word;
	size_t count = 0;

	if (!slice_word(&line, &verb))
		return;
	while (count < 3 && slice_word(&line, &word))
		if (!slice_number(word, 0, UINT32_MAX, &numbers[count++]))
			return;
	if (count == 3 && slice_is(verb, "exit") && client.fn != NULL)
		client.fn(client.context, (unsigned)numbers[0],
		    (pid_t)numbers[1], (int)numbers[2]);
	if (count == 2 && slice_is(verb, "begin") && client.begin_fn != NULL)
		client.begin_fn(client.begin_context, (unsigned)numbers[0],
		    (pid_t)numbers[1]);
}

static void
on_notice(void *context, unsigned ready)
{
	struct slice line;
	size_t cursor = 0;
	int got = ipc_receive(client.socket, &client.inbox);

	if (got < 0 && errno == EAGAIN)
		return;
	if (got <= 0)	/* without it no agent can be started */
		fatal("the launcher is gone");
	while ((got = ipc_line(&client.inbox, &cursor, &line)) == IPC_LINE)
		launcher_notice(line);
	if (got < 0)
		fatal("the launcher sends a line without end");
	ipc_inbox_consume(&client.inbox, cursor);
}

void
launcher_attach(struct process *process)
{
	client.watch = loop_watch(process->loop, client.socket, LOOP_READ,
	    on_notice, NULL);
}

void
launcher_on_exit(struct process *process, launcher_exit_fn *fn,
    void *context)
{
	client.fn = fn;
	client.context = context;
}

void
launcher_on_begin(struct process *process, launcher_begin_fn *fn,
    void *context)
{
	client.begin_fn = fn;
	client.begin_context = context;
}

static int
launcher_ask(const struct str *line, const int *fds, size_t count,
    struct err *err)
{
	ssize_t n;

	if (!client.is_open)
		return err_set(err, "this process has no launcher");
	n = ipc_send(client.socket, str_slice(line), fds, count);
	if (n == (ssize_t)line->len)
		return 0;
	if (n == 0)
		return err_set(err, "the launcher is too busy to answer");
	if (n > 0)	/* half a line cannot be taken back */
		fatal("the launcher took half a request");
	return err_sys(err, "cannot reach the launcher");
}

int
launcher_start_agent(unsigned clause, const char *channel, int socket,
    unsigned token, struct err *err)
{
	struct str line = STR_INIT;
	int result;

	str_addf(&line, "start %u %s %u\n", clause, channel, token);
	result = launcher_ask(&line, &socket, 1, err);
	str_release(&line);
	return result;
}

int
launcher_start_beside(int socket, struct err *err)
{
	struct str line = STR_INIT;
	int result;

	str_adds(&line, "beside\n");
	result = launcher_ask(&line, &socket, 1, err);
	str_release(&line);
	return result;
}

int
launcher_kill_agent(unsigned token, struct err *err)
{
	struct str line = STR_INIT;
	int result;

	str_addf(&line, "kill %u\n", token);
	result = launcher_ask(&line, NULL, 0, err);
	str_release(&line);
	return result;
}

void
launcher_reload(void)
{
	struct str line = STR_INIT;
	struct err err;

	if (!client.is_open)
		return;
	str_adds(&line, "reload\n");
	if (launcher_ask(&line, NULL, 0, &err) < 0)
		warning("%s; agents keep the old configuration", err.text);
	str_release(&line);
}

void
launcher_forget(void)
{
	if (!client.is_open)
		return;
	client.is_open = false;
	client.watch = NULL;	/* its loop is gone */
	close(client.socket);
	ipc_inbox_release(&client.inbox);
}
