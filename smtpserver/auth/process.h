/* process.h - where passwords are looked at
 *
 * A process forked by the listener before it gives up root, as the one that
 * keeps the keys: it forks a helper (helper.h) for each socket that the
 * listener gives it.  Those may read a table of passwords that only root can
 * read (Linux; else what the account can), and, for `auth pam` alone, are
 * root.  Nothing but questions of helper.h reaches them.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SMTPSERVER_AUTH_PROCESS_H
#define ZM_SMTPSERVER_AUTH_PROCESS_H

#include "daemon/skeleton.h"

struct auth_process;

/* Has this configuration work for one? */
bool auth_process_is_wanted(const struct conf *conf);

/* Fork it; in the child child_fn closes what is not its business (NULL:
 * nothing is open yet).  NULL with err. */
struct auth_process *auth_process_start(struct process *process,
    loop_fn *child_fn, void *context, struct err *err);
/* Watch it from now on; the process has a loop. */
void auth_process_attach(struct auth_process *auth);
/* Close its socket, which ends it, and wait for that. */
void auth_process_free(struct auth_process **auth);

/* A socket to a new helper.  -1 with err. */
int auth_process_open(struct auth_process *auth, struct err *err);
/* The helpers to come have the configuration as it is now. */
void auth_process_reload(struct auth_process *auth);

#endif
