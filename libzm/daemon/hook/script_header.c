/* script_header.c - the header that on_header gets
 *
 * In     fields "h" of a question: one whole header field each
 * Out    what is to be done with which of them; new fields
 * Holds  nothing outside the state
 * Trusts no name and no value of the script: what cannot stand in a header is
 *        an error
 * Spec   doc/HOOKS.md; RFC 5322 sections 2.1.1, 2.2
 *
 * SPDX-License-Identifier: ISC
 */
#ifdef HAVE_LUA
#include <stdio.h>

#include "daemon/hook/script_internal.h"
#include "grammar/message/header.h"

#include "base/banned.h"

enum {
	NAME_BYTES_MAX = 70,
	VALUE_BYTES_MAX = 65536,
	LINE_BYTES_MAX = 998,		/* RFC 5322 section 2.1.1 */
	LINE_BYTES_FINE = 78,
	ADDED_MAX = 1000
};

static const char header_type[] = "zm.header";

struct item {
	struct slice	name, value;	/* of the question */
	char		what;		/* 0 as it was; '-' gone; '=' put */
};

/* New values are strings in the user value 1, a table: by number of the
 * item, and after count those that were added. */
struct header {
	size_t		count, added;
	struct item	items[];
};

static struct header *
header_at(lua_State *lua)
{
	return luaL_checkudata(lua, 1, header_type);
}

/* ---- names and values ------------------------------------------------- */

static struct slice
name_at(lua_State *lua, int index)
{
	struct slice name;

	name.p = luaL_checklstring(lua, index, &name.n);
	if (name.n == 0 || name.n > NAME_BYTES_MAX)
		luaL_error(lua, "a field's name has 1 to %d bytes",
		    NAME_BYTES_MAX);
	for (size_t i = 0; i < name.n; i++)
		if (name.p[i] <= ' ' || name.p[i] > '~' || name.p[i] == ':')
			luaL_error(lua, "'%s' is no name of a field", name.p);
	return name;
}

/* The same for a field that is changed. */
static struct slice
own_name_at(lua_State *lua, int index)
{
	struct slice name = name_at(lua, index);

	if (slice_is_nocase(name, "Received"))
		luaL_error(lua, "Received fields tell loops: they stay");
	return name;
}

static struct slice
value_at(lua_State *lua, int index)
{
	struct slice value;

	value.p = luaL_checklstring(lua, index, &value.n);
	if (value.n > VALUE_BYTES_MAX)
		luaL_error(lua, "a field's value has at most %d bytes",
		    VALUE_BYTES_MAX);
	for (size_t i = 0; i < value.n; i++)
		if ((value.p[i] < ' ' && value.p[i] != '\t') ||
		    value.p[i] > '~')
			luaL_error(lua, "a field's value is one line of "
			    "ASCII: write other characters as encoded words");
	return value;
}

/* "Name: value", folded at blanks where a line would be long.  Pushes it. */
static void
push_field(lua_State *lua, struct slice name, struct slice value)
{
	struct str out = STR_INIT;
	size_t column = name.n + 1;
	size_t longest = 0;

	str_add_slice(&out, name);
	str_addc(&out, ':');
	value = slice_trim(value);
	while (value.n > 0) {
		size_t word = 0;
		size_t gap;

		while (word < value.n && value.p[word] != ' ' &&
		    value.p[word] != '\t')
			word++;
		if (column + 1 + word > LINE_BYTES_FINE && column > 1 &&
		    word > 0 && column != name.n + 1) {
			str_addc(&out, '\n');
			column = 0;
		}
		str_addc(&out, ' ');
		str_add(&out, value.p, word);
		column += 1 + word;
		longest = column > longest ? column : longest;
		gap = word < value.n;
		value = slice_from(value, word + gap);
	}
	str_addc(&out, '\n');
	lua_pushlstring(lua, out.buf, out.len);
	str_release(&out);
	if (longest > LINE_BYTES_MAX)
		luaL_error(lua, "a line of a field has at most %d bytes",
		    LINE_BYTES_MAX);
}

/* ---- reading ---------------------------------------------------------- */

static void
push_value(lua_State *lua, struct header *header, size_t i)
{
	struct str out = STR_INIT;
	struct slice put;

	if (header->items[i].what == '=') {
		lua_getiuservalue(lua, 1, 1);
		lua_rawgeti(lua, -1, (lua_Integer)i + 1);
		put.p = lua_tolstring(lua, -1, &put.n);
		header_add_unfolded(&out, slice_from(put, slice_find(put,
		    ':') + 1));
		lua_pop(lua, 2);
	} else {
		header_add_unfolded(&out, header->items[i].value);
	}
	lua_pushlstring(lua, out.buf, out.len);
	str_release(&out);
}

static bool
header_is_meant(const struct item *item, struct slice name)
{
	return item->what != '-' && slice_equal_nocase(item->name, name);
}

