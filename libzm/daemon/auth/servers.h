/* servers.h - other programs that check passwords: PAM, saslauthd,
 * Dovecot
 *
 * Each call waits for the answer: it is made in a process of its own.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_DAEMON_AUTH_SERVERS_H
#define ZM_DAEMON_AUTH_SERVERS_H

#include "base/err.h"

enum auth_result { AUTH_YES = 1, AUTH_NO = 0, AUTH_TROUBLE = -1 };

/* Is it this user's password?  service is our name at PAM or saslauthd, client
 * the user's address, path the socket of saslauthd or Dovecot; user and
 * password end at their NUL.  AUTH_TROUBLE (err): that is not known now. */
enum auth_result auth_pam_check(const char *service, const char *user,
    const char *password, const char *client, struct err *err);
enum auth_result auth_saslauthd_check(const char *path, const char *service,
    const char *user, const char *password, struct err *err);
/* With SASL PLAIN (RFC 4616) of a client whose connection is encrypted. */
enum auth_result auth_dovecot_check(const char *path, const char *user,
    const char *password, const char *client, struct err *err);

#endif
