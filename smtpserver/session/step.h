/* step.h - what the steps of a session share: replies and deadlines
 *
 * Only the files with steps (step_NAME) include it, and only they write
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

/* Write an answer, and do nothing else. */
void session_write(struct session *session,
    const struct session_answer *answer);

/* Write "334 LETTERS". */
void session_write_challenge(struct session *session, struct slice letters);

/* Write an answer and count it.  Returns the next step: next, or STEP_LAST if
 * the session ends. */
enum step session_say(struct session *session,
    const struct session_answer *answer, enum step next);

/* Write 421 and drop the transaction.  Returns STEP_LAST. */
enum step session_say_end(struct session *session, const char *status,
    const char *reason, const char *text);

/* Was the user who logged in barred since?  Then 421 was written, and *out_next
 * is STEP_LAST. */
bool session_is_barred(struct session *session, enum step *out_next);

/* Count a command that did not advance a message.  Returns STEP_COMMAND, or
 * STEP_LAST if there were too many of these. */
enum step session_count_idle(struct session *session);

/* The handshake is no longer waited for; reason is for the journal. */
void session_tls_failed(struct session *session, const char *reason);

/* Ask the filters about a client that has connected.
 * Returns the next step: STEP_GREET if there is nothing to ask. */
enum step session_filter_knock(struct session *session);
/* The same about a message that is complete. */
enum step session_filter_message(struct session *session);

/* Filters let the message pass: if verify-origin wants it, authenticate the
 * message before next.  Returns the next step. */
enum step session_judge(struct session *session, enum step next);

/* Write 220.  Returns the next step. */
enum step session_greet(struct session *session);

/* How long a client may be silent between commands. */
int64_t session_command_ms(const struct session *session);

/* An answer was written.  If it is a refusal that has to be held back, next
 * follows the wait.  Returns the next step. */
enum step session_hold(struct session *session,
    const struct session_answer *answer, enum step next);

/* Set the client's deadline to span_ms from now. */
void session_wait_for(struct session *session, int64_t span_ms);

#endif
