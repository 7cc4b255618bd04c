/* script_zm.c - the table zm: what a script can ask for and answer
 *
 * In     calls of the script
 * Out    verdicts as values; lookups and log lines on the port
 * Holds  nothing outside the state
 * Trusts no argument: every text has a bound
 * Spec   doc/HOOKS.md
 *
 * SPDX-License-Identifier: ISC
 */
#ifdef HAVE_LUA
#include <stdio.h>
#include <string.h>

#include "daemon/hook/script_internal.h"

#include "base/banned.h"

static const char verdict_type[] = "zm.verdict";

struct verdict {
	enum hook_verdict	verdict;
	unsigned		line;
	size_t			code_bytes, text_bytes;
	char			bytes[];	/* code, text */
};

/* ---- verdicts --------------------------------------------------------- */

static struct slice
text_at(lua_State *lua, int index)
{
	size_t n;
	const char *p = luaL_checklstring(lua, index, &n);

	if (n > SCRIPT_WORDS_BYTES_MAX)
		luaL_error(lua, "words of a verdict have at most %d bytes",
		    SCRIPT_WORDS_BYTES_MAX);
	if (memchr(p, 0, n) != NULL)
		luaL_error(lua, "words of a verdict have no NUL");
	return (struct slice){ p, n };
}

static int
verdict_push(lua_State *lua, enum hook_verdict kind, struct slice code,
    struct slice text)
{
	struct verdict *verdict = lua_newuserdatauv(lua, sizeof(*verdict) +
	    code.n + text.n, 0);

	*verdict = (struct verdict){ kind, script_line(lua), code.n, text.n };
	if (code.n > 0)
		memcpy(verdict->bytes, code.p, code.n);
	if (text.n > 0)
		memcpy(verdict->bytes + code.n, text.p, text.n);
	luaL_setmetatable(lua, verdict_type);
	return 1;
}

static int
zm_accept(lua_State *lua)
{
	return verdict_push(lua, HOOK_ACCEPT, SLICE(""), SLICE(""));
}

/* zm.reject("text"), zm.reject(550, "text"), zm.reject("5.7.1", "text") */
static int
zm_reject(lua_State *lua)
{
	if (lua_gettop(lua) > 1)
		return verdict_push(lua, HOOK_REJECT, text_at(lua, 1),
		    text_at(lua, 2));
	return verdict_push(lua, HOOK_REJECT, SLICE(""), text_at(lua, 1));
}

static int
zm_defer(lua_State *lua)
{
	return verdict_push(lua, HOOK_DEFER, SLICE(""), text_at(lua, 1));
}

static int
zm_freeze(lua_State *lua)
{
	return verdict_push(lua, HOOK_FREEZE, SLICE(""), text_at(lua, 1));
}

/* zm.via(target), zm.via(target, "text") */
static int
zm_via(lua_State *lua)
{
	return verdict_push(lua, HOOK_VIA, lua_isnoneornil(lua, 2) ?
	    SLICE("") : text_at(lua, 2), text_at(lua, 1));
}

/* zm.at(moment), zm.at(moment, "text"): seconds since 1970 */
static int
zm_at(lua_State *lua)
{
	lua_Number when = luaL_checknumber(lua, 1);
	char text[24];

	if (!(when >= 0 && when < 1e12))
		return luaL_error(lua, "a moment is a number of seconds since "
		    "1970: message.now + 3600");
	snprintf(text, sizeof(text), "%lld", (long long)when);
	return verdict_push(lua, HOOK_AT, slice_of(text), lua_isnone(lua, 2) ?
	    SLICE("") : text_at(lua, 2));
}

static int
zm_drop(lua_State *lua)
{
	return verdict_push(lua, HOOK_DROP, SLICE(""), lua_isnone(lua, 1) ?
	    SLICE("") : text_at(lua, 1));
}

static int
zm_reroute(lua_State *lua)
{
	return verdict_push(lua, HOOK_REROUTE, SLICE(""), lua_isnone(lua, 1) ?
	    SLICE("") : text_at(lua, 1));
}

