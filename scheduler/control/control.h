/* control.h - the operator's socket: RUN/scheduler.sock
 *
 * doc/protocol/control.md is the protocol.  A client's requests are answered
 * one after the other, in steps between which the loop runs; answers wait in a
 * bounded buffer until they are read.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SCHEDULER_CONTROL_H
#define ZM_SCHEDULER_CONTROL_H

#include "daemon/given.h"
#include "daemon/rights.h"
#include "scheduler/control/request.h"
#include "scheduler/agents/agents.h"

enum {
	CONTROL_WRITERS_MAX = 64,	/* clients that may write, or etrn */
	CONTROL_CLIENTS_MAX = 32,	/* others */
	CONTROL_UID_MAX = 4,		/* of these of one uid */
	CONTROL_NODES_MAX = 24,		/* of all, for users of other nodes */
	CONTROL_ACTS_MAX = 32,		/* requests at work */
	CONTROL_CLIENT_MS = 90000,	/* nothing was asked for so long */
	CONTROL_OUT_BYTES = 128 * 1024	/* more is not made before it is
					 * read; a step may go over it */
};

struct control;

/* The socket: one of given that already listens there; or made and bound, with
 * mode 0666 (the kernel identifies peers), replacing one that a dead process
 * left.  Returns the descriptor, or -1 with err. */
int control_bind(const char *run_dir, struct given *given, struct err *err);

/* Serve on that descriptor (taken over). */
struct control *control_new(struct agents *agents, int socket);
/* Serve a client that connected another way, by mailq/process.c (its socket is
 * taken over). */
void control_take(struct control *control, int socket,
    const struct rights_peer *peer);
void control_free(struct control **control);
/* The configuration was replaced: other groups may have rights. */
void control_reload(struct control *control);

/* Append the destination's names and how much waits for it, as members of an
 * open object. */
void control_thread_name(const struct thread *thread, struct str *out);
/* The last words of a destination about itself, if it is in trouble, throttles
 * us, or has mail that waits; else "". */
const char *control_thread_said(const struct thread *thread);
/* Append what feedback learned about a destination, as members of an open
 * object. */
void control_thread(const struct thread *thread, struct str *out);
/* Append when a vertex will have arrived, and how well estimates held, as
 * members of an open object; the estimate will be judged. */
void control_estimate(struct queue *queue, struct vertex *vertex,
    struct str *out);
/* The same for a message that would come for the thread now; this is not
 * judged. */
void control_estimate_thread(const struct queue *queue,
    const struct thread *thread, struct str *out);

/* ZMailer's requests were words: append the line of JSON that replaces one.
 * False: it is no such word, or this peer may not use it. */
bool control_word(const struct rights_peer *peer, struct slice line,
    struct str *out);
/* Append the answer to a line that is neither a word nor JSON, without the
 * empty line. */
void control_refuse_word(const struct rights_peer *peer, struct slice line,
    struct str *out);

#endif
