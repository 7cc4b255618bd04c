/* test_aliases.c - the right side of an alias
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>

#include <string.h>

#include "grammar/message/alias.h"

static const char *
kind_of(const struct alias_item *item)
{
	static const char *const names[] = { "address", "mailbox", "program",
	    "file", "include" };

	return names[item->kind];
}

static void
describe(struct str *out, const char *value, enum alias_flags flags)
{
	struct arena *arena = arena_new();
	struct slice rest = slice_of(value);
	struct alias_item item;
	struct err err;
	int more;

	str_reset(out);
	while ((more = alias_next(arena, &rest, flags, &item, &err)) !=
	    ALIAS_END) {
		if (out->len > 0)
			str_adds(out, "; ");
		if (more < 0) {
			str_adds(out, "bad");
			continue;
		}
		str_addf(out, "%s ", kind_of(&item));
		if (item.kind <= ALIAS_MAILBOX)
			path_add(out, &item.path);
		else
			str_add_slice(out, item.text);
	}
	arena_free(&arena);
}

Test(aliases, items)
{
	static const struct { const char *in, *want; } rows[] = {
		{ "", "" },
		{ " , ,,", "" },
		{ "bob", "address bob" },
		{ "bob, carol@x.test", "address bob; address carol@x.test" },
		{ "bob\n\tcarol", "address bob; address carol" },
		{ "\"first last\"@x.test", "address \"first last\"@x.test" },
		{ "\"a,b\"@x.test, c", "address \"a,b\"@x.test; address c" },
		{ "Bob Smith <bob@x.test>", "address bob@x.test" },
		{ "\"Smith, Bob\" <bob@x.test>, c",
		    "address bob@x.test; address c" },
		{ "\\bob", "mailbox bob" },
		{ "|/bin/cat", "program /bin/cat" },
		{ "\"|/bin/cat -a, -b\"", "program /bin/cat -a, -b" },
		{ "|\"/bin/cat -a, -b\"", "program /bin/cat -a, -b" },
		{ "\"|say \\\"hi\\\"\", c", "program say \"hi\"; address c" },
		{ "/var/log/mail", "file /var/log/mail" },
		{ "\"/var/a b\"", "file /var/a b" },
		{ ":include:/etc/list", "include /etc/list" },
		{ ":Include: /etc/list", "include /etc/list" },
		{ "\":include:/etc/a b\"", "include /etc/a b" },
		{ ":include:list", "bad" },
		{ "|", "bad" },
		{ "|\"\"", "bad" },
		{ "<bob", "bad" },
		{ "a b, c", "bad; address c" },
		{ "\"open, c", "bad" },
		{ "@, c", "bad; address c" },
		{ "bob (the, builder), c", "address bob; address c" },
	};
	struct str got = STR_INIT;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		describe(&got, rows[i].in, 0);
		cr_expect_str_eq(got.buf, rows[i].want, "%s: got '%s'",
		    rows[i].in, got.buf);
	}
	str_release(&got);
}

Test(aliases, comments_are_lines_of_files_only)
{
	struct str got = STR_INIT;

	describe(&got, "# nobody, x\nbob\n#\n\ncarol, #x\n#end",
	    ALIAS_COMMENTS);
	cr_expect_str_eq(got.buf, "address bob; address carol; address #x");
	describe(&got, "#x", 0);
	cr_expect_str_eq(got.buf, "address #x");
	str_release(&got);
}

Test(aliases, half_an_item_is_not_read_behind_its_end)
{
	static const char value[] = "\"|a\\\"b\", :include:/x, <a@b.c>, (c, \\";

	for (size_t n = 0; n < sizeof(value); n++) {
		struct arena *arena = arena_new();
		char *exact = mem_alloc(n + 1, 1);
		struct slice rest = { exact, n };
		struct alias_item item;
		struct err err;
		unsigned turns = 0;

		for (size_t i = 0; i < n; i++)
			exact[i] = value[i];
		while (alias_next(arena, &rest, 0, &item, &err) != ALIAS_END)
			cr_assert(++turns < 10);
		mem_free(&exact);
		arena_free(&arena);
	}
}

/* Read, printed, read again, printed again: the same. */
Test(aliases, printed_items_mean_what_they_meant)
{
	static const struct { const char *in, *want; } rows[] = {
		{ "bob", "bob" }, { "\\bob", "\\bob" },
		{ "Bob Smith <bob@x.test>", "bob@x.test" },
		{ "\"first last\"@x.test", "\"first last\"@x.test" },
		{ "</c=us/o=x/@gw.test>", "</c=us/o=x/@gw.test>" },
		{ "|/bin/cat", "\"|/bin/cat\"" },
		{ "\"|/bin/echo \\\"a, b\\\"\"",
		    "\"|/bin/echo \\\"a, b\\\"\"" },
		{ "/var/mail/x", "\"/var/mail/x\"" },
		{ "\"/a, b\"", "\"/a, b\"" },
		{ ":include:/etc/list", "\":include:/etc/list\"" },
	};
	struct arena *arena = arena_new();

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct str first = STR_INIT, second = STR_INIT;
		struct slice rest = slice_of(rows[i].in);
		struct alias_item item;
		struct err err;

		cr_assert_eq(alias_next(arena, &rest, 0, &item, &err),
		    ALIAS_ITEM,
		    "%s", rows[i].in);
		alias_add(&first, &item);
		cr_expect_str_eq(first.buf, rows[i].want);
		rest = str_slice(&first);
		cr_assert_eq(alias_next(arena, &rest, 0, &item, &err),
		    ALIAS_ITEM);
		alias_add(&second, &item);
		cr_expect_str_eq(second.buf, first.buf);
		str_release(&first);
		str_release(&second);
	}
	arena_free(&arena);
}

/* What is only half of something is nothing. */
Test(aliases, half_quoted_items_are_bad)
{
	static const char *const rows[] = { "\"|/bin/x\" y", "\"/file\" y",
		"g: /etc/list", "\\\"a b\"" };
	struct str out = STR_INIT;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		describe(&out, rows[i], 0);
		cr_expect_eq(strncmp(out.buf, "bad", 3), 0, "%s: %s", rows[i],
		    out.buf);
	}
	str_release(&out);
}
