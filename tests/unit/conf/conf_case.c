/* conf_case.c - parse a text and look at what came of it
 *
 * SPDX-License-Identifier: ISC
 */
#include "tests/unit/conf/conf_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

char case_dir[64];

void
case_open(struct conf_case *c, const char *text)
{
	c->arena = arena_new();
	str_init(&c->shown);
	c->conf = conf_parse("t.conf", slice_of(text), c->arena, &c->report);
	conf_report_print(&c->report, "t.conf", &c->shown);
}

void
case_good(struct conf_case *c, const char *text)
{
	case_open(c, text);
	cr_assert_not_null(c->conf, "%s", c->shown.buf);
}

void
case_close(struct conf_case *c)
{
	conf_free(&c->conf);
	arena_free(&c->arena);
	str_release(&c->shown);
}

void
case_refused(const char *text, const char *words)
{
	struct conf_case c;

	case_open(&c, text);
	cr_expect_null(c.conf, "%s", text);
	cr_expect_not_null(strstr(c.shown.buf, words), "%s: %s", text,
	    c.shown.buf);
	case_close(&c);
}

void
case_directory(void)
{
	snprintf(case_dir, sizeof(case_dir), "/tmp/zm-conf-XXXXXX");
	cr_assert_not_null(mkdtemp(case_dir));
}

const char *
case_file(const char *name, const char *text)
{
	static char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", case_dir, name);
	file = fopen(path, "w");
	cr_assert_not_null(file);
	fputs(text, file);
	fclose(file);
	return path;
}

void
case_directory_remove(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", case_dir);
	cr_assert_eq(system(command), 0);
}
