/* dovecot_lines.h - the lines of Dovecot's auth-client protocol
 *
 * For who keeps many exchanges over one connection (smtpserver/auth) and for
 * who asks once (auth_dovecot_check).
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_DAEMON_AUTH_DOVECOT_LINES_H
#define ZM_DAEMON_AUTH_DOVECOT_LINES_H

#include <stdbool.h>

#include "base/str.h"

/* Add the first line of a connection: who we are. */
void dovecot_add_greeting(struct str *out);

/* Add "AUTH\tID\t..." for args: mechanism, our end, the client's end (as
 * "[::1]:587"; what has no port is left out), "tls" or "clear", the response in
 * base64 ("=": an empty one; "-": none).  false: nonsense, nothing added. */
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
