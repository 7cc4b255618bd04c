/* dovecot.h - AUTH exchanges that Dovecot judges
 *
 * A helper (helper.h) with many exchanges at once over one connection to
 * Dovecot's auth-client socket.  Questions and answers: login.h.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SMTPSERVER_AUTH_DOVECOT_H
#define ZM_SMTPSERVER_AUTH_DOVECOT_H

#include "daemon/skeleton.h"

enum {
	DOVECOT_EXCHANGES_MAX = 4096,
	DOVECOT_EXCHANGE_MS = 300000,	/* then it is forgotten */
	DOVECOT_CONNECT_MS = 5000
};

/* Serve the listener over socket until it has gone. */
void auth_dovecot_serve(struct process *process, int socket);

#endif
