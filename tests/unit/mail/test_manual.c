/* test_manual.c - the examples in the manual pages are what they say
 *
 * SPDX-License-Identifier: ISC
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/mail/fixture.h"

static void
example(const char *page, struct str *out)
{
	const char *src = getenv("ZMAILER_SRC");
	char line[4096];
	bool is_inside = false;
	FILE *file;

	if (src == NULL)
		cr_skip_test("ZMAILER_SRC does not name the source tree");
	file = fopen(at("%s/doc/man/%s", src, page), "r");
	cr_assert_not_null(file, "%s", page);
	while (fgets(line, sizeof(line), file) != NULL) {
		if (strstr(line, "example ends") != NULL)
			is_inside = false;
		if (is_inside && line[0] != '.')
			str_adds(out, line);
		if (strstr(line, "example begins") != NULL)
			is_inside = true;
	}
	fclose(file);
	cr_assert_gt(out->len, 100);
}

Test(manual, the_message_is_complete)
{
	struct arena *arena = arena_new();
	struct envelope envelope;
	struct str text = STR_INIT;
	struct fixture f;
	int fd;

	example("zmailer-message.5", &text);
	fixture_open(&f, 0);
	put_file(&f, "public/x", text.buf, text.len);
	fd = open(at("%s/public/x", f.dir), O_RDONLY);
	cr_expect_eq(spool_is_complete(fd, &f.err), SPOOL_FILE_WHOLE);
	close(fd);
	cr_assert_eq(envelope_parse(arena, str_slice(&text), &envelope,
	    &f.err), 0, "%s", f.err.text);
	cr_expect_eq(envelope.rcpt_count, 2);
	cr_expect_eq(envelope.rcpts[0].notify, DSN_NOTIFY_SUCCESS |
	    DSN_NOTIFY_FAILURE);
	fixture_close(&f);
	str_release(&text);
	arena_free(&arena);
}

Test(manual, the_control_file_and_its_records_count)
{
	struct arena *arena = arena_new();
	struct str text = STR_INIT;
	struct err err = { "" };
	struct control_file control;

	example("zmailer-control.5", &text);
	cr_assert_eq(control_file_parse(arena, str_slice(&text), &control,
	    &err), 0,
	    "%s", err.text);
	cr_expect_eq(control.rcpt_total, 2);
	cr_expect_eq(control.final_total, 1);
	cr_expect_eq(control.report_records, 1);
	cr_expect(control.groups[0].rcpts[0].is_reported);
	cr_expect_str_eq(control.groups[0].rcpts[1].last->verdict.text,
	    "450 4.7.1 greylisted, try again");
	cr_expect_eq(control.groups[0].rcpts[1].next_s, 1795382343);
	str_release(&text);
	arena_free(&arena);
}
