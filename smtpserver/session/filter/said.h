/* said.h - what filters said about a message, for the record
 *
 * A line for each: "KIND US SOCKET US HOW LF" (US: the unit separator).  KIND
 * is milter or content-filter, HOW is pass, fail, freeze, refuse or discard.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SMTPSERVER_SESSION_SAID_H
#define ZM_SMTPSERVER_SESSION_SAID_H

#include "smtpserver/session/session.h"

/* Append a line. */
void said_add(struct str *out, const char *kind, struct slice socket,
    const char *how);
/* Append a line for each word "said=HOW:SOCKET" of an answer
 * (milter/filter.h).  Other words are ignored. */
void said_take(struct str *out, const char *kind, struct slice words);

/* What this filter said last; empty: nothing. */
struct slice said_find(struct slice said, const char *kind,
    struct slice socket);

/* Append all that was said about the message of a session, also by filters that
 * let it pass: milters in the order of the configuration, up to one that ended
 * it.  was_shown: they saw the message. */
void said_of_message(const struct session *session, bool was_shown,
    struct str *out);

#endif
