/* control.h - the operator's socket: RUN/scheduler.sock
 *
 * A client writes one line, reads JSON lines up to an empty one, and may go
 * on.  Read only for now:
 *	queue		a line a thread, then one with the totals
 *	job INODE	a line a vertex of that message
 *	next		a line for each vertex that waits: file, offset of its
 *			first recipient, when it is tried next
 * A refusal is {"error":"..."}.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SCHEDULER_CONTROL_H
#define ZM_SCHEDULER_CONTROL_H

#include "scheduler/state.h"

enum {
	CONTROL_LINE_BYTES_MAX = 256,
	CONTROL_CLIENTS_MAX = 32,
	CONTROL_CLIENT_MS = 90000	/* a client's life */
};

/* Make and bind the socket, mode 0660, replacing one that a dead process
 * left.  Returns the descriptor, or -1 with err. */
int control_bind(const char *run_dir, struct err *err);

/* Serve on that descriptor (taken over). */
void control_open(struct scheduler *scheduler, int socket);
void control_close(struct scheduler *scheduler);

/* Answer one line (without LF): lines appended to out, the empty one
 * included.  Pure but for the clock; the client is not trusted. */
void control_answer(const struct scheduler *scheduler, struct slice line,
    struct str *out);

#endif
