/* check.h - whether a password is a user's
 *
 * Runs where nobody else waits for it: in a process of auth/process.c's.
 * The questions and answers: login.h.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SMTPSERVER_AUTH_CHECK_H
#define ZM_SMTPSERVER_AUTH_CHECK_H

#include "conf/conf.h"
#include "daemon/auth/servers.h"

struct auth_check;

/* conf must outlive it and have a back end that is asked here (auth users,
 * pam, saslauthd).  secret: the same for all processes and for as long as
 * users who are not there shall look the same. */
struct auth_check *auth_check_new(const struct conf *conf,
    struct slice secret);
void auth_check_free(struct auth_check **check);

/* Answer one question: a helper_fn (helper.h). */
bool auth_check_answer(void *check, struct slice question, struct str *out);

#endif
