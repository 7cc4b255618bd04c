/* users.h - does this account exist, and what is its uid
 *
 * getpwnam behind a memory of a minute (a second for names that do not
 * exist: the next mail after adduser must find it).
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_MAIL_USERS_H
#define ZM_MAIL_USERS_H

#include "base/err.h"
#include "base/str.h"

struct users;

/* Nothing is asked for yet. */
struct users *users_new(void);
/* Forgets all answers; sets *users to NULL. */
void users_free(struct users **users);

/* returns 1 and its uid; 0 no such account; -1 the account database cannot
 * be asked now. */
int users_find(struct users *users, struct slice name, int64_t *out_uid,
    struct err *err);

#endif
