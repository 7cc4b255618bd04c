/* ipc.c - lines and descriptors between our own processes
 *
 * In     text and descriptors for a peer; whatever the peer sends
 * Out    whole lines, descriptors in the order they were sent
 * Holds  the inbox: bytes and descriptors nobody has taken yet
 * Trusts no length and no count of the peer's
 * Spec   unix(7), SCM_RIGHTS
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "io/ipc.h"

#include "base/banned.h"

enum {
	RECEIVE_BYTES = 8191,	/* with their end two pages */
	INBOX_FDS_FIRST = 4,
	INBOX_FDS_MAX = IPC_FDS_MAX * 4
};

#ifndef MSG_CMSG_CLOEXEC
#define MSG_CMSG_CLOEXEC 0
#endif

union control {			/* aligned room for IPC_FDS_MAX descriptors */
	struct cmsghdr	head;
	char		bytes[CMSG_SPACE(sizeof(int) * IPC_FDS_MAX)];
};

int
ipc_pair(int out_ends[2], struct err *err)
{
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, out_ends) == 0)
		return 0;
	return err_sys(err, "cannot make a socket pair");
}

static void
control_fill(struct msghdr *message, union control *control, const int *fds,
    size_t count)
{
	struct cmsghdr *head;

	memset(control, 0, CMSG_SPACE(sizeof(int) * count));
	message->msg_control = control->bytes;
	message->msg_controllen = CMSG_SPACE(sizeof(int) * count);
	head = CMSG_FIRSTHDR(message);
	head->cmsg_level = SOL_SOCKET;
	head->cmsg_type = SCM_RIGHTS;
	head->cmsg_len = CMSG_LEN(sizeof(int) * count);
	memcpy(CMSG_DATA(head), fds, sizeof(int) * count);
}

ssize_t
ipc_send(int socket, struct slice text, const int *fds, size_t count)
{
	union control control;
	struct msghdr message;
	struct iovec vector;
	size_t sent = 0;

	if (count > IPC_FDS_MAX) {
		errno = EINVAL;
		return -1;
	}
	while (sent < text.n) {
		ssize_t n;

		memset(&message, 0, sizeof(message));
		vector.iov_base = (void *)(uintptr_t)(text.p + sent);
		vector.iov_len = text.n - sent;
		message.msg_iov = &vector;
		message.msg_iovlen = 1;
		if (sent == 0 && count > 0)
			control_fill(&message, &control, fds, count);
		n = sendmsg(socket, &message, MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			break;
		if (n < 0)
			return -1;
		sent += (size_t)n;
	}
	return (ssize_t)sent;
}

void
ipc_inbox_init(struct ipc_inbox *inbox)
{
	memset(inbox, 0, sizeof(*inbox));
	str_init(&inbox->bytes);
	inbox->read_bytes = RECEIVE_BYTES;
}

void
ipc_inbox_release(struct ipc_inbox *inbox)
{
	for (size_t i = 0; i < inbox->fd_count; i++)
		close(inbox->fds[i]);
	inbox->fd_count = inbox->fd_room = 0;
	mem_free(&inbox->fds);
	str_release(&inbox->bytes);
}

void
ipc_inbox_shrink(struct ipc_inbox *inbox)
{
	if (inbox->bytes.len == 0)
		str_release(&inbox->bytes);
}

static void
inbox_add_fd(struct ipc_inbox *inbox, int fd)
{
	if (inbox->fd_count == inbox->fd_room) {
		inbox->fd_room = inbox->fd_room > 0 ? 2 * inbox->fd_room :
		    INBOX_FDS_FIRST;
		inbox->fds = mem_grow(inbox->fds, inbox->fd_room,
		    sizeof(*inbox->fds));
	}
	inbox->fds[inbox->fd_count++] = fd;
}

/* Keep what fits.  Returns false when some had to be closed. */
static bool
fds_take(struct ipc_inbox *inbox, const struct cmsghdr *head)
{
	size_t count = (head->cmsg_len - CMSG_LEN(0)) / sizeof(int);
	bool all = true;

	for (size_t i = 0; i < count; i++) {
		int fd;

		memcpy(&fd, CMSG_DATA(head) + i * sizeof(int), sizeof(fd));
		if (inbox->fd_count == INBOX_FDS_MAX) {
			close(fd);
			all = false;
			continue;
		}
		if (MSG_CMSG_CLOEXEC == 0)
			(void)fcntl(fd, F_SETFD, FD_CLOEXEC);
		inbox_add_fd(inbox, fd);
	}
	return all;
}

enum ipc_answer
ipc_receive(int socket, struct ipc_inbox *inbox)
{
	union control control;
	struct msghdr message;
	struct iovec vector;
	bool all = true;
	ssize_t n;

	memset(&message, 0, sizeof(message));
	vector.iov_base = str_room(&inbox->bytes, inbox->read_bytes);
	vector.iov_len = inbox->read_bytes;
	message.msg_iov = &vector;
	message.msg_iovlen = 1;
	message.msg_control = control.bytes;
	message.msg_controllen = sizeof(control.bytes);
	do
		n = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return IPC_TROUBLE;
	for (struct cmsghdr *head = CMSG_FIRSTHDR(&message); head != NULL;
	    head = CMSG_NXTHDR(&message, head))
		if (head->cmsg_level == SOL_SOCKET &&
		    head->cmsg_type == SCM_RIGHTS)
			all = fds_take(inbox, head) && all;
	if (!all || (message.msg_flags & MSG_CTRUNC)) {
		errno = EMSGSIZE;	/* lines and descriptors do not match */
		return IPC_TROUBLE;
	}
	if (n == 0)
		return IPC_END;
	inbox->bytes.len += (size_t)n;
	inbox->bytes.buf[inbox->bytes.len] = '\0';
	return IPC_GOT;
}

bool
ipc_await(int socket, int wait_ms)
{
	struct pollfd one = { .fd = socket, .events = POLLIN };
	int got;

	do
		got = poll(&one, 1, wait_ms);
	while (got < 0 && errno == EINTR);
	return got != 0;
}

enum ipc_line_answer
ipc_line(const struct ipc_inbox *inbox, size_t *cursor,
    struct slice *out_line)
{
	const char *start = inbox->bytes.buf + *cursor;
	size_t left = inbox->bytes.len - *cursor;
	const char *end = left > 0 ? memchr(start, '\n', left) : NULL;
	size_t n = end != NULL ? (size_t)(end - start) : left;

	if (n > IPC_LINE_BYTES_MAX)
		return IPC_LINE_TOO_LONG;
	if (end == NULL)
		return IPC_LINE_NONE;
	out_line->p = start;
	out_line->n = n;
	*cursor += n + 1;
	return IPC_LINE;
}

void
ipc_inbox_consume(struct ipc_inbox *inbox, size_t bytes)
{
	if (bytes > 0)
		str_consume(&inbox->bytes, bytes);
}

int
ipc_take_fd(struct ipc_inbox *inbox)
{
	int fd;

	if (inbox->fd_count == 0)
		return -1;
	fd = inbox->fds[0];
	inbox->fd_count--;
	memmove(inbox->fds, inbox->fds + 1,
	    inbox->fd_count * sizeof(inbox->fds[0]));
	return fd;
}
