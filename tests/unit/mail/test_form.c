/* test_form.c - the words of reports
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mail/form.h"

static const struct { const char *text, *err; } rows[] = {
	{ "", "" }, { "# remark\n\n", "" },
	{ "name: Svenska\n", "" }, { "name: Svenska", "" },
	{ "opening: Hej {host}\n", "" },
	{ "opening: Hej\n\t{host} och\n mer\n", "" },
	{ "advice .1.1: a\nadvice: b\n", "" },
	{ "opening: Hej {id}\n", "no place {id}" },
	{ "opening: Hej {host\n", "no place" },
	{ "failed: {host}\n", "no place" },
	{ "greeting: Hej\n", "unknown key 'greeting'" },
	{ "\nname: a\nname: b\n", "line 3: 'name' stands here twice" },
	{ "name\n", "not a line" }, { "name:\n", "not a line" },
	{ "name: \xff\n", "UTF-8" }, { "name: a\x01\n", "UTF-8" },
	{ "advice x: y\n", "not the end of a status" },
	{ "advice 5.1.1: y\n", "not the end of a status" },
};

Test(form, rows)
{
	struct arena *arena = arena_new();

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct report_form form;
		struct err err = { "" };
		int got = form_parse(arena, "xx", slice_of(rows[i].text),
		    &form, &err);

		cr_expect_eq(got, rows[i].err[0] ? -1 : 0, "%s: %s",
		    rows[i].text, err.text);
		cr_expect_not_null(strstr(err.text, rows[i].err), "%s: %s",
		    rows[i].text, err.text);
	}
	arena_free(&arena);
}

Test(form, what_is_left_out_is_english)
{
	struct arena *arena = arena_new();
	struct str out = STR_INIT;
	struct report_form form;
	struct err err;

	cr_assert_eq(form_parse(arena, "sv", SLICE("opening: Hej från {host},"
	    "\n  {host}!\nadvice .1.: fel adress\n"), &form, &err), 0);
	form_add(&out, &form, FORM_OPENING, "host", "mx.test");
	cr_expect_str_eq(out.buf, "Hej från mx.test, mx.test!");
	cr_expect_str_eq(form.texts[FORM_FAILED],
	    form_rows[FORM_FAILED].english);
	cr_expect_str_eq(form_advice(&form, "5.1.1"), "fel adress");
	cr_expect_str_eq(form_advice(&form, "5.7.1"),
	    form_advice(form_english(), "5.9.9"));
	cr_expect_str_eq(form_advice(form_english(), "5.2.2"),
	    "The mailbox is full. Try again later, or reach the person "
	    "another way.");
	cr_expect_not_null(form_advice(form_english(), ""));
	str_release(&out);
	arena_free(&arena);
}

/* The installed ones say everything, each in its own words; the English one
 * says what is built in. */
Test(form, the_installed_ones_are_whole)
{
	static const char *const languages[] = { "en", "de", "fi" };
	const char *src = getenv("ZMAILER_SRC");
	struct arena *arena = arena_new();
	char dir[512];

	if (src == NULL)
		cr_skip_test("ZMAILER_SRC does not name the source tree");
	snprintf(dir, sizeof(dir), "%s/scheduler/report/forms", src);
	for (size_t i = 0; i < 3; i++) {
		struct report_form form;
		struct err err = { "" };

		cr_assert_eq(form_load(arena, dir, languages[i], &form,
		    &err), 0, "%s", err.text);
		cr_expect_eq(form.advice_count,
		    form_english()->advice_count);
		for (int k = 0; k < FORM_KEYS; k++)
			cr_expect_eq(strcmp(form.texts[k],
			    form_rows[k].english) == 0, i == 0, "%s %s",
			    languages[i], form_rows[k].key);
	}
	arena_free(&arena);
}

Test(form, a_language_is_a_file_name_and_nothing_else)
{
	static const char *const bad[] = { "", "..", "../en", "a/b", "de.",
	    "e n" };
	struct arena *arena = arena_new();

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct report_form form;
		struct err err;

		cr_expect_eq(form_load(arena, "/", bad[i], &form, &err), -1);
		cr_expect_not_null(strstr(err.text, "language tag"), "%s",
		    err.text);
	}
	arena_free(&arena);
}
