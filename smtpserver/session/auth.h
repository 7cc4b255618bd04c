/* auth.h - what AUTH and its steps share
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SMTPSERVER_SESSION_AUTH_H
#define ZM_SMTPSERVER_SESSION_AUTH_H

#include "smtpserver/session/session.h"

/* Have logins from the client's address failed too often recently? */
bool auth_address_is_barred(const struct session *session);

/* May this session log in?  Its listener must offer that, passwords must be
 * checked by something, and the connection must be private enough. */
bool auth_is_offered(const struct session *session);

/* Append the mechanisms that are offered now, separated by blanks. */
void auth_add_mechanisms(const struct session *session, struct str *out);

/* The client is gone: end a login under way, which has failed or is given
 * up. */
void auth_close(struct session *session);

#endif
