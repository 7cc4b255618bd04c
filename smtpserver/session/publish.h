/* publish.h - a message that is durable gets its name
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SMTPSERVER_SESSION_PUBLISH_H
#define ZM_SMTPSERVER_SESSION_PUBLISH_H

#include "smtpserver/session/session.h"

/* Rows S1 to S2, or to D1 in freezer/: the message is durable, and has its
 * copy if it is to have one.  Returns the next step. */
enum step publish_durable(struct session *session);

/* It could not be made durable, or not be renamed: nothing of it stays, also
 * no copy, and the client hears so.  Returns the next step. */
enum step publish_failed(struct session *session);

#endif
