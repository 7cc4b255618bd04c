/* people.h - who may log in, and what each may
 *
 * Who knows passwords is what `auth` names: a table of users, PAM or saslauthd.
 * A file has a name and a role a line, which is a table, too
 * (mail/table/table.h).  Tables are looked at again when they change; who has
 * no role is nobody, and nobody is asked for his password.
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
	const struct conf_auth *auth;	/* who knows passwords */
	struct table	*users, *roles;
};

/* users is a table's spec, where auth says that there is one; roles a file;
 * run_dir is where tables of databases are asked. */
void people_open(struct people *people, const struct conf_auth *auth,
    const char *users, const char *roles, const char *run_dir);

/* The role of a name now; ROLE_NONE: it has none, or the file cannot be read
 * (err says so, else it is empty).  domains (NULL: nobody wants them) are those
 * that it is for, blank separated, in small letters; "": all. */
enum role people_role(struct people *people, struct slice user,
    char domains[PEOPLE_DOMAINS_BYTES], struct err *err);
/* Is it the password of a user who has a role?  Takes as long for nobody as
 * for somebody: where another server is asked, PEOPLE_REFUSAL_MS at least when
 * it is not.  client is where he is. */
enum password_result people_check(struct people *people, struct slice user,
    struct slice password, const char *client, struct err *err);

#endif
