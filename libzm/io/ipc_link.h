/* ipc_link.h - our end of a socket on which lines come and go, in a loop
 *
 * ipc.h within a loop: it reads, splits into lines, sends when the socket is
 * writable, and reports when the other side is gone.
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
	IPC_LINK_NONSENSE = -1,	/* the other side is given up */
	IPC_LINK_NEXT = 0,
	IPC_LINK_PAUSE = 1	/* no further line until ipc_link_resume */
};

/* What the links of one kind have in common.  The struct stays the owner's
 * and must live as long as the links.  Only take must be there. */
struct ipc_link_kind {
	/* A line has come, without its LF; valid until this returns. */
	enum ipc_link_taken (*take)(void *context, struct slice line);
	/* The other side is gone, or was given up. */
	void	(*ended)(void *context);
	/* Something came or went, and nothing waits to be sent. */
	void	(*idle)(void *context);
	size_t	 line_bytes_max;	/* a longer line is nonsense; 0:
					 * IPC_LINE_BYTES_MAX */
	size_t	 out_bytes_max;		/* more waits after a line: it is given
					 * up; 0: no limit */
	bool	 reads_on;	/* also while something waits to be sent; else
				 * who does not read answers is not asked for
				 * more */
};

/* Watch socket (taken, made non-blocking).  context is given to all functions
 * of kind. */
struct ipc_link *ipc_link_new(struct loop *loop, int socket,
    const struct ipc_link_kind *kind, void *context);

/* Close it; what waits is dropped.  NULL is harmless; sets *link to NULL. */
void ipc_link_free(struct ipc_link **link);

/* What waits to be sent: the owner adds whole lines.  What take adds is sent
 * when the lines that came are taken; else call ipc_link_send, or
 * ipc_link_resume. */
struct str *ipc_link_out(struct ipc_link *link);

/* Send what the socket takes now; the rest follows when it takes more.  That
 * the other side is gone shows later: ended is called in the loop. */
void ipc_link_send(struct ipc_link *link);

/* In the next turn: take lines after a pause, send what waits. */
void ipc_link_resume(struct ipc_link *link);

/* Read once, take and send, as the loop does when the socket is ready. */
void ipc_link_turn(struct ipc_link *link);

/* The oldest descriptor that came with the lines; the caller's.
 * returns -1 when there is none */
int ipc_link_take_fd(struct ipc_link *link);

#endif
