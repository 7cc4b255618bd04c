/* keeper.h - where passwords are looked at
 *
 * A process forked by the doorman before it gives up root, as the one that
 * keeps the keys: it forks a helper (helper.h) for each socket that the
 * doorman gives it.  Those may read a table of passwords that only root can
 * read (Linux; else what the account can), and, for `auth pam` alone, are
 * root.  Nothing but questions of helper.h reaches them.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SMTPSERVER_AUTH_KEEPER_H
#define ZM_SMTPSERVER_AUTH_KEEPER_H

#include "daemon/skeleton.h"

struct auth_keeper;

/* Has this configuration work for one? */
bool auth_keeper_is_wanted(const struct conf *conf);

/* Fork it; in the child child_fn closes what is not its business (NULL:
 * nothing is open yet).  NULL with err. */
struct auth_keeper *auth_keeper_start(struct process *process,
    loop_fn *child_fn, void *context, struct err *err);
void auth_keeper_free(struct auth_keeper **keeper);
/* In a child: close our socket. */
void auth_keeper_in_child(struct auth_keeper *keeper);

/* A socket to a new helper.  -1 with err. */
int auth_keeper_open(struct auth_keeper *keeper, struct err *err);
/* The helpers to come have the configuration as it is now. */
void auth_keeper_reload(struct auth_keeper *keeper);

#endif
