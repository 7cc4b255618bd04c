/* conf_case.h - parse a text and look at what came of it
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TEST_CONF_CASE_H
#define ZM_TEST_CONF_CASE_H

#include <criterion/criterion.h>
#include <string.h>

#include "daemon/conf/conf.h"

struct conf_case {
	struct arena		*arena;
	struct conf_report	 report;
	struct conf		*conf;
	struct str		 shown;		/* the report as printed */
};

static inline void
case_open(struct conf_case *c, const char *text)
{
	c->arena = arena_new();
	str_init(&c->shown);
	c->conf = conf_parse("t.conf", slice_of(text), c->arena, &c->report);
	conf_report_print(&c->report, "t.conf", &c->shown);
}

static inline void
case_close(struct conf_case *c)
{
	conf_free(&c->conf);
	arena_free(&c->arena);
	str_release(&c->shown);
}

/* The text has to be good. */
static inline void
case_good(struct conf_case *c, const char *text)
{
	case_open(c, text);
	cr_assert_not_null(c->conf, "%s", c->shown.buf);
}

#endif
