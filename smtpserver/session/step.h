/* step.h - what the steps of a session share: replies and deadlines
 *
 * The files with steps (step_NAME) include it, nobody else: they alone write
 * replies.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SMTPSERVER_SESSION_STEP_H
#define ZM_SMTPSERVER_SESSION_STEP_H

#include "smtpserver/session/session.h"

enum { SESSION_MAGIC = 0x5e5510a1 };

typedef enum step step_fn(struct session *session);

/* step_greet, step_command ...: one for each row of steps.h. */
#define STEP(symbol, name, next, text) step_fn step_##name;
#include "smtpserver/session/steps.h"
#undef STEP

/* Write an answer; no more. */
void session_write(struct session *session,
    const struct session_answer *answer);

/* Write "334 LETTERS". */
void session_write_challenge(struct session *session, struct slice letters);

/* Write an answer and count it.  Returns the step that follows: next, or
 * the last one when the session is over. */
enum step session_say(struct session *session,
    const struct session_answer *answer, enum step next);

/* 421 and the end: drops the transaction.  Returns the last step. */
enum step session_say_end(struct session *session, const char *status,
    const char *reason, const char *text);

/* Has who logged in been barred since?  421 is said then, and *out_next is the
 * last step. */
bool session_is_barred(struct session *session, enum step *out_next);

/* A command did not bring a message nearer.  Returns STEP_COMMAND, or the
 * last step when there were too many of these. */
enum step session_count_idle(struct session *session);

/* The handshake is not to be waited for any more: words for the journal. */
void session_tls_failed(struct session *session, const char *reason);

/* Ask the filters about a client that has connected.
 * Returns the step that follows: STEP_GREET when nothing is to be asked. */
enum step session_filter_knock(struct session *session);
/* ... about the message that has come whole. */
enum step session_filter_message(struct session *session);

/* Filters let it pass, and next is what follows: judge whose mail it is first,
 * when that is to be known (verify-origin).  Returns the step that follows. */
enum step session_judge(struct session *session, enum step next);

/* Say 220.  Returns the step that follows. */
enum step session_greet(struct session *session);

/* How long a client may be silent between commands. */
int64_t session_command_ms(const struct session *session);

/* An answer was said: when it is a refusal that has to wait, next becomes
 * what follows the wait.  Returns the step that follows. */
enum step session_hold(struct session *session,
    const struct session_answer *answer, enum step next);

/* The client has so long, from now on. */
void session_wait_for(struct session *session, int64_t span_ms);

#endif
