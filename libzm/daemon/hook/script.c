/* script.c - the script: bounded, and cut off from the world
 *
 * In     a text; questions
 * Out    frames: what it has, what it says, what went wrong and where
 * Holds  one Lua state with memory of its own
 * Trusts the text with nothing: no file, no program, no other script, no
 *        byte code; every call has bounds of instructions, memory and time
 * Spec   doc/HOOKS.md; Lua 5.4 reference manual, section 4
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "daemon/hook/hook.h"
#include "daemon/hook/script.h"
#include "daemon/hook/script_internal.h"

#include "base/banned.h"

#ifdef HAVE_LUA

/* ---- bounds ----------------------------------------------------------- */

struct script *
script_of(lua_State *lua)
{
	void *context;

	(void)lua_getallocf(lua, &context);
	return context;
}

unsigned
script_line(lua_State *lua)
{
	lua_Debug at;

	for (int level = 0; lua_getstack(lua, level, &at) == 1; level++)
		if (lua_getinfo(lua, "l", &at) != 0 && at.currentline > 0)
			return (unsigned)at.currentline;
	return 0;
}

/* Asking for a line allocates nothing. */
static void *
on_memory(void *context, void *old, size_t old_bytes, size_t bytes)
{
	struct script *script = context;
	size_t before = old != NULL ? old_bytes : 0;

	if (bytes == 0) {
		script->used_bytes -= before;
		mem_release(old);
		return NULL;
	}
	if (bytes > before && script->used_bytes - before + bytes >
	    script->conf->memory_bytes) {
		if (script->lua != NULL)
			script->refused_line = script_line(script->lua);
		return NULL;
	}
	script->used_bytes += bytes - before;
	return mem_grow(old, 1, bytes);
}

/* Once over, every further instruction is an error: pcall does not help. */
static void
on_step(lua_State *lua, lua_Debug *at)
{
	struct script *script = script_of(lua);
	const struct conf_hooks *conf = script->conf;

	script->steps += SCRIPT_STEP;
	if (script->is_over || script->steps > conf->instructions) {
		script->is_over = true;
		lua_sethook(lua, on_step, LUA_MASKCOUNT, 1);
		luaL_error(lua, "it took more than %I instructions",
		    (lua_Integer)conf->instructions);
	}
	if (clock_steady_ms() > script->until_ms) {
		script->is_over = true;
		lua_sethook(lua, on_step, LUA_MASKCOUNT, 1);
		luaL_error(lua, "it took longer than %I ms",
		    (lua_Integer)conf->time_ms);
	}
}

static void
bounds_begin(struct script *script)
{
	script->steps = 0;
	script->is_over = false;
	script->lookups = script->logs = 0;
	script->refused_line = 0;
	script->until_ms = clock_steady_ms() + script->conf->time_ms;
	lua_sethook(script->lua, on_step, LUA_MASKCOUNT, SCRIPT_STEP);
}

/* ---- errors ----------------------------------------------------------- */

/* An error without a place gets the line that ran. */
static int
on_error(lua_State *lua)
{
	const struct script *script = script_of(lua);
	const char *text = luaL_tolstring(lua, 1, NULL);
	size_t n = strlen(script->file);

	if (strncmp(text, script->file, n) == 0 && text[n] == ':')
		return 1;
	lua_pushfstring(lua, "%s:%d: %s", script->file,
	    (int)script_line(lua), text);
	return 1;
}

/* The directory in front: errors begin with the last part of the path. */
static void
error_add(struct script *script, int status)
{
	size_t start = hook_frame_begin(&script->port->out, 'E');
	int directory = (int)(script->file - script->conf->script);
	struct str text = STR_INIT;

	str_addf(&text, "%.*s", directory, script->conf->script);
	if (status == LUA_ERRMEM)
		str_addf(&text, "%s:%u: it needs more than %llu bytes of "
		    "memory", script->file, script->refused_line,
		    (unsigned long long)script->conf->memory_bytes);
	else
		str_adds(&text, lua_tostring(script->lua, -1) != NULL ?
		    lua_tostring(script->lua, -1) : "an error");
	hook_field_add(&script->port->out, slice_of(status == LUA_ERRMEM ?
	    "memory" : "error"));
	hook_field_add(&script->port->out, str_slice(&text));
	hook_frame_end(&script->port->out, start);
	str_release(&text);
	lua_settop(script->lua, 0);
}

/* ---- birth ------------------------------------------------------------ */

static void
libraries_open(lua_State *lua)
{
	static const luaL_Reg libraries[] = {
		{ LUA_GNAME, luaopen_base }, { LUA_STRLIBNAME, luaopen_string },
		{ LUA_TABLIBNAME, luaopen_table },
		{ LUA_MATHLIBNAME, luaopen_math },
		{ LUA_UTF8LIBNAME, luaopen_utf8 },
	};
	static const char *const left_out[] = { "dofile", "loadfile", "load",
	    "collectgarbage", "print", "warn", "require" };

	for (size_t i = 0; i < sizeof(libraries) / sizeof(libraries[0]); i++) {
		luaL_requiref(lua, libraries[i].name, libraries[i].func, 1);
		lua_pop(lua, 1);
	}
	for (size_t i = 0; i < sizeof(left_out) / sizeof(left_out[0]); i++) {
		lua_pushnil(lua);
		lua_setglobal(lua, left_out[i]);
	}
	lua_getglobal(lua, LUA_STRLIBNAME);
	lua_pushnil(lua);
	lua_setfield(lua, -2, "dump");
	lua_pop(lua, 1);
	script_zm_open(lua);
	script_header_open(lua);
}

