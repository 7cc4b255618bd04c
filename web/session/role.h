/* role.h - what a user who logged in may do
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_WEB_ROLE_H
#define ZM_WEB_ROLE_H

#include "base/str.h"

/* Each may do what those before it may; but ROLE_HELP may give some orders
 * about mail of its domains, and sees nothing else. */
enum role {
	ROLE_NONE,
	ROLE_HELP,		/* mail of some domains */
	ROLE_LOOK,		/* every page */
	ROLE_ACT,		/* orders about mail */
	ROLE_ADMINISTER		/* all that is ordered about the machine */
};

/* Parse a word of the table of roles; ROLE_NONE: it is not a role. */
enum role role_parse(struct slice word);
/* May a user with role has do what needs role needs?  may_help: ROLE_HELP may,
 * too, for mail of its domains. */
bool role_may(enum role has, enum role needs, bool may_help);

#endif
