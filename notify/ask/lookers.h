/* lookers.h - who asks how receivers stand, over RUN/notify.sock
 *
 *	to it		list
 *	from it		STATE SINCE URL WORDS, a line each; then a dot
 *
 * Tools of root and of the agents' group ask; io/consult/notify_ask.h reads it.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_NOTIFY_LOOKERS_H
#define ZM_NOTIFY_LOOKERS_H

#include "daemon/callers.h"
#include "notify/receivers/receivers.h"

/* Their context is a struct receivers. */
extern const struct callers_kind lookers_kind;

#endif
