/* built.c - scripts, in a program with Lua and in one without
 *
 * SPDX-License-Identifier: ISC
 */
#include "daemon/hook/hook.h"
#include "daemon/hook/script.h"

#include "base/banned.h"

#ifdef HAVE_LUA

bool
hooks_are_built(void)
{
	return true;
}

#else

bool
hooks_are_built(void)
{
	return false;
}

struct script *
script_new(const struct conf_hooks *conf, struct slice text,
    struct script_port *port)
{
	size_t start = hook_frame_begin(&port->out, 'E');

	hook_field_add(&port->out, SLICE("error"));
	hook_field_add(&port->out, SLICE("this zmailer was built without "
	    "Lua: install liblua5.4-dev and build it again"));
	hook_frame_end(&port->out, start);
	return NULL;
}

bool
script_call(struct script *script, struct slice fields)
{
	return false;
}

void
script_free(struct script **script)
{
}

#endif
