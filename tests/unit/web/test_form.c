/* test_form.c - fields of a query: read once, or not at all
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <string.h>

#include "web/pages/form.h"

static const struct {
	const char	*in, *key, *want;	/* NULL: it is refused */
} rows[] = {
	{ "", "q", "" },
	{ "q=1", "q", "1" },
	{ "a=b&q=x+y%20z&q=2", "q", "x y z" },
	{ "q", "q", "" },
	{ "&&q=1&", "q", "1" },
	{ "q=a=b", "q", "a=b" },
	{ "%71=1", "q", "1" },
	{ "q=%3Cb%3e%26", "q", "<b>&" },
	{ "q=%2541", "q", "%41" },
	{ "q=a%0d%0ab%09c", "q", "a  b c" },
	{ "q=%c3%bc", "q", "\xc3\xbc" },
	{ "q=%", NULL, NULL }, { "q=%4", NULL, NULL },
	{ "q=%4x", NULL, NULL }, { "q=%00", NULL, NULL },
	{ "q=%1b", NULL, NULL }, { "q=%7f", NULL, NULL },
	{ "q=%ff", NULL, NULL }, { "q=%c3", NULL, NULL },
	{ "%00=1", NULL, NULL },
};

Test(form, rows)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct arena *arena = arena_new();
		struct form form;
		int result = form_read_fields(slice_of(rows[i].in), arena,
		    &form);

		cr_expect_eq(result, rows[i].want == NULL ? -1 : 0, "%s",
		    rows[i].in);
		if (result == 0)
			cr_expect(slice_is(form_get(&form, rows[i].key),
			    rows[i].want), "%s", rows[i].in);
		arena_free(&arena);
	}
}

Test(form, has_limits)
{
	struct arena *arena = arena_new();
	struct str text = STR_INIT;
	struct form form;

	for (int i = 0; i < FORM_FIELDS_MAX; i++)
		str_adds(&text, "a=b&");
	cr_expect_eq(form_read_fields(str_slice(&text), arena, &form), 0);
	str_adds(&text, "a=b");
	cr_expect_eq(form_read_fields(str_slice(&text), arena, &form), -1);
	str_reset(&text);
	while (text.len <= FORM_VALUE_BYTES_MAX)
		str_addc(&text, 'x');
	cr_expect_eq(form_read_fields(str_slice(&text), arena, &form), -1);
	str_release(&text);
	arena_free(&arena);
}
