/* role.h - what somebody who logged in may do
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_WEB_ROLE_H
#define ZM_WEB_ROLE_H

#include "base/str.h"

/* Each may what those before it may. */
enum role {
	ROLE_NONE,
	ROLE_LOOK,		/* every page */
	ROLE_ACT,		/* orders about mail */
	ROLE_ADMINISTER		/* all that is ordered about the machine */
};

/* Read a word of the table of roles; ROLE_NONE: it is none. */
enum role role_parse(struct slice word);

#endif
