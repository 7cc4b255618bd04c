/* test_header_edit.c - changes of a header: what fits, what is refused
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>

#include "daemon/hook/frame.h"
#include "router/header/edit.h"

TestSuite(header_edit);

static const char header[] =
    "Received: by here\n\tfor you\nSubject: a\n b\nno field\nX: 1\nX: 2\n";

static const struct {
	const char	*edits[9];	/* what, number, text, ... */
	const char	*want;		/* NULL: refused */
} rows[] = {
	{ { NULL }, header },
	{ { "-", "2", "" },
	    "Received: by here\n\tfor you\nSubject: a\n b\nno field\nX: 2\n" },
	{ { "=", "1", "Subject: c\n", "-", "3", "", "+", "9", "Y: z\n" },
	    "Received: by here\n\tfor you\nSubject: c\nno field\nX: 1\n"
	    "Y: z\n" },
	{ { "-", "0", "" }, NULL }, /* Received */
	{ { "=", "1", "Received: x\n" }, NULL },
	{ { "=", "4", "Y: 1\n" }, NULL }, /* not there */
	{ { "-", "3", "", "-", "2", "" }, NULL }, /* order */
	{ { "+", "0", "Y: 1\n\nbody" }, NULL },
	{ { "+", "0", "Y: 1\nZ: 2\n" }, NULL }, { { "+", "0", "Y: 1" }, NULL },
	{ { "+", "0", "" }, NULL }, { { "?", "1", "" }, NULL },
	{ { "-", "x", "" }, NULL }, { { "-", "1" }, NULL },
	{ { "-", "1", "no field\n" }, NULL }, /* gone, and words */
};

Test(header_edit, rows)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct str edits = STR_INIT, text = STR_INIT;
		struct err err = { "" };
		int result;

		for (size_t k = 0; k < 9 && rows[i].edits[k] != NULL; k++)
			hook_field_add(&edits, slice_of(rows[i].edits[k]));
		str_adds(&text, header);
		result = header_edit(&text, str_slice(&edits), &err);
		cr_expect_eq(result, rows[i].want != NULL ? 0 : -1,
		    "row %zu: %s", i, err.text);
		cr_expect_str_eq(text.buf, rows[i].want != NULL ?
		    rows[i].want : header, "row %zu", i);
		str_release(&edits);
		str_release(&text);
	}
}
