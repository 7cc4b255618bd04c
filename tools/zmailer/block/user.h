/* user.h - can the user who is to be blocked log in at all?
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_BLOCK_USER_H
#define ZM_TOOLS_BLOCK_USER_H

#include "tools/change/change.h"

/* A name that cannot log in is a mistake if a table has all users; otherwise
 * only a note says so, because others (PAM, LDAP) may know it.
 * 0 or an exit status, after words about it. */
int user_look(const struct change *change, const char *user);

#endif
