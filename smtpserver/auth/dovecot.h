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

/* ---- lines, for tests ------------------------------------------------- */

/* "AUTH\tID\t..." for the words after "start"; false: nonsense. */
bool dovecot_add_auth(struct str *out, unsigned id, struct slice args);

struct dovecot_reply {
	enum dovecot_verb {
		DOVECOT_OTHER, DOVECOT_CONT, DOVECOT_OK, DOVECOT_FAIL
	} verb;
	unsigned	id;
	struct slice	data;		/* CONT: base64 */
	struct slice	user;		/* OK, FAIL */
	bool		is_temporary;	/* FAIL */
};

/* Parse a line of Dovecot's.  false: a verb with nothing after it. */
bool dovecot_reply_parse(struct slice line, struct dovecot_reply *out);

#endif
