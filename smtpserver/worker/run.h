/* run.h - moving one session from step to step
 *
 * A session never waits and makes no callbacks: the worker calls session_* when
 * something happened, and then looks at session->want.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SMTPSERVER_WORKER_RUN_H
#define ZM_SMTPSERVER_WORKER_RUN_H

#include "smtpserver/session/session.h"

/* Take what has come, then run. */
void session_read(struct session *session);
/* Take steps until it must wait. */
void session_run(struct session *session);
/* When session_expire is due (clock_steady_ms). */
int64_t session_deadline(const struct session *session);
void session_expire(struct session *session);
/* We stop: 421 now, or after the message that is on its way.  is_final:
 * that message cannot be waited for. */
void session_stop(struct session *session, bool is_final);
/* Does somebody use it who may be barred at any time?  Then session_watch
 * looks for it, now and then. */
bool session_is_watched(const struct session *session);
void session_watch(struct session *session);
/* Its draft is durable, or could not be made so. */
void session_durable(struct session *session, bool is_durable);
/* The answer to its ask, or trouble.  Nothing when it does not wait. */
void session_answered(struct session *session, enum ask_state state,
    struct slice answer);
/* The peer is gone. */
void session_broken(struct session *session);

#endif
