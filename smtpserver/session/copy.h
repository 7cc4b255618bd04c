/* copy.h - a message is copied to other machines before it is accepted
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SMTPSERVER_SESSION_COPY_H
#define ZM_SMTPSERVER_SESSION_COPY_H

#include "smtpserver/session/session.h"

/* What follows the judgement of a message.  If the cluster keeps copies, and
 * it is to be stored, ask for one first.  Returns the next step. */
enum step copy_begin(struct session *session, enum step next);

/* The message is not accepted, or its session ends before that: have its copy
 * removed, if it may have one. */
void copy_drop(struct session *session);

#endif
