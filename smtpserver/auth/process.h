/* process.h - the process that checks passwords
 *
 * A process forked by the listener before it drops root, like the one that
 * keeps the keys: it forks a helper (helper.h) for each socket that the
 * listener gives it.  Helpers may read a table of passwords that only root can
 * read (on Linux; else what the account can), and are root only for `auth pam`.
 * Only questions of helper.h reach them.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SMTPSERVER_AUTH_PROCESS_H
#define ZM_SMTPSERVER_AUTH_PROCESS_H

#include "daemon/skeleton.h"

struct auth_process;

/* Does this configuration need one? */
bool auth_process_is_wanted(const struct conf *conf);

/* Fork it; in the child child_fn closes the listener's descriptors (NULL:
 * nothing is open yet).  NULL with err. */
struct auth_process *auth_process_start(struct process *process,
    loop_fn *child_fn, void *context, struct err *err);
/* Watch it from now on; the process has a loop. */
void auth_process_attach(struct auth_process *auth);
/* Close its socket, which ends it, and wait for that. */
void auth_process_free(struct auth_process **auth);

/* A socket to a new helper.  -1 with err. */
int auth_process_open(struct auth_process *auth, struct err *err);
/* New helpers get the present configuration. */
void auth_process_reload(struct auth_process *auth);

#endif
