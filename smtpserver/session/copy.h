/* copy.h - a message is copied to other machines before it is accepted
 *
 * 	copy_begin   it is complete: share is asked
 * 	STORE        it is made durable here, at the same time
 * 	copy_await   it is durable
 * 	COPY         share has not answered yet
 * 	publish.h    both are done: it gets its name, the client its 250
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SMTPSERVER_SESSION_COPY_H
#define ZM_SMTPSERVER_SESSION_COPY_H

#include "smtpserver/session/session.h"

/* A message is complete and to be stored.  If the cluster keeps copies, ask for
 * one.  Returns the next step: STEP_STORE, unless it is refused. */
enum step copy_begin(struct session *session);

/* The message is durable.  Returns the next step: STEP_COPY if its copy is
 * still asked for, else what follows its publication. */
enum step copy_await(struct session *session);

/* The message is not accepted, or its session ends before that: have its copy
 * removed, if it may have one. */
void copy_drop(struct session *session);

#endif