static int
header_get(lua_State *lua)
{
	struct header *header = header_at(lua);
	struct slice name = name_at(lua, 2);

	for (size_t i = 0; i < header->count; i++)
		if (header_is_meant(&header->items[i], name)) {
			push_value(lua, header, i);
			return 1;
		}
	lua_pushnil(lua);
	return 1;
}

static int
header_all(lua_State *lua)
{
	struct header *header = header_at(lua);
	struct slice name = name_at(lua, 2);
	lua_Integer count = 0;

	lua_newtable(lua);
	for (size_t i = 0; i < header->count; i++)
		if (header_is_meant(&header->items[i], name)) {
			push_value(lua, header, i);
			lua_rawseti(lua, 3, ++count);
		}
	return 1;
}

/* ---- changing --------------------------------------------------------- */

/* The field on top of the stack takes the place of item i. */
static void
put_item(lua_State *lua, struct header *header, size_t i)
{
	lua_getiuservalue(lua, 1, 1);
	lua_insert(lua, -2);
	lua_rawseti(lua, -2, (lua_Integer)i + 1);
	lua_pop(lua, 1);
	header->items[i].what = '=';
}

static int
header_add(lua_State *lua)
{
	struct header *header = header_at(lua);
	struct slice name = own_name_at(lua, 2), value = value_at(lua, 3);

	if (header->added == ADDED_MAX)
		return luaL_error(lua, "a call adds at most %d fields",
		    ADDED_MAX);
	lua_getiuservalue(lua, 1, 1);
	push_field(lua, name, value);
	lua_rawseti(lua, -2, (lua_Integer)(header->count +
	    ++header->added));
	return 0;
}

static int
header_remove(lua_State *lua)
{
	struct header *header = header_at(lua);
	struct slice name = own_name_at(lua, 2);
	lua_Integer count = 0;

	for (size_t i = 0; i < header->count; i++)
		if (header_is_meant(&header->items[i], name)) {
			header->items[i].what = '-';
			count++;
		}
	lua_pushinteger(lua, count);
	return 1;
}

static int
header_set(lua_State *lua)
{
	struct header *header = header_at(lua);
	struct slice name = own_name_at(lua, 2), value = value_at(lua, 3);
	bool was_put = false;

	for (size_t i = 0; i < header->count; i++) {
		struct item *item = &header->items[i];

		if (!header_is_meant(item, name))
			continue;
		if (was_put) {
			item->what = '-';
			continue;
		}
		push_field(lua, name, value);
		put_item(lua, header, i);
		was_put = true;
	}
	return was_put ? 0 : header_add(lua);
}

/* ---- the value -------------------------------------------------------- */

void
script_header_open(lua_State *lua)
{
	static const luaL_Reg methods[] = {
		{ "get", header_get }, { "all", header_all },
		{ "add", header_add }, { "set", header_set },
		{ "remove", header_remove }, { NULL, NULL },
	};

	luaL_newmetatable(lua, header_type);
	luaL_newlib(lua, methods);
	lua_setfield(lua, -2, "__index");
	lua_pushliteral(lua, "zm.header");
	lua_setfield(lua, -2, "__metatable");
	lua_pop(lua, 1);
}

void
script_header_push(lua_State *lua, struct slice fields)
{
	struct slice key, value, count = fields;
	struct header_field field;
	struct header *header;
	bool is_broken;
	size_t n = 0;

	while (hook_field(&count, &key) && hook_field(&count, &value))
		n += slice_is(key, "h");
	header = lua_newuserdatauv(lua, sizeof(*header) + n *
	    sizeof(struct item), 1);
	header->count = header->added = 0;
	while (hook_field(&fields, &key) && hook_field(&fields, &value)) {
		if (!slice_is(key, "h"))
			continue;
		if (!header_next(&value, &field, &is_broken))
			field = (struct header_field){ .name = { NULL, 0 } };
		header->items[header->count++] = (struct item){ field.name,
		    field.value, 0 };
	}
	lua_newtable(lua);
	lua_setiuservalue(lua, -2, 1);
	luaL_setmetatable(lua, header_type);
}

static void
edit_add(struct str *out, char what, size_t number, struct slice text)
{
	char digits[24];

	snprintf(digits, sizeof(digits), "%zu", number);
	hook_field_add(out, (struct slice){ &what, 1 });
	hook_field_add(out, slice_of(digits));
	hook_field_add(out, text);
}

void
script_header_edits(lua_State *lua, int index, struct str *out)
{
	struct header *header = lua_touserdata(lua, index);
	struct slice text;

	lua_getiuservalue(lua, index, 1);
	for (size_t i = 0; i < header->count + header->added; i++) {
		char what = i < header->count ? header->items[i].what : '+';

		if (what == '-')
			edit_add(out, what, i, SLICE(""));
		if (what != '=' && what != '+')
			continue;
		lua_rawgeti(lua, -1, (lua_Integer)i + 1);
		text.p = lua_tolstring(lua, -1, &text.n);
		edit_add(out, what, i, text);
		lua_pop(lua, 1);
	}
}

#endif
