/* check.h - checking a user's password
 *
 * Runs in a process of auth/process.c, where nobody else waits for it.  The
 * questions and answers: login.h.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SMTPSERVER_AUTH_CHECK_H
#define ZM_SMTPSERVER_AUTH_CHECK_H

#include "conf/conf.h"
#include "daemon/auth/servers.h"

struct auth_check;

/* conf must outlive it and have a back end of this process (auth users, pam,
 * saslauthd).  secret: the same for all processes as long as unknown users
 * shall always look the same. */
struct auth_check *auth_check_new(const struct conf *conf,
    struct slice secret);
void auth_check_free(struct auth_check **check);

/* Answer one question: a helper_fn (helper.h). */
bool auth_check_answer(void *check, struct slice question, struct str *out);

#endif
