/* test_files.c - files that include others; what is looked up on the disk
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>

#include "daemon/machine/machine.h"
#include "conf_case.h"

Test(conf, include_is_relative_to_its_file)
{
	struct conf_case c = { .shown = STR_INIT };
	const char *path;

	case_directory();
	case_file("more.conf", "size 7M\nroute a.example va mx\n");
	path = case_file("zmailer.conf", "host h.example\ninclude more.conf\n"
	    "hahs 1\n");
	c.arena = arena_new();
	c.conf = conf_load(path, c.arena, &c.report);
	conf_report_print(&c.report, path, &c.shown);
	cr_expect_null(c.conf);
	cr_assert_eq(c.report.errors, 2, "%s", c.shown.buf);
	/* the including file first, whatever the line numbers */
	cr_expect_eq(c.report.complaints[0].at.line, 3);
	cr_expect_eq(c.report.complaints[1].at.line, 2);
	cr_expect(strstr(c.report.complaints[1].at.file, "more.conf") != NULL);
	case_close(&c);
	case_file("more.conf", "size 7M\n");
	path = case_file("zmailer.conf", "include more.conf\n");
	c.arena = arena_new();
	c.conf = conf_load(path, c.arena, &c.report);
	cr_assert_not_null(c.conf);
	cr_expect_eq(c.conf->limits.size_bytes, 7u << 20);
	case_close(&c);
	case_directory_remove();
}

Test(conf, a_file_that_includes_itself_ends)
{
	struct conf_case c = { .shown = STR_INIT };
	const char *path;

	case_directory();
	path = case_file("zmailer.conf",
	    "include zmailer.conf\ninclude zmailer.conf\n");
	c.arena = arena_new();
	c.conf = conf_load(path, c.arena, &c.report);
	cr_expect_null(c.conf);
	cr_expect_gt(c.report.errors, 0);
	case_close(&c);
	case_directory_remove();
}

Test(conf, what_cannot_be_read_is_an_error_with_its_reason)
{
	struct conf_case c = { .shown = STR_INIT };

	c.arena = arena_new();
	c.conf = conf_load("/nonexistent/x.conf", c.arena, &c.report);
	conf_report_print(&c.report, "/nonexistent/x.conf", &c.shown);
	cr_expect_null(c.conf);
	cr_expect_str_eq(c.shown.buf, "/nonexistent/x.conf: error: it cannot "
	    "be read: No such file or directory\n/nonexistent/x.conf: 1 "
	    "error; the running configuration is unchanged\n");
	case_close(&c);
	c.arena = arena_new();
	c.conf = conf_load("/dev/zero", c.arena, &c.report);
	cr_expect_null(c.conf);
	case_close(&c);
}

Test(conf, second_level_looks_at_files)
{
	struct conf_case c = { .shown = STR_INIT };
	struct str text = STR_INIT;
	const char *path;

	case_directory();
	case_file("nets", "10.0.0.0/8\n10.0.0.1/8\n");
	case_file("twice", "a: b\nA: c\n");
	str_addf(&text, "spool %s\nrun %s\nlog %s/none\n"
	    "table nets file:%s/nets\ntable twice file:%s/twice\n"
	    "table gone file:%s/gone\naccept from <nets> for any\n"
	    "mailbox maildir %s/{user}\nuser agent 12\n",
	    case_dir, case_dir, case_dir, case_dir, case_dir, case_dir,
	    case_dir);
	path = case_file("zmailer.conf", text.buf);
	c.arena = arena_new();
	c.conf = conf_load(path, c.arena, &c.report);
	cr_assert_not_null(c.conf);
	machine_check(c.conf, c.arena, &c.report);
	conf_report_print(&c.report, path, &c.shown);
	cr_expect_eq(c.report.errors, 2, "%s", c.shown.buf);
	cr_expect(strstr(c.shown.buf, ":3:1: warning: log ") != NULL);
	cr_expect(strstr(c.shown.buf, "nets:2:1: error: ") != NULL);
	cr_expect(strstr(c.shown.buf, "nets:2:1: error: '10.0.0.1/8' is not a "
	    "network") != NULL, "%s", c.shown.buf);
	cr_expect(strstr(c.shown.buf, ":2:1: warning: this key") != NULL);
	cr_expect(strstr(c.shown.buf, ":6:1: error: table gone: ") != NULL);
	case_close(&c);
	str_release(&text);
	case_directory_remove();
}

