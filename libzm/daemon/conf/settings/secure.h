/* secure.h - certificates, and who may log in
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_DAEMON_CONF_SETTINGS_SECURE_H
#define ZM_DAEMON_CONF_SETTINGS_SECURE_H

#include <stdbool.h>

#include "daemon/conf/at.h"

struct conf_certificate {	/* tls certificate FILE key FILE [for NAME] */
	const char	*file, *key;	/* PEM; the first row is the default */
	const char	*name;		/* NULL: the names in it */
	struct conf_at	 at;
};

struct conf_auth {		/* auth ...: who checks passwords */
	enum conf_auth_kind {
		AUTH_NONE, AUTH_USERS, AUTH_DOVECOT, AUTH_PAM, AUTH_SASLAUTHD
	} kind;
	const char	*table;		/* AUTH_USERS: its name */
	const char	*path;		/* a socket: dovecot, saslauthd */
	const char	*service;	/* pam, saslauthd: "smtp" */
	const char	*mechanisms;	/* that are offered, blanks between;
					 * without those of SCRAM's that
					 * need TLS */
	bool		 clear_loopback;	/* without TLS from loopback */
	struct conf_at	 at;
};

#endif
