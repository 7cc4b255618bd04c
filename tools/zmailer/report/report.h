/* report.h - days of mail in one page, from the journal
 *
 * Counts are kept in tables with a bounded number of names; further names are
 * counted under "(others)".
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_REPORT_H
#define ZM_TOOLS_REPORT_H

#include "tools/journal/journal.h"
#include "tools/zmailer/report/tops.h"

enum {
	REPORT_NAMES_MAX = 4096,	/* of one table */
	REPORT_SHOWN = 10,
	REPORT_STEPS = 256		/* of a histogram of milliseconds */
};

struct report_name {
	const char	*name;
	uint64_t	 ok, deferred, failed;
	const char	*example;	/* last words of the first failure */
};

struct report_names {
	struct report_name *rows;
	size_t		 count;
	uint32_t	*slots;		/* hash: index + 1 */
};

struct report_times {		/* how often a span had which length */
	uint64_t	 count, steps[REPORT_STEPS];
};

struct mail_report {
	struct arena	*arena;
	uint64_t	 lines;
	uint64_t	 accepted, bytes, refused, frozen, done, dsn;
	uint64_t	 ok, deferred, failed;
	struct report_times routing, attempt, total;
	struct report_names hosts, classes;
	struct tops	 tops;
	struct str	 value, other;	/* scratch */
};

/* Begin to count; free it. */
void report_init(struct mail_report *report);
void report_count_release(struct mail_report *report);

/* Count one line of the journal; damaged ones are skipped. */
void report_count_line(struct mail_report *report, struct slice line);

/* The span in milliseconds below which percent of all are; -1: none was
 * counted.  It is at most a tenth too long. */
int64_t report_percentile(const struct report_times *times,
    unsigned percent);

/* Append it as text for people. */
void report_print(struct mail_report *report, struct str *out);
/* Append a line for each fact: kind, name, numbers. */
void report_print_json(struct mail_report *report, struct str *out);

#endif