/* Where others keep their files nothing gets an owner of ours. */
Test(conf, a_directory_of_the_system_is_none_of_ours)
{
	static const char *const rows[] = { "spool /tmp\n", "run /run\n",
	    "spool /var/spool/\n", "log /var/log\n", "spool /\n" };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct conf_case c;
		struct str wanted = STR_INIT;

		case_open(&c, rows[i]);
		cr_assert_not_null(c.conf, "row %zu: %s", i, c.shown.buf);
		machine_check(c.conf, c.arena, &c.report);
		str_reset(&c.shown);
		conf_report_print(&c.report, "t.conf", &c.shown);
		str_addf(&wanted, "t.conf:1:1: error: %.*s is a directory of "
		    "the system", (int)strlen(rows[i]) - 1, rows[i]);
		cr_expect(strstr(c.shown.buf, wanted.buf) != NULL, "row %zu: "
		    "%s", i, c.shown.buf);
		str_release(&wanted);
		case_close(&c);
	}
}

/* What the router could not use is named with its line before it comes to
 * that; mail for the others flows, so it is a warning. */
Test(conf, values_of_tables_are_looked_at)
{
	static const char *const wants[] = {
		"routes:3:1: warning: bad.test: ",
		"routes:4:1: warning: odd.test: channel 'nowhere' has no agent",
		"add: schedule nowhere/* { command ",
		"routes:6:1: warning: two.test: channel 'gone' has no agent",
		"routes:7:1: warning: else.test: after else",
		"routes:8:1: warning: login.test: ",
		"people:2:1: warning: eve: this names no mailbox",
		"people:4:1: warning: dot: this names no mailbox",
	};
	static const char *const others[] = { "good.test", "mine.test",
	    "form.test", "ignored.test", "alice", "carol", "dave" };
	struct conf_case c = { .shown = STR_INIT };
	struct str text = STR_INIT;
	const char *path;

	case_directory();
	case_file("routes", "good.test mx\n"
	    "mine.test channel mine/x\n"
	    "bad.test two words\n"
	    "odd.test nowhere!host\n"
	    "form.test error!nouser\n"
	    "two.test mx else channel gone/x\n"
	    "else.test mx else a b\n"
	    "login.test lmtp unix:/x login me\n"
	    "ignored.test ignore!\n");
	case_file("people", "alice\neve \\a/b\ncarol \\carol.box\n"
	    "dot \\.hidden\ndave: David of the cellar\n");
	str_addf(&text, "table routes file:%s/routes\n"
	    "table people file:%s/people\n"
	    "routes <routes>\ndomain x.test { users <people> }\n"
	    "schedule mine/* { command /bin/true }\n", case_dir, case_dir);
	path = case_file("zmailer.conf", text.buf);
	c.arena = arena_new();
	c.conf = conf_load(path, c.arena, &c.report);
	cr_assert_not_null(c.conf);
	machine_check(c.conf, c.arena, &c.report);
	conf_report_print(&c.report, path, &c.shown);
	cr_expect_eq(c.report.errors, 0, "%s", c.shown.buf);
	for (size_t i = 0; i < sizeof(wants) / sizeof(wants[0]); i++)
		cr_expect_not_null(strstr(c.shown.buf, wants[i]), "%s\n%s",
		    wants[i], c.shown.buf);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		char named[80];

		snprintf(named, sizeof(named), ": %s: ", others[i]);
		cr_expect_null(strstr(c.shown.buf, named), "%s\n%s", named,
		    c.shown.buf);
	}
	case_close(&c);
	str_release(&text);
	case_directory_remove();
}
