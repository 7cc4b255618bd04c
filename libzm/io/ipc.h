/* ipc.h - lines and descriptors between our own processes
 *
 * A stream socket pair; text lines end in LF.  Descriptors are attached to the
 * first byte of the line that they belong to (SCM_RIGHTS).  The other side may
 * have been taken over: lines are bounded, unexpected descriptors are closed.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_IO_IPC_H
#define ZM_IO_IPC_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/str.h"

enum {
	IPC_FDS_MAX = 64,		/* in one message */
	IPC_LINE_BYTES_MAX = 1 << 20	/* longer: the peer is broken */
};

/* A close-on-exec stream socket pair.  0 or -1. */
int ipc_pair(int out_ends[2], struct err *err);

/* Write text with fds attached to its first byte (count may be 0).  A blocking
 * socket takes all of it.
 * returns how many bytes were taken, 0..text.n (0 also for EAGAIN); -1 with
 * errno.  After 0 the caller must pass the descriptors again, after more it
 * must not; they stay the caller's. */
ssize_t ipc_send(int socket, struct slice text, const int *fds, size_t count);

/* What a receiver has collected: bytes and descriptors. */
struct ipc_inbox {
	struct str	bytes;
	size_t		read_bytes;	/* asked for at once; may be changed */
	int		*fds;		/* NULL until some came */
	size_t		fd_count, fd_room;
};
void ipc_inbox_init(struct ipc_inbox *inbox);
/* Close the descriptors that were not taken, and free the bytes. */
void ipc_inbox_release(struct ipc_inbox *inbox);
enum ipc_answer {
	IPC_TROUBLE = -1,
	IPC_END = 0,
	IPC_GOT = 1
};

/* One recvmsg into the inbox.  returns IPC_END at the end of file,
 * IPC_TROUBLE with errno (EAGAIN on a non-blocking socket; EMSGSIZE when the
 * peer sent more descriptors than the inbox holds: it is broken, so close it).
 */
enum ipc_answer ipc_receive(int socket, struct ipc_inbox *inbox);

/* Sleep until there is something to receive, or wait_ms are over (-1: as long
 * as it takes).  A recvmsg that sleeps is woken by the kernel each time the
 * peer has read what we sent, for nothing; this is not.  True: ipc_receive
 * says what there is, or what is wrong. */
bool ipc_await(int socket, int wait_ms);

enum ipc_line_answer {
	IPC_LINE_TOO_LONG = -1,
	IPC_LINE_NONE = 0,
	IPC_LINE = 1
};

/* The next whole line without its LF.  *cursor starts at 0 and counts bytes;
 * call ipc_inbox_consume(inbox, cursor) after the last line.
 * returns IPC_LINE_TOO_LONG beyond IPC_LINE_BYTES_MAX. */
enum ipc_line_answer ipc_line(const struct ipc_inbox *inbox, size_t *cursor,
    struct slice *out_line);
void ipc_inbox_consume(struct ipc_inbox *inbox, size_t bytes);
/* Keep no room while nothing is in it: for who has thousands of them. */
void ipc_inbox_shrink(struct ipc_inbox *inbox);
/* Take the oldest descriptor, which the caller then owns; -1 when there is
 * none. */
int ipc_take_fd(struct ipc_inbox *inbox);

#endif
