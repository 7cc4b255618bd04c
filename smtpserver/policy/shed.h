/* shed.h - what is given up when there are too many sessions
 *
 * Pure.  By the part of `limit sessions` that is used:
 *
 * 	below 70%	SHED_NOTHING
 * 	from 70%	SHED_WAITING	greet-pause and tarpit are left out,
 * 			and a client may be silent for 30 s instead of
 * 			`timeout command`: slots are free sooner
 * 	from 85%	SHED_SECOND	a stranger who has a session gets no
 * 			second one
 * 	from 95%	SHED_STRANGERS	strangers get none: the rest is for
 * 			those who may relay, and for our own users
 * 	at the limit	SHED_ALL	nobody gets one
 *
 * A stranger connects to a listener that is not for submission, from an address
 * that no rule allows to relay.  Clients that are shed get 421 4.3.2 and come
 * again; no message is ever dropped.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SMTPSERVER_POLICY_SHED_H
#define ZM_SMTPSERVER_POLICY_SHED_H

#include <stdbool.h>

enum shed_level {
	SHED_NOTHING, SHED_WAITING, SHED_SECOND, SHED_STRANGERS, SHED_ALL
};

enum { SHED_SILENCE_MS = 30000 };

/* The level for this number of sessions.  limit 0: nothing is ever shed. */
enum shed_level shed_level(unsigned sessions, unsigned limit);

/* May another session begin?  client_sessions: how many the client has
 * already. */
bool shed_admits(enum shed_level level, bool is_stranger,
    unsigned client_sessions);

#endif
