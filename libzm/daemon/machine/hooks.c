/* hooks.c - is the script of hooks safe, and does it compile?
 *
 * In     the statement hooks
 * Out    a complaint, or none
 * Holds  nothing
 * Trusts nobody but the owner of the script to write it
 * Spec   doc/HOOKS.md
 *
 * SPDX-License-Identifier: ISC
 */
#include <sys/stat.h>

#include "daemon/hook/hook.h"
#include "daemon/machine/look.h"

#include "base/banned.h"

void
machine_check_hooks(const struct machine_look *look)
{
	const struct conf_hooks *hooks = &look->conf->hooks;
	struct stat st;
	struct err err;

	if (hooks->script == NULL)
		return;
	if (!hooks_are_built())
		err_set(&err, "this zmailer was built without Lua: install "
		    "liblua5.4-dev and build it again");
	else if (stat(hooks->script, &st) == 0 &&
	    (st.st_mode & (S_IWGRP | S_IWOTH)) != 0)
		err_set(&err, "the script %s: others than its owner may "
		    "write it", hooks->script);
	else if (hooks_check(hooks, &err) == 0)
		return;
	machine_tell(look, CONF_ERROR, hooks->at,
	    stat(hooks->script, &st) != 0 ? "make the file, or name another; "
	    "mail waits in deferred/ until then" :
	    "mail waits in deferred/ until it is mended", err.text);
}
