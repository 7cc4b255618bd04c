/* intake.h - what POST /send needs of the process that orders
 *
 * The process that serves may not do two things itself: connect to our own
 * submission listener, and ask the journal whether a message was accepted.
 * Neither needs a session, because a sender has none: the listener checks the
 * password.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_WEB_INTAKE_H
#define ZM_WEB_INTAKE_H

#include "web/orders/calls.h"

/* Answer the calls over this socket (owned from now on). */
void intake_dial_open(struct order_desk *orders, int fd);

/* The call trace SINCE UNTIL WHAT: zmailer trace of a Message-ID
 * ("msgid:...") or of a sender ("from:..."). */
void intake_trace(struct order_desk *orders, unsigned serial,
    const char *const *words);

#endif