void
script_verdict_add(lua_State *lua, int index, struct str *out)
{
	static const struct verdict none = { HOOK_NONE, 0, 0, 0 };
	const struct verdict *verdict = &none;
	char line[16];

	if (!lua_isnil(lua, index)) {
		verdict = luaL_testudata(lua, index, verdict_type);
		if (verdict == NULL)
			luaL_error(lua, "a hook returns nil, zm.accept(), "
			    "zm.reject(), zm.defer(), zm.freeze(), "
			    "zm.at(), zm.drop(), zm.reroute() or "
			    "zm.via(), no %s", luaL_typename(lua, index));
	}
	snprintf(line, sizeof(line), "%u", verdict->line);
	hook_field_add(out, slice_of(hook_verdict_names[verdict->verdict]));
	hook_field_add(out, slice_of(line));
	hook_field_add(out, (struct slice){ verdict->bytes,
	    verdict->code_bytes });
	hook_field_add(out, (struct slice){ verdict->bytes +
	    verdict->code_bytes, verdict->text_bytes });
}

/* ---- the port --------------------------------------------------------- */

static int
zm_log(lua_State *lua)
{
	struct script *script = script_of(lua);
	struct str *out = &script->port->out;
	struct str text = STR_INIT;
	int count = lua_gettop(lua);
	size_t start, n;
	const char *p;

	if (++script->logs > SCRIPT_LOGS_MAX)
		return luaL_error(lua, "a call logs at most %d lines",
		    SCRIPT_LOGS_MAX);
	for (int i = 1; i <= count; i++)
		luaL_tolstring(lua, i, NULL);
	lua_concat(lua, count);
	p = lua_tolstring(lua, -1, &n);
	str_addf(&text, "%s:%u: ", script->file, script_line(lua));
	str_add_slice(&text, slice_first((struct slice){ p, n },
	    SCRIPT_LOG_BYTES_MAX));
	start = hook_frame_begin(out, 'G');
	hook_field_add(out, str_slice(&text));
	hook_frame_end(out, start);
	str_release(&text);
	return 0;
}

static int
zm_lookup(lua_State *lua)
{
	struct script *script = script_of(lua);
	struct script_port *port = script->port;
	struct hook_frame frame = { 0, { NULL, 0 } };
	struct slice how = { NULL, 0 }, text = { NULL, 0 };
	size_t start, table_n, key_n;
	const char *table = luaL_checklstring(lua, 1, &table_n);
	const char *key = luaL_checklstring(lua, 2, &key_n);

	if (++script->lookups > SCRIPT_LOOKUPS_MAX)
		return luaL_error(lua, "a call looks up at most %d keys",
		    SCRIPT_LOOKUPS_MAX);
	if (table_n > SCRIPT_WORDS_BYTES_MAX || key_n > SCRIPT_TEXT_BYTES_MAX)
		return luaL_error(lua, "the key is too long");
	start = hook_frame_begin(&port->out, 'T');
	hook_field_add(&port->out, (struct slice){ table, table_n });
	hook_field_add(&port->out, (struct slice){ key, key_n });
	hook_frame_end(&port->out, start);
	if (script_port_send(port) != 0 ||
	    script_port_take(port, &frame) < 0 || frame.type != 'R' ||
	    !hook_field(&frame.fields, &how) ||
	    !hook_field(&frame.fields, &text))
		return luaL_error(lua, "the router does not answer");
	if (slice_is(how, "found"))
		lua_pushlstring(lua, text.p, text.n);
	else if (slice_is(how, "none"))
		lua_pushnil(lua);
	else
		return luaL_error(lua, "%s", lua_pushlstring(lua, text.p,
		    text.n));
	return 1;
}

void
script_zm_open(lua_State *lua)
{
	static const luaL_Reg functions[] = {
		{ "accept", zm_accept }, { "reject", zm_reject },
		{ "defer", zm_defer }, { "freeze", zm_freeze },
		{ "via", zm_via }, { "at", zm_at }, { "drop", zm_drop },
		{ "reroute", zm_reroute }, { "log", zm_log },
		{ "lookup", zm_lookup }, { NULL, NULL },
	};

	luaL_newmetatable(lua, verdict_type);
	lua_pushliteral(lua, "zm.verdict");
	lua_setfield(lua, -2, "__metatable");
	lua_pop(lua, 1);
	luaL_newlib(lua, functions);
	lua_setglobal(lua, "zm");
}

#endif
