/* conf_case.h - parse a text and look at what came of it
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TEST_CONF_CASE_H
#define ZM_TEST_CONF_CASE_H

#include <criterion/criterion.h>
#include <string.h>

#include "conf/conf.h"

struct conf_case {
	struct arena		*arena;
	struct conf_report	 report;
	struct conf		*conf;
	struct str		 shown;		/* the report as printed */
};

void case_open(struct conf_case *c, const char *text);
/* The text has to be good. */
void case_good(struct conf_case *c, const char *text);
void case_close(struct conf_case *c);
/* The text is refused, and the report has these words. */
void case_refused(const char *text, const char *words);

/* A folder of this test's own, and files in it. */
extern char case_dir[64];
void case_directory(void);
/* Returns the path, which holds until the next call. */
const char *case_file(const char *name, const char *text);
void case_directory_remove(void);

#endif
