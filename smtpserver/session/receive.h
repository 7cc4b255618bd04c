/* receive.h - begin to receive a message
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SMTPSERVER_SESSION_RECEIVE_H
#define ZM_SMTPSERVER_SESSION_RECEIVE_H

#include "smtpserver/session/session.h"

/* Open the draft of the session's transaction, which has recipients, and write
 * its envelope (row S0).  This is done only now, so that a transaction that
 * ends earlier makes no file.
 * returns CONTENT_GOOD; CONTENT_NO_SPACE or CONTENT_IO, and an event says
 * why. */
enum content_fault receive_begin(struct session *session,
    enum content_form form);

#endif
