/* cut_through.h - the client waits for the next hop's answer (route ...
 * cut-through)
 *
 * 	EXPECT   the scheduler is told that a message comes, before it has a
 * 	         name that the router sees
 * 	STORE    durable, copied and published, as every message
 * 	VERDICT  the scheduler is asked what became of it
 * 	STORED   the client gets 250 with the next hop's words, its refusal, or
 * 	         250 as usual
 *
 * The queue has the message from STORE on, whatever happens to the session.
 * The client becomes responsible for a refusal when the scheduler gets `told`,
 * which is sent with the refusal itself; if `told` is lost, the sender is
 * notified twice, by us and by the client.  scheduler/verdicts/verdicts.h has
 * the lines.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SMTPSERVER_SESSION_CUT_THROUGH_H
#define ZM_SMTPSERVER_SESSION_CUT_THROUGH_H

#include "smtpserver/session/session.h"

/* The kind of its questions. */
extern const char cut_through_kind[];

/* A recipient was accepted: note it if its domain has such a route. */
void cut_through_note_rcpt(struct session *session, const struct path *rcpt);

/* The message is complete.  Returns the next step: next unless it is to be
 * stored; STEP_EXPECT if the client is to wait; else that of copy_begin. */
enum step cut_through_begin(struct session *session, enum step next);

/* It was stored, or that failed.  Returns STEP_VERDICT, or STEP_STORED if the
 * client does not wait. */
enum step cut_through_stored(struct session *session);

#endif
