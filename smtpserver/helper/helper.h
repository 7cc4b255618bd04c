/* helper.h - processes that answer questions which would block a session
 *
 * Each kind is a row of listener/helper_kinds.c.  Helpers are forked by the
 * listener when first needed, under its own account; or they are another
 * daemon's process that listens on a socket in the run directory (the router,
 * which may read what we may not).  The lines are the same:
 *
 * 	to it		TOKEN QUESTION
 * 	from it		TOKEN ok ANSWER  |  TOKEN trouble WHY
 *
 * QUESTION and ANSWER are one line of any bytes but LF.  Answers may come in
 * any order.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SMTPSERVER_HELPER_HELPER_H
#define ZM_SMTPSERVER_HELPER_HELPER_H

#include "daemon/skeleton.h"

struct helper_kind {
	const char	*name;		/* one word */
	unsigned	 processes;	/* at the most */
	unsigned	 at_once;	/* questions one has in hand */
	int64_t		 for_ms;	/* in the queue, or in hand: then the
					 * answer is trouble, and a helper
					 * that has it in hand hangs: killed */
	/* What a forked one does; returns when the listener has gone. */
	void		(*serve)(struct process *process, int socket);
	const char	*socket;	/* serve is NULL: in the run dir */
	/* Both are NULL: the listener opens it (helpers_open_with). */
	bool		 outlives_reload;	/* needs nothing that changes */
	/* Questions "PID-..." are for that process: it has what they go on
	 * with.  After a reload it hears "leave", and goes when it has
	 * nothing left. */
	bool		 keeps;
	/* Of a socket in the run dir: when nobody listens there, questions
	 * wait for who comes next, for_ms at the most. */
	bool		 awaits;
};

/* Questions to the DNS: helper/dns.c has them. */
void dns_serve(struct process *process, int socket);

/* ---- the frame of those that answer one at a time --------------------- */

/* Answer one question: fill out (empty) with a line.  false: trouble, out
 * says why. */
typedef bool helper_fn(void *state, struct slice question, struct str *out);

/* For a kind with at_once 1: answer one question after the other, blocking,
 * until the listener has gone. */
void helper_serve(int socket, helper_fn *fn, void *state);

/* Append "TOKEN ok TEXT\n" (or trouble); LF in text becomes a blank, what is
 * longer than ASK_TEXT_BYTES_MAX is trouble. */
void helper_add_answer(struct str *out, struct slice token, bool is_ok,
    struct slice text);

#endif
