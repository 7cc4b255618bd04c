/* role.c - what somebody who logged in may do
 *
 * In     a word
 * Out    a role
 * Spec   role.h
 *
 * SPDX-License-Identifier: ISC
 */
#include "web/session/role.h"

#include "base/banned.h"

static const char *const names[] = { [ROLE_NONE] = "none",
    [ROLE_HELP] = "help", [ROLE_LOOK] = "look", [ROLE_ACT] = "act",
    [ROLE_ADMINISTER] = "administer" };

enum role
role_parse(struct slice word)
{
	for (int i = ROLE_HELP; i <= ROLE_ADMINISTER; i++)
		if (slice_is(word, names[i]))
			return (enum role)i;
	return ROLE_NONE;
}

bool
role_may(enum role has, enum role needs, bool may_help)
{
	return has >= needs || (has == ROLE_HELP && may_help);
}
