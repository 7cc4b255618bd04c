/* control.h - the operator's socket: RUN/scheduler.sock
 *
 * doc/protocol/control.md is the protocol.  A client's requests are done
 * one after the other, in steps between which the loop runs; what was
 * answered waits in a bounded buffer until it is read.
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
	CONTROL_ACTS_MAX = 32,		/* requests at work */
	CONTROL_CLIENT_MS = 90000,	/* nothing was asked for so long */
	CONTROL_OUT_BYTES = 128 * 1024	/* more is not made before it is
					 * read; a step may go over it */
};

struct control;

/* The socket: one of given, which listens there already; or made and bound,
 * mode 0666 (who may what is asked of the kernel), in place of one that a
 * dead process left.  Returns the descriptor, or -1 with err. */
int control_bind(const char *run_dir, struct given *given, struct err *err);

/* Serve on that descriptor (taken over). */
struct control *control_new(struct agents *agents, int socket);
/* A client who came another way (taken over): one of mailq/process.c. */
void control_take(struct control *control, int socket,
    const struct rights_peer *peer);
void control_free(struct control **control);
/* The configuration was replaced: other groups may count. */
void control_reload(struct control *control);

/* Which destination it is and how much waits for it, as members of an open
 * object. */
void control_thread_name(const struct thread *thread, struct str *out);
/* The last words of a destination about itself, as long as they matter: it is
 * in trouble, throttles us, or has mail that waits; else "". */
const char *control_thread_said(const struct thread *thread);
/* What feedback learned of a destination, as members of an open object. */
void control_thread(const struct thread *thread, struct str *out);
/* When a vertex will have arrived, and how honest that is, as members of an
 * open object; it will be judged by that. */
void control_estimate(struct queue *queue, struct vertex *vertex,
    struct str *out);
/* The same of a message that would come for the thread now; nobody is judged
 * by it. */
void control_estimate_thread(const struct queue *queue,
    const struct thread *thread, struct str *out);

/* The requests that ZMailer had are words: the line of JSON that one stands
 * for,
 * appended to out.  False: it is none, or not for this peer. */
bool control_word(const struct rights_peer *peer, struct slice line,
    struct str *out);
/* What is said of a line that is neither a word nor JSON, without the empty
 * one. */
void control_refuse_word(const struct rights_peer *peer, struct slice line,
    struct str *out);

#endif
