/* ask.h - what a session asks of a helper process
 *
 * A session never blocks its worker.  A helper is asked what would block (DNS,
 * tables, users, passwords): a command handler calls session_ask and returns;
 * the session waits in STEP_ASK with WANT_ANSWER, later commands wait in the
 * stream, and when the answer comes, or its time is over, the command goes on
 * in answered_fn, which fills the reply (or asks again).
 *
 * 	handler     session_ask(session, "dns", question, 0, fn); return;
 * 	worker      "ask TOKEN KIND QUESTION"  to the listener
 * 	listener     to a helper of that kind (helpers.h), or queued
 * 	helper      "TOKEN ok ANSWER" or "TOKEN trouble WORDS"
 * 	worker      session_answered -> STEP_COMMAND -> fn(..., out)
 *
 * A session asks one question at a time, so their number is bounded by the
 * sessions; each has a deadline.  A missing answer counts as trouble, which is
 * 451 for the client unless a setting says otherwise.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SMTPSERVER_HELPER_ASK_H
#define ZM_SMTPSERVER_HELPER_ASK_H

#include <stdint.h>

#include "base/str.h"

enum {
	ASK_TEXT_BYTES_MAX = 16384,	/* of a question, of an answer */
	ASK_FOR_MS = 30000,		/* until it counts as trouble */
	ASK_NOBODY = 1		/* a token that asks_open never gives: nobody
				 * waits for the answer */
};

enum ask_state {
	ASK_WAITING,
	ASK_ANSWERED,
	ASK_TROUBLE		/* answer: why, for the journal */
};

struct session;
struct session_answer;

struct ask;

typedef void answered_fn(struct session *session, struct slice args,
    const struct ask *ask, struct session_answer *out);

struct ask {
	const char	*kind;		/* static: row of helper_kinds */
	struct str	 question;	/* one line, any bytes but LF */
	struct str	 answer;	/* one line */
	enum ask_state	 state;
	int64_t		 for_ms;
	int		 scope;		/* of the answer: enum fact_scope */
	/* Goes on where the handler stopped.  args: of the command, once
	 * more.  Fills out or asks again; the ask is freed after it. */
	answered_fn	*answered_fn;
};

/* A question, which is copied; one that has an LF or is too long is answered
 * with trouble at once.  for_ms 0: ASK_FOR_MS. */
struct ask *ask_new(const char *kind, struct slice question, int64_t for_ms,
    answered_fn *fn);

/* Free it and null *ask; passwords in it are overwritten. */
void ask_free(struct ask **ask);

/* ---- who waits for which answer --------------------------------------- */

/* Tokens for things that wait: found by token until closed, however late an
 * answer comes. */
struct asks;

/* A set of tokens; empty. */
struct asks *asks_new(void);
/* Owners are not freed. */
void asks_free(struct asks **asks);
/* A token, never 0, for owner (not NULL). */
uint64_t asks_open(struct asks *asks, void *owner);
/* The owner; NULL: closed, or never was. */
void *asks_find(const struct asks *asks, uint64_t token);
/* Closes and zeroes *token; harmless when it is 0. */
void asks_close(struct asks *asks, uint64_t *token);

#endif