/* Protected: compile and run the text. */
static int
run_text(lua_State *lua)
{
	const struct slice *text = lua_touserdata(lua, 1);
	struct script *script = script_of(lua);

	libraries_open(lua);
	lua_pushfstring(lua, "@%s", script->file);
	if (luaL_loadbufferx(lua, text->p, text->n, lua_tostring(lua, -1),
	    "t") != LUA_OK)
		return lua_error(lua);
	bounds_begin(script);
	lua_call(lua, 0, 0);
	return 0;
}

/* H: names and lines of the functions. */
static void
functions_add(struct script *script)
{
	lua_State *lua = script->lua;
	struct str *out = &script->port->out;
	size_t start = hook_frame_begin(out, 'H');
	char line[16];
	lua_Debug at;

	for (size_t i = 0; i < HOOK_CALLS; i++) {
		lua_getglobal(lua, hook_call_names[i]);
		if (!lua_isfunction(lua, -1)) {
			lua_pop(lua, 1);
			continue;
		}
		lua_getinfo(lua, ">S", &at);
		snprintf(line, sizeof(line), "%d", at.linedefined > 0 ?
		    at.linedefined : 0);
		hook_field_add(out, slice_of(hook_call_names[i]));
		hook_field_add(out, slice_of(line));
	}
	hook_frame_end(out, start);
}

struct script *
script_new(const struct conf_hooks *conf, struct slice text,
    struct script_port *port)
{
	struct script *script = mem_alloc(1, sizeof(*script));
	const char *slash = strrchr(conf->script, '/');
	int status;

	*script = (struct script){ .conf = conf, .port = port,
	    .file = slash != NULL ? slash + 1 : conf->script };
	str_init(&script->answer);
	script->lua = lua_newstate(on_memory, script);
	if (script->lua == NULL)
		fatal("hooks: no memory for a Lua state");
	lua_pushcfunction(script->lua, on_error);
	lua_pushcfunction(script->lua, run_text);
	lua_pushlightuserdata(script->lua, &text);
	status = lua_pcall(script->lua, 1, 0, 1);
	if (status != LUA_OK) {
		error_add(script, status);
		script_free(&script);
		return NULL;
	}
	lua_settop(script->lua, 0);
	functions_add(script);
	return script;
}

void
script_free(struct script **pscript)
{
	struct script *script = *pscript;

	if (script == NULL)
		return;
	lua_close(script->lua);
	str_release(&script->answer);
	mem_free(pscript);
}

/* ---- a call ----------------------------------------------------------- */

/* What each function gets: a name that ends in a dot is a table of all keys
 * that begin so, "h" is the header, others are strings. */
static const char *const arguments[HOOK_CALLS][3] = {
	[HOOK_ON_RCPT] = { "c.", "from", "to" },
	[HOOK_ROUTE] = { "addr", "msg." },
	[HOOK_ON_HEADER] = { "h", "msg." },
	[HOOK_ON_RESULT] = { "msg.", "rcpt.", "result." },
	[HOOK_BEFORE_ATTEMPT] = { "message.", "recipient.", "destination." },
};

static void
push_argument(lua_State *lua, const char *name, struct slice fields)
{
	bool is_table = name[strlen(name) - 1] == '.';
	struct slice key, value;

	if (is_table)
		lua_newtable(lua);
	while (hook_field(&fields, &key) && hook_field(&fields, &value)) {
		if (!is_table && slice_is(key, name)) {
			lua_pushlstring(lua, value.p, value.n);
			return;
		}
		if (!is_table || !slice_starts(key, name))
			continue;
		key = slice_from(key, strlen(name));
		lua_pushlstring(lua, key.p, key.n);
		lua_pushlstring(lua, value.p, value.n);
		lua_settable(lua, -3);
	}
	if (!is_table)
		lua_pushnil(lua);
}

static int
call_of(struct slice name)
{
	for (int i = 0; i < HOOK_CALLS; i++)
		if (slice_is(name, hook_call_names[i]))
			return i;
	return -1;
}

/* Protected: the whole question, because to make its arguments takes memory,
 * too. */
static int
run_call(lua_State *lua)
{
	struct script *script = script_of(lua);
	struct slice fields = script->fields, name = { NULL, 0 };
	int call, count = 0, header = 0;

	(void)hook_field(&fields, &name);
	call = call_of(name);
	if (call < 0)
		return luaL_error(lua, "there is no such hook");
	lua_settop(lua, 0);
	if (call == HOOK_ON_HEADER) {
		script_header_push(lua, fields);
		header = 1;
	}
	lua_getglobal(lua, hook_call_names[call]);
	for (; count < 3 && arguments[call][count] != NULL; count++)
		if (strcmp(arguments[call][count], "h") == 0)
			lua_pushvalue(lua, header);
		else
			push_argument(lua, arguments[call][count], fields);
	lua_call(lua, count, 1);
	script_verdict_add(lua, -1, &script->answer);
	if (header > 0)
		script_header_edits(lua, header, &script->answer);
	return 0;
}

bool
script_call(struct script *script, struct slice fields)
{
	size_t start;
	int status;

	script->fields = fields;
	str_reset(&script->answer);
	bounds_begin(script);
	lua_settop(script->lua, 0);
	lua_pushcfunction(script->lua, on_error);
	lua_pushcfunction(script->lua, run_call);
	status = lua_pcall(script->lua, 0, 0, 1);
	lua_sethook(script->lua, NULL, 0, 0);
	if (status != LUA_OK) {
		error_add(script, status);
		return status != LUA_ERRMEM;
	}
	lua_settop(script->lua, 0);
	start = hook_frame_begin(&script->port->out, 'A');
	str_add_slice(&script->port->out, str_slice(&script->answer));
	hook_frame_end(&script->port->out, start);
	return true;
}

bool
hooks_are_built(void)
{
	return true;
}

#else /* without Lua */

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
