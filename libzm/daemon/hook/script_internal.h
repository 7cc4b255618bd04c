/* script_internal.h - what script.c, script_zm.c, script_header.c share
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_DAEMON_HOOK_SCRIPT_INTERNAL_H
#define ZM_DAEMON_HOOK_SCRIPT_INTERNAL_H

#ifdef HAVE_LUA
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

#include "daemon/hook/hook.h"
#include "daemon/hook/script.h"

struct script {
	lua_State		*lua;
	const struct conf_hooks	*conf;
	struct script_port	*port;
	const char		*file;		/* last part of the path */
	size_t			 used_bytes;
	unsigned		 refused_line;	/* where memory was refused */
	uint64_t		 steps;		/* of this call */
	int64_t			 until_ms;
	bool			 is_over;	/* a bound was exceeded */
	unsigned		 lookups, logs;
	struct slice		 fields;	/* of the question */
	struct str		 answer;	/* of the call */
};

/* The script that a state belongs to. */
struct script *script_of(lua_State *lua);
/* The line that runs now; 0: none. */
unsigned script_line(lua_State *lua);

/* script_zm.c: set the global zm / append the value at index (nil or one of
 * its verdicts) as the first fields of A. */
void script_zm_open(lua_State *lua);
void script_verdict_add(lua_State *lua, int index, struct str *out);

/* script_header.c: push the header of the question / append its changes. */
void script_header_open(lua_State *lua);
void script_header_push(lua_State *lua, struct slice fields);
void script_header_edits(lua_State *lua, int index, struct str *out);

#endif
#endif
