/* auth.h - what AUTH and its steps share
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SMTPSERVER_SESSION_AUTH_H
#define ZM_SMTPSERVER_SESSION_AUTH_H

#include "smtpserver/session/session.h"

/* Has the client's address failed too often of late? */
bool auth_address_is_barred(const struct session *session);

/* May this session log in: its listener offers that, somebody checks
 * passwords, and the connection is private enough? */
bool auth_is_offered(const struct session *session);

/* Append the mechanisms that are offered now, blanks between. */
void auth_add_mechanisms(const struct session *session, struct str *out);

/* The client is gone: what was under way has failed, or is given up. */
void auth_close(struct session *session);

#endif
