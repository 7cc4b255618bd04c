/* ipc_link.h - our end of a socket on which lines come and go, in a loop
 *
 * This is ipc.h within a loop: a link reads, splits into lines, sends when the
 * socket is writable, and reports when the other side is gone.
 *
 * Life: ipc_link_new, lines (kind->take), its end (kind->ended, once, and
 * nothing after it), ipc_link_free.  ended and idle may free the link; take
 * may not.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_IO_IPC_LINK_H
#define ZM_IO_IPC_LINK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"
#include "io/loop.h"

struct ipc_link;

enum ipc_link_taken {
	IPC_LINK_NONSENSE = -1,	/* give the other side up */
	IPC_LINK_NEXT = 0,
	IPC_LINK_PAUSE = 1	/* no further line until ipc_link_resume */
};

/* What the links of one kind have in common.  The owner keeps the struct, which
 * must live as long as the links.  Functions other than take may be NULL. */
struct ipc_link_kind {
	/* A line has come, without its LF; valid until this returns. */
	enum ipc_link_taken (*take)(void *context, struct slice line);
	/* Another line is there and will be taken; all that are there are told
	 * before the first of them is taken, once or again. */
	void	(*foresee)(void *context, struct slice line);
	/* The other side is gone, or was given up. */
	void	(*ended)(void *context);
	/* Something came or went, and nothing waits to be sent. */
	void	(*idle)(void *context);
	size_t	 line_bytes_max;	/* a longer line is nonsense; 0:
					 * IPC_LINE_BYTES_MAX */
	size_t	 out_bytes_max;		/* if more waits to be sent after a
					 * line, the other side is given up;
					 * 0: no limit */
	bool	 reads_on;	/* reads also while something waits to be sent;
				 * false: a peer that does not read our answers
				 * is not read either */
};

/* Watch socket, which the link owns and makes non-blocking.  context is passed
 * to all functions of kind. */
struct ipc_link *ipc_link_new(struct loop *loop, int socket,
    const struct ipc_link_kind *kind, void *context);

/* Close it; unsent lines are dropped.  NULL is harmless; sets *link to NULL. */
void ipc_link_free(struct ipc_link **link);

/* What waits to be sent; the owner adds whole lines.  Lines added by take are
 * sent when all lines that came have been taken; after adding others call
 * ipc_link_send or ipc_link_resume. */
struct str *ipc_link_out(struct ipc_link *link);

/* Before a line is added: one or two descriptors go with it, which the link
 * owns from now on.  A line without its descriptors is never sent. */
void ipc_link_attach(struct ipc_link *link, const int *fds, size_t count);

/* Send what the socket takes now; the rest follows when it takes more.  If the
 * other side is gone, ended is called later, in the loop. */
void ipc_link_send(struct ipc_link *link);

/* In the next turn: take lines after a pause, send what waits. */
void ipc_link_resume(struct ipc_link *link);

/* Read once, take and send, as the loop does when the socket is ready. */
void ipc_link_turn(struct ipc_link *link);

/* Take the oldest descriptor that came with the lines; the caller then owns it.
 * returns -1 when there is none */
int ipc_link_take_fd(struct ipc_link *link);

#endif
