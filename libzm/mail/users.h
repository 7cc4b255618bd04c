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

/* Never NULL; nothing is looked up yet. */
struct users *users_new(void);
/* Forget all answers and free it; sets *users to NULL. */
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

/* No account was found, and getpwnam_r(3) returned error: is there really none?
 * It returns 0 also when one module could not read its file and the next one
 * knew nobody (files, then systemd); so that file must be readable, or the
 * answer is unknown.  Some modules return ENOENT or ESRCH, which can also mean
 * a missing database: one that knows root is there.  Mail must not bounce for
 * either.
 * record   room for a record that getpwuid_r(3) may use
 * returns 0: there is no such account; else the errno why that is unknown */
int users_why_unknown(int error, char *record, size_t record_bytes);

#endif
