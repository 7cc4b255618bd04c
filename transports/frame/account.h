/* account.h - whose delivery this is: accounts, and becoming one for a while
 *
 * Shared by the agents that start as root (mailbox, pipe).  Started as
 * anybody else they deliver as themselves and account_become does nothing.
 * While a process is somebody else its real and saved uid stay root's, so
 * that it can come back and that this user cannot send it signals.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TRANSPORTS_ACCOUNT_H
#define ZM_TRANSPORTS_ACCOUNT_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/str.h"

enum {
	ACCOUNT_NAME_BYTES = 64,
	ACCOUNT_HOME_BYTES = 1024,
	ACCOUNT_SHELL_BYTES = 128,
	ACCOUNT_GROUPS_MAX = 64,
	ACCOUNT_CACHE = 256,		/* accounts kept */
	ACCOUNT_CACHE_FOR_MS = 30000	/* and for how long */
};

struct account {
	char	name[ACCOUNT_NAME_BYTES];
	char	home[ACCOUNT_HOME_BYTES];
	char	shell[ACCOUNT_SHELL_BYTES];
	uid_t	uid;
	gid_t	gid;
	gid_t	groups[ACCOUNT_GROUPS_MAX];
	int	group_count;
};

/* Can this process become others?  Decided at the first call. */
bool account_is_root(void);

/* May this text be a part of a path: not empty, no slash, no control, no
 * dot in front, shorter than ACCOUNT_NAME_BYTES. */
bool account_name_is_safe(struct slice name);

enum account_found { ACCOUNT_TROUBLE = -1, ACCOUNT_NONE, ACCOUNT_FOUND };

/* Look up an account by name / by uid.  The result stays valid until the
 * next call.  uid 0 and below mean the account "nobody".  When the database
 * must be asked the process is root again.
 * ACCOUNT_TROUBLE: the user database failed (errno). */
enum account_found account_by_name(struct slice name,
    const struct account **out, struct err *err);
enum account_found account_by_uid(int64_t uid, const struct account **out,
    struct err *err);

/* A made-up account: the owner of a directory, without a name. */
void account_of_ids(uid_t uid, gid_t gid, struct account *out);

/* May its owner run programs here: is its login shell one of those that the
 * system lists (shells(5))?  Reads that list. */
bool account_may_run(const struct account *account);

/* Act as this account on files from now on.  Cheap when it is the present
 * one.  0 or -1 (then we are root, or what we were started as). */
int account_become(const struct account *account, struct err *err);

/* Be root again.  A failure cannot be: panic. */
void account_back(void);

/* The same between two jobs, at the price of one call: groups stay those of
 * the last account until somebody is become or account_back is called.  Who
 * makes a file as root calls that first. */
void account_rest(void);

/* For ever, with all ids, checked: in a child before exec.  0 or -1. */
int account_become_for_good(const struct account *account, struct err *err);

#endif
