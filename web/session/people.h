/* people.h - which users may log in, and their roles
 *
 * `auth` names what knows passwords: a table of users, PAM, saslauthd or
 * Dovecot.  A file with lines of a name and a role is a table, too
 * (mail/table/table.h).  Tables are read again when they change.  A user
 * without a role is nobody, and no server is asked for that password.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_WEB_PEOPLE_H
#define ZM_WEB_PEOPLE_H

#include "base/err.h"
#include "conf/conf.h"
#include "tls/login/password.h"
#include "web/session/role.h"

enum {			/* with the NUL */
	PEOPLE_NAME_BYTES = 64, PEOPLE_DOMAINS_BYTES = 1024,
	PEOPLE_REFUSAL_MS = 3000
};

struct table;
struct people {
	const struct conf_auth *auth;	/* what knows passwords */
	struct table	*users, *roles;
};

/* users is a table's spec, if auth names a table; roles is a file; tables of
 * databases are asked in run_dir. */
void people_open(struct people *people, const struct conf_auth *auth,
    const char *users, const char *roles, const char *run_dir);

/* The role of a name now; ROLE_NONE: it has none, or the file cannot be read
 * (err says so, else it is empty).  domains (may be NULL): the domains that the
 * role is for, separated by blanks, in lower case; "": all. */
enum role people_role(struct people *people, struct slice user,
    char domains[PEOPLE_DOMAINS_BYTES], struct err *err);
/* Is it the password of a user who has a role?  This takes equally long for
 * users without a role: if another server is asked, a refusal takes at least
 * PEOPLE_REFUSAL_MS.  client is the user's address. */
enum password_result people_check(struct people *people, struct slice user,
    struct slice password, const char *client, struct err *err);

#endif
