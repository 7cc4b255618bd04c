/* intake.h - what POST /send needs of the process that orders
 *
 * Two things that the one that serves may not do itself: connect to our own
 * submission listener, the only one there is a way to, and ask the journal
 * whether a message was taken.  Neither needs a session, as who sends has
 * none: the listener checks the password.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_WEB_INTAKE_H
#define ZM_WEB_INTAKE_H

#include "web/orders/calls.h"

/* Answer the calls that come over this socket (taken) from now on. */
void intake_dial_open(struct order_desk *orders, int fd);

/* The call trace SINCE UNTIL WHAT: zmailer trace of a Message-ID
 * ("msgid:...") or of a sender ("from:..."). */
void intake_trace(struct order_desk *orders, unsigned serial,
    const char *const *words);

#endif
