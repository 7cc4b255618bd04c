/* gather.c - what several nodes say, each heard by a process of its own
 *
 * In     the names of nodes, what is to be done with each
 * Out    what that wrote, and its exit status
 * Holds  NODES_OUT_BYTES_MAX a node
 * Trusts nothing: what is more than that is dropped, and said to be
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "tools/nodes/internal.h"

#include "base/banned.h"

enum { GATHER_OUT, GATHER_ERR, GATHER_ENDS, PIECE_BYTES = 65536 };

struct gather_child {
	pid_t	pid;
	int	fds[GATHER_ENDS];	/* -1: at its end */
};

static void __attribute__((noreturn))
gather_work(const int fds[GATHER_ENDS], nodes_work_fn *work, void *context,
    const char *node)
{
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC), status;

	if (null < 0 || dup2(null, STDIN_FILENO) < 0 ||
	    dup2(fds[GATHER_OUT], STDOUT_FILENO) < 0 ||
	    dup2(fds[GATHER_ERR], STDERR_FILENO) < 0)
		_exit(NODES_SILENT);
	closefrom(STDERR_FILENO + 1);
	status = work(context, node);
	fflush(stdout);
	fflush(stderr);
	_exit(status);
}

static int
gather_start(struct gather_child *child, struct nodes_part *part,
    nodes_work_fn *work, void *context)
{
	int out[2], said[2];

	if (pipe2(out, O_CLOEXEC) != 0)
		return -1;
	if (pipe2(said, O_CLOEXEC) != 0) {
		close(out[0]);
		close(out[1]);
		return -1;
	}
	child->pid = fork();
	if (child->pid == 0)
		gather_work((int[]){ out[1], said[1] }, work, context,
		    part->node);
	close(out[1]);
	close(said[1]);
	child->fds[GATHER_OUT] = out[0];
	child->fds[GATHER_ERR] = said[0];
	return child->pid < 0 ? -1 : 0;
}

/* false: that is its end. */
static bool
gather_read(int fd, struct str *into, bool *is_cut)
{
	char piece[PIECE_BYTES];
	ssize_t n = read(fd, piece, sizeof(piece));

	if (n < 0 && errno == EINTR)
		return true;
	if (n > 0 && into->len + (size_t)n <= NODES_OUT_BYTES_MAX)
		str_add(into, piece, (size_t)n);
	else if (n > 0)
		*is_cut = true;
	return n > 0;
}

/* Its time is over: what it has said so far may be half of it. */
static void
gather_end(struct gather_child *children, struct nodes_part *parts,
    size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (children[i].pid <= 0 || (children[i].fds[GATHER_OUT] < 0 &&
		    children[i].fds[GATHER_ERR] < 0))
			continue;
		(void)kill(children[i].pid, SIGKILL);
		str_reset(&parts[i].out);
		str_reset(&parts[i].err);
		str_adds(&parts[i].err, "it did not come to an end in time\n");
	}
}

static void
gather_hear(struct gather_child *children, struct nodes_part *parts,
    size_t count, int64_t until_ms)
{
	struct pollfd fds[NODES_AT_ONCE * GATHER_ENDS];
	size_t left = 0;

	for (size_t i = 0; i < count * GATHER_ENDS; i++) {
		fds[i] = (struct pollfd){ .events = POLLIN,
		    .fd = children[i / GATHER_ENDS].fds[i % GATHER_ENDS] };
		left += fds[i].fd >= 0;
	}
	while (left > 0) {
		int64_t left_ms = until_ms - clock_steady_ms();

		if (left_ms <= 0) {
			gather_end(children, parts, count);
			break;
		}
		if (poll(fds, count * GATHER_ENDS, (int)left_ms) < 0 &&
		    errno != EINTR)
			return;
		for (size_t i = 0; i < count * GATHER_ENDS; i++) {
			struct nodes_part *part = &parts[i / GATHER_ENDS];

			if (fds[i].fd < 0 || fds[i].revents == 0 ||
			    gather_read(fds[i].fd, i % GATHER_ENDS ==
			    GATHER_OUT ? &part->out : &part->err,
			    &part->is_cut))
				continue;
			close(fds[i].fd);
			children[i / GATHER_ENDS].fds[i % GATHER_ENDS] =
			    fds[i].fd = -1;
			left--;
		}
	}
	for (size_t i = 0; i < count * GATHER_ENDS; i++)
		if (fds[i].fd >= 0)
			close(fds[i].fd);
}

static void
gather_some(struct nodes_part *parts, size_t count, nodes_work_fn *work,
    void *context, int64_t until_ms)
{
	struct gather_child children[NODES_AT_ONCE];

	for (size_t i = 0; i < count; i++) {
		children[i] = (struct gather_child){ -1, { -1, -1 } };
		if (gather_start(&children[i], &parts[i], work, context) < 0)
			str_addf(&parts[i].err, "%s\n", strerror(errno));
	}
	gather_hear(children, parts, count, until_ms);
	for (size_t i = 0; i < count; i++) {
		int status = NODES_SILENT;

		while (children[i].pid > 0 && waitpid(children[i].pid,
		    &status, 0) < 0 && errno == EINTR)
			;
		parts[i].status = children[i].pid > 0 && WIFEXITED(status) ?
		    WEXITSTATUS(status) : NODES_SILENT;
	}
}

void
nodes_gather(struct nodes_parts *parts, nodes_work_fn *work, void *context,
    int64_t for_ms)
{
	fflush(stdout);
	fflush(stderr);
	for (size_t at = 0; at < parts->count; at += NODES_AT_ONCE)
		gather_some(parts->parts + at, parts->count - at <
		    NODES_AT_ONCE ? parts->count - at : NODES_AT_ONCE, work,
		    context, clock_steady_ms() + for_ms);
}
