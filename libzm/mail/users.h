/* users.h - does this account exist, and what is its uid
 *
 * getpwnam with a cache of a minute (a second for names that do not
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

enum users_answer {
	USER_TROUBLE = -1,
	USER_NONE = 0,
	USER_FOUND = 1
};

/* returns USER_FOUND and its uid; USER_TROUBLE: the account database cannot
 * be asked now. */
enum users_answer users_find(struct users *users, struct slice name,
    int64_t *out_uid,
    struct err *err);

/* No account was found, and getpwnam_r(3) answered error: is there none?  It
 * answers 0 also when one module could not read its file and the next one
 * knew nobody (files, then systemd): that file must be readable, or nobody
 * can tell.  Some modules answer ENOENT or ESRCH, which is also what a
 * database that is not there looks like: one that knows root is there.
 * Mail must not bounce for either.
 * record   room for a record that getpwuid_r(3) may use
 * returns 0 there is no such account, else the errno why nobody can tell */
int users_why_unknown(int error, char *record, size_t record_bytes);

#endif
