/* cut_through.h - the client waits for the next hop's answer (route ...
 * cut-through)
 *
 * 	EXPECT   the scheduler is told that a message comes, before it has a
 * 	         name that the router sees
 * 	STORE    durable and published, as every message
 * 	VERDICT  the scheduler is asked what became of it
 * 	STORED   the client hears 250 and the next hop's words, its refusal, or
 * 	         250 as ever
 *
 * The queue has the message from STORE on, whatever happens to the session.
 * The client is responsible for a refusal when the scheduler has got `told`,
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

/* A recipient was taken: its domain may have such a route. */
void cut_through_note_rcpt(struct session *session, const struct path *rcpt);

/* The message is whole, and next is what follows.  Returns that, or
 * STEP_EXPECT when the client is to wait. */
enum step cut_through_begin(struct session *session, enum step next);

/* It is stored, or was not.  Returns STEP_VERDICT, or STEP_STORED when the
 * client does not wait. */
enum step cut_through_stored(struct session *session);

#endif
