/* keywords.h - the extensions a session has, one row each
 *
 * What EHLO announces and what MAIL, RCPT and the verbs accept is decided
 * here, once.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SMTPSERVER_COMMAND_KEYWORDS_H
#define ZM_SMTPSERVER_COMMAND_KEYWORDS_H

#include "grammar/smtp/ehlo.h"
#include "smtpserver/session/session.h"

/* Is it offered in this session now: known to us, in order here, and not
 * withheld from the client? */
bool keyword_is_on(const struct session *session, enum ehlo_keyword keyword);

/* Append "\nKEYWORD value" for each that is on.  RFC 5321 section 4.1.1.1
 * ehlo-line. */
void keywords_add(const struct session *session, struct str *out);

#endif
