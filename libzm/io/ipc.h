/* ipc.h - lines and descriptors between our own processes
 *
 * A stream socket pair; text lines end in LF.  Descriptors ride on the
 * first byte of the lines they belong to (SCM_RIGHTS).  The other side may
 * be taken over: lines are bounded and unexpected descriptors are closed.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_IO_IPC_H
#define ZM_IO_IPC_H

#include <sys/types.h>

#include "base/err.h"
#include "base/str.h"

enum {
	IPC_FDS_MAX = 64,		/* in one message */
	IPC_LINE_BYTES_MAX = 1 << 20	/* longer: the peer is broken */
};

/* A close-on-exec stream socket pair.  0 or -1. */
int ipc_pair(int out_ends[2], struct err *err);

/* Write all of text with fds attached to its first byte (count may be 0).
 * On a blocking socket writes everything.  On a non-blocking one returns
 * what was taken: 0..text.n, or -1 (errno EAGAIN taken as 0).  Descriptors
 * go with the first byte: after 0 they must be given again, after more
 * they must not. */
ssize_t ipc_send(int socket, struct slice text, const int *fds, size_t count);

/* Receiver: collected bytes and descriptors. */
struct ipc_inbox {
	struct str	bytes;
	int		fds[IPC_FDS_MAX * 4];
	size_t		fd_count;
};
void ipc_inbox_init(struct ipc_inbox *inbox);
/* Close descriptors that were not taken; free. */
void ipc_inbox_release(struct ipc_inbox *inbox);
enum ipc_answer {
	IPC_TROUBLE = -1,
	IPC_END = 0,
	IPC_GOT = 1
};

/* One recvmsg into the inbox.  returns IPC_END at the end of file,
 * IPC_TROUBLE with errno (EAGAIN on a non-blocking socket; EMSGSIZE when the
 * peer sent more descriptors than the inbox holds: it is broken, close it). */
enum ipc_answer ipc_receive(int socket, struct ipc_inbox *inbox);

enum ipc_line_answer {
	IPC_LINE_TOO_LONG = -1,
	IPC_LINE_NONE = 0,
	IPC_LINE = 1
};

/* Next whole line without its LF; *cursor counts from 0 over bytes; call
 * ipc_inbox_consume(inbox, cursor) after the last one.
 * returns IPC_LINE_TOO_LONG beyond IPC_LINE_BYTES_MAX. */
enum ipc_line_answer ipc_line(const struct ipc_inbox *inbox, size_t *cursor,
    struct slice *out_line);
void ipc_inbox_consume(struct ipc_inbox *inbox, size_t bytes);
/* Take the oldest descriptor; -1 when there is none. */
int ipc_take_fd(struct ipc_inbox *inbox);

#endif
