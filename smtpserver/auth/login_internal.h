/* login_internal.h - what the files login*.c share; nobody else includes it
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SMTPSERVER_AUTH_LOGIN_INTERNAL_H
#define ZM_SMTPSERVER_AUTH_LOGIN_INTERNAL_H

#include "smtpserver/auth/login.h"

struct login_row {
	const char	*name;		/* "": any that is offered */
	/* NULL: the client speaks first, an empty challenge asks for it. */
	enum login_next	(*begin)(struct login *login, struct str *out);
	enum login_next	(*take)(struct login *login, struct slice response,
			    struct str *out);
	enum login_next	(*answered)(struct login *login, struct slice answer,
			    struct str *out);
};

/* login_scram.c */
enum login_next login_scram_take(struct login *login, struct slice response,
    struct str *out);
enum login_next scram_answered(struct login *login, struct slice answer,
    struct str *out);

/* Words for out, and what to return. */
enum login_next login_say(enum login_next next, struct str *out,
    const char *words);
/* Keep who it is said to be.  false: no such name can be. */
bool login_claim(struct login *login, struct slice user);

#endif
