/* account.h - accounts: looking them up, and becoming one for a while
 *
 * Shared by the agents that start as root (mailbox, pipe).  Started by anybody
 * else they deliver as themselves and account_become does nothing.  While a
 * process acts as a user its real and saved uid stay root's, so that it can
 * come back and the user cannot send it signals.
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

/* Can this process become other accounts?  Decided at the first call. */
bool account_is_root(void);

/* May this text be a component of a path?  Not empty, no slash, no control
 * character, no dot in front, shorter than ACCOUNT_NAME_BYTES. */
bool account_name_is_safe(struct slice name);

enum account_found { ACCOUNT_TROUBLE = -1, ACCOUNT_NONE, ACCOUNT_FOUND };

/* Look up an account by name / by uid.  The result is valid until the next
 * call.  uid 0 and below mean the account "nobody".  If the database must be
 * asked, the process becomes root again.  ACCOUNT_TROUBLE: the user database
 * failed (errno). */
enum account_found account_by_name(struct slice name,
    const struct account **out, struct err *err);
enum account_found account_by_uid(int64_t uid, const struct account **out,
    struct err *err);

/* Make an account without a name, from the ids of a directory's owner. */
void account_of_ids(uid_t uid, gid_t gid, struct account *out);

/* May its owner run programs here: is its login shell one of those that the
 * system lists (shells(5))?  Reads that list. */
bool account_may_run(const struct account *account);

/* Use this account for files from now on.  Cheap if it is the present one.  0
 * or -1 (then we are root, or the user that started us). */
int account_become(const struct account *account, struct err *err);

/* Become root again; panics on failure. */
void account_back(void);

/* The same between two jobs, with a single system call: the groups stay those
 * of the last account until account_become or account_back is called.  Call
 * account_back before making a file as root. */
void account_rest(void);

/* Become the account for good, with all ids, and check it: in a child before
 * exec.  0 or -1. */
int account_become_for_good(const struct account *account, struct err *err);

#endif
