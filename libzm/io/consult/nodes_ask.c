/* nodes_ask.c - another node of the cluster, by way of the process nodes
 *
 * In     a node's name
 * Out    a connection that leads there, or why not
 * Holds  nothing
 * Trusts nothing: the answer is bounded, in bytes and in time
 * Spec   nodes_ask.h; doc/protocol/nodes.md
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "io/consult/nodes_ask.h"
#include "io/unix_socket.h"

#include "base/banned.h"

/* Byte by byte, because what comes after the line is the caller's. */
static int
nodes_hear(int fd, char line[NODES_LINE_BYTES_MAX], size_t *out_n,
    struct err *err)
{
	int64_t end_ms = clock_steady_ms() + NODES_ASK_FOR_MS;

	*out_n = 0;
	while (*out_n < NODES_LINE_BYTES_MAX) {
		struct pollfd ready = { .fd = fd, .events = POLLIN };
		int64_t left_ms = end_ms - clock_steady_ms();
		ssize_t n;

		if (left_ms <= 0)
			return err_set(err, "the process nodes of this "
			    "machine says nothing for %d s (zmailer status)",
			    NODES_ASK_FOR_MS / 1000);
		if (poll(&ready, 1, (int)left_ms) <= 0)
			continue;
		n = recv(fd, line + *out_n, 1, 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return err_set(err, "the process nodes hung up");
		if (line[*out_n] == '\n')
			return 0;
		++*out_n;
	}
	return err_set(err, "its answer has no end");
}

static int
nodes_call(int fd, const char *node, enum nodes_want want, int64_t *out_ends_s,
    struct err *err)
{
	char line[NODES_LINE_BYTES_MAX];
	struct str call = STR_INIT;
	struct slice words;
	uint64_t ends_s;
	ssize_t sent;
	size_t n;

	str_addf(&call, "to %s %s\n", node, nodes_want_name(want));
	sent = send(fd, call.buf, call.len, MSG_NOSIGNAL);
	n = call.len;
	str_release(&call);
	if (sent < 0 || (size_t)sent != n)
		return err_sys(err, "ask the process nodes");
	if (nodes_hear(fd, line, &n, err) < 0)
		return -1;
	switch (nodes_answer_parse((struct slice){ line, n }, &ends_s,
	    &words)) {
	case NODES_OK:
		if (out_ends_s != NULL)
			*out_ends_s = (int64_t)ends_s;
		return 0;
	case NODES_NO:
		errno = EACCES;
		if (slice_starts(words, NODES_DENIED))
			return err_sys(err, SLICE_FMT, SLICE_ARG(words));
		return err_set(err, SLICE_FMT, SLICE_ARG(words));
	case NODES_NONSENSE:
		break;
	}
	return err_set(err, "the process nodes said nonsense");
}

int
nodes_ask(const char *run_dir, const char *node, enum nodes_want want,
    int64_t *out_ends_s, struct err *err)
{
	int fd = unix_socket_connect_in(run_dir, NODES_SOCKET, 0, err);

	if (fd < 0)
		return -1;
	if (nodes_call(fd, node, want, out_ends_s, err) == 0)
		return fd;
	close(fd);
	return -1;
}
