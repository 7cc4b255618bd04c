/* role.h - what somebody who logged in may do
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_WEB_ROLE_H
#define ZM_WEB_ROLE_H

#include "base/str.h"

/* Each may what those before it may, but that who helps may order some things
 * about the mail of his domains, and sees nothing else. */
enum role {
	ROLE_NONE,
	ROLE_HELP,		/* mail of some domains */
	ROLE_LOOK,		/* every page */
	ROLE_ACT,		/* orders about mail */
	ROLE_ADMINISTER		/* all that is ordered about the machine */
};

/* Read a word of the table of roles; ROLE_NONE: it is none. */
enum role role_parse(struct slice word);
/* May who has this role do what needs that one?  may_help: who helps may, too,
 * about mail of his domains. */
bool role_may(enum role has, enum role needs, bool may_help);

#endif
