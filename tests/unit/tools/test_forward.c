/* test_forward.c - events as syslog and journald take them
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tools/forward/forward.h"

static void
at_utc(void)
{
	setenv("TZ", "UTC0", 1);
	tzset();
}

TestSuite(forward, .init = at_utc);

static const struct conf_log_to syslogs = { LOG_TO_SYSLOG, 2, "", { 0 } };
static const struct conf_log_to journald = { LOG_TO_JOURNALD, 2, "", { 0 } };

#define AT "{\"t\":\"2026-11-03T12:00:01.000Z\","

Test(forward, a_line_is_one_of_syslog_and_fields_of_journald)
{
	static const struct {
		const char *line, *text, *fields;
	} rows[] = {
		{ AT "\"id\":\"361a\",\"ev\":\"rcpt.ok\",\"d\":\"scheduler\","
		    "\"pid\":7,\"to\":\"a@x.test\"}",
		    "<22>Nov  3 12:00:01 zmailer/scheduler[7]: 361a rcpt.ok "
		    "to=a@x.test",
		    "PRIORITY=6\nSYSLOG_IDENTIFIER=zmailer\nSYSLOG_PID=7\n"
		    "MESSAGE=scheduler: 361a rcpt.ok to=a@x.test\n"
		    "ZMAILER_ID=361a\nZMAILER_EV=rcpt.ok\n"
		    "ZMAILER_D=scheduler\nZMAILER_PID=7\n"
		    "ZMAILER_TO=a@x.test\n" },
		{ AT "\"ev\":\"milter.failed\",\"d\":\"scheduler\",\"pid\":7}",
		    "<20>Nov  3 12:00:01 zmailer/scheduler[7]: - milter.failed",
		    NULL },
	};
	struct str out = STR_INIT;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		forward_line(&syslogs, slice_of(rows[i].line), &out);
		cr_expect_str_eq(out.buf, rows[i].text);
		if (rows[i].fields == NULL)
			continue;
		forward_line(&journald, slice_of(rows[i].line), &out);
		cr_expect_str_eq(out.buf, rows[i].fields);
	}
	str_release(&out);
}

Test(forward, hostile_words_begin_no_line_and_no_field)
{
	static const char *const values[] = { "\\u000aPRIORITY=0\\u000a",
	    "x\\u0000y", "\\u001b[2J", "\\u000d\\u000a<0>kernel: panic" };
	static char longest[70000], line[80000];
	struct str out = STR_INIT;

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		snprintf(line, sizeof(line), AT "\"ev\":\"rcpt.defer\",\"d\":"
		    "\"x\",\"pid\":1,\"reply\":\"%s\",\"PRIORITY\":\"0\"}",
		    values[i]);
		forward_line(&syslogs, slice_of(line), &out);
		for (size_t k = 0; k < out.len; k++)
			cr_expect(out.buf[k] >= ' ' && out.buf[k] < 127);
		forward_line(&journald, slice_of(line), &out);
		cr_expect_null(strstr(out.buf, "\nPRIORITY="));
		for (struct slice rest = str_slice(&out), one; slice_cut(
		    &rest, '\n', &one);)
			cr_expect(one.n == 0 || slice_find(one, '=') < one.n);
	}
	memset(longest, 'x', sizeof(longest) - 1);
	snprintf(line, sizeof(line), AT "\"ev\":\"rcpt.defer\",\"d\":\"x\","
	    "\"pid\":1,\"reply\":\"%s\",\"to\":\"a\"}", longest);
	forward_line(&syslogs, slice_of(line), &out);
	cr_expect_leq(out.len, FORWARD_LINE_BYTES);
	forward_line(&journald, slice_of(line), &out);
	cr_expect_leq(out.len, FORWARD_LINE_BYTES);
	cr_expect_eq(out.buf[out.len - 1], '\n');
	forward_line(&journald, SLICE("no line at all"), &out);
	cr_expect(slice_starts(str_slice(&out), "PRIORITY=6\n"));
	str_release(&out);
}
