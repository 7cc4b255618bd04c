/* test_hook_frame.c - frames between a program and its script's process
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <string.h>

#include "daemon/hook/frame.h"

TestSuite(hook_frame);

static const struct {
	const char	*in;
	int		 want;
	const char	*fields;	/* separated by | */
} rows[] = {
	{ "A00000000:\n", 1, "" },
	{ "Q00000008:5:route,\n", 1, "route" },
	{ "Q00000011:5:route,0:,\n", 1, "route|" },
	{ "Q00000012:3:a,b,3:,:,,\n", 1, "a,b|,:," },
	{ "q00000000:\n", -1, NULL },
	{ "Q0000000a:\n", -1, NULL },
	{ "Q-0000001:\n", -1, NULL },
	{ "Q99999999:\n", -1, NULL },
	{ "Q00000000;\n", -1, NULL },
	{ "Q00000000:x", -1, NULL },
	{ "Q00000008:6:route,\n", -1, NULL },
	{ "Q00000008:4:route,\n", -1, NULL },
	{ "Q00000002:1:\n", -1, NULL },
	{ "Q00000001:1\n", -1, NULL },
	{ "Q00000010:99999999:,\n", -1, NULL },
	{ "Q00000004::a,,\n", -1, NULL },
};

static void
check_fields(struct slice fields, const char *want)
{
	struct str got = STR_INIT;
	struct slice field;
	bool is_first = true;

	while (hook_field(&fields, &field)) {
		if (!is_first)
			str_addc(&got, '|');
		is_first = false;
		str_add_slice(&got, field);
	}
	cr_expect_str_eq(got.buf, want);
	cr_expect_eq(fields.n, 0);
	str_release(&got);
}

Test(hook_frame, whole_and_byte_by_byte)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct slice in = slice_of(rows[i].in);
		struct hook_frame frame;
		size_t used = 0;
		struct err err;
		int result = hook_frame_take(in, &frame, &used, &err);

		cr_expect_eq(result, rows[i].want, "%s: %d", rows[i].in,
		    result);
		for (size_t n = 0; n < in.n && rows[i].want == 1; n++)
			cr_expect_eq(hook_frame_take(slice_first(in, n),
			    &frame, &used, &err), 0, "%s at %zu",
			    rows[i].in, n);
		if (result != 1)
			continue;
		cr_assert_eq(hook_frame_take(in, &frame, &used, &err), 1);
		cr_expect_eq(used, in.n);
		check_fields(frame.fields, rows[i].fields);
	}
}

Test(hook_frame, what_is_written_is_read)
{
	struct str out = STR_INIT;
	struct hook_frame frame;
	struct err err;
	size_t start, used;

	str_adds(&out, "before");
	start = hook_frame_begin(&out, 'Q');
	hook_field_add(&out, SLICE("one"));
	hook_field_add(&out, SLICE(""));
	hook_field_add(&out, (struct slice){ "\0\n,", 3 });
	hook_frame_end(&out, start);
	cr_assert_eq(hook_frame_take(slice_from(str_slice(&out), start),
	    &frame, &used, &err), 1, "%s", err.text);
	cr_expect_eq(frame.type, 'Q');
	cr_expect_eq(used, out.len - start);
	cr_expect_eq(frame.fields.n, strlen("3:one,0:,3:xxx,"));
	str_release(&out);
}
