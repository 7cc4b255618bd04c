/* servers.h - who else knows passwords: PAM, saslauthd
 *
 * Each call waits for the answer: it is made in a process of its own.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_DAEMON_AUTH_SERVERS_H
#define ZM_DAEMON_AUTH_SERVERS_H

#include "base/err.h"

enum auth_result { AUTH_YES = 1, AUTH_NO = 0, AUTH_TROUBLE = -1 };

/* Is it this user's password?  service is the name that PAM, or saslauthd, has
 * for us; client, where the user is; path, saslauthd's socket.  Strings without
 * NUL in them.  AUTH_TROUBLE (err): nobody can tell now. */
enum auth_result auth_pam_check(const char *service, const char *user,
    const char *password, const char *client, struct err *err);
enum auth_result auth_saslauthd_check(const char *path, const char *service,
    const char *user, const char *password, struct err *err);

#endif
