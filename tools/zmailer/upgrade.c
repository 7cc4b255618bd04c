/* upgrade.c - zmailer upgrade
 *
 * In     the running and the installed programs
 * Out    the installed programs run; words about it
 * Spec   zmailer-upgrade(8); tools/run/upgrading.h
 *
 * SPDX-License-Identifier: ISC
 */
#include "tools/run/supervisor.h"
#include "tools/zmailer/verbs/verb.h"

#include "base/banned.h"

int
verb_upgrade(struct arguments *arguments)
{
	return running_upgrade(arguments->conf_path,
	    arguments_has(arguments, OPT_CHECK),
	    arguments_has(arguments, OPT_AGAIN));
}
