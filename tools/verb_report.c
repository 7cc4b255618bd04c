/* verb_report.c - zmailer report: days of mail in one page
 *
 * In     the journal of the last days
 * Out    volume, times, destinations, troubles
 * Spec   zmailer-report(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "tools/report/report.h"
#include "tools/verb.h"

#include "base/banned.h"

enum { REPORT_DAYS_MAX = 3650 };

static void
print(struct journal *journal, unsigned days, bool is_json)
{
	struct journal_cursor cursor = { 0, 0, 0 };
	struct str out = STR_INIT;
	struct report report;
	struct slice line;

	report_init(&report);
	while (journal_next(journal, &cursor, &line))
		report_line(&report, line);
	if (is_json) {
		report_print_json(&report, &out);
	} else {
		str_addf(&out, "zmailer report: the last %u day%s\n\n", days,
		    days == 1 ? "" : "s");
		report_print(&report, &out);
	}
	fputs(out.buf, stdout);
	str_release(&out);
	report_release(&report);
}

int
verb_report(int argc, char **argv, const char *conf_path)
{
	bool is_json = false;
	uint64_t days = 1;
	struct journal *journal;
	struct conf *conf;
	struct err err;
	int status = EX_OK;

	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--json") == 0)
			is_json = true;
		else if (strcmp(argv[i], "--days") != 0 || i + 1 == argc ||
		    !slice_number(slice_of(argv[++i]), 1, REPORT_DAYS_MAX,
			&days))
			return verb_usage(argv[0], "'%s' is not understood; "
			    "--days takes 1 to %d", argv[i], REPORT_DAYS_MAX);
	}
	conf = verb_conf(conf_path);
	if (journal_open(conf->log_dir, (unsigned)days, &journal, &err) < 0) {
		fprintf(stderr, "zmailer: report: %s\n", err.text);
		status = EX_NOINPUT;
	} else {
		print(journal, (unsigned)days, is_json);
		journal_close(&journal);
	}
	conf_free(&conf);
	return status;
}
