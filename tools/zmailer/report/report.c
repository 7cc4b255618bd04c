/* report.c - zmailer report: days of mail in one page
 *
 * In     the journal of the last days
 * Out    volume, times, destinations, troubles
 * Spec   zmailer-report(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <sysexits.h>

#include "tools/answers/answers.h"
#include "tools/zmailer/report/arrivals.h"
#include "tools/zmailer/report/capacity.h"
#include "tools/zmailer/report/past.h"
#include "tools/zmailer/report/received.h"
#include "tools/zmailer/report/report.h"
#include "tools/zmailer/report/send/send.h"
#include "tools/zmailer/verbs/verb.h"

#include "base/banned.h"

struct wish {
	bool		 is_json, is_capacity;
	int		 top;		/* enum tops_sort; -1: all */
	enum tops_by	 by;
	uint64_t	 days;
};

static int
add_capacity(const struct conf *conf, const struct mail_report *report,
    const struct wish *wish, struct str *out)
{
	struct capacity capacity;
	struct err err;

	if (capacity_find(conf, report, &capacity, &err) < 0) {
		fprintf(stderr, "zmailer: report: %s\n", err.text);
		return EX_NOINPUT;
	}
	if (wish->is_json)
		capacity_print_json(&capacity, out);
	else
		capacity_print(&capacity, out);
	return EX_OK;
}

static void
add_top(struct mail_report *report, const struct wish *wish, struct str *out)
{
	enum tops_sort sort = (enum tops_sort)wish->top;

	if (wish->is_json)
		tops_print_json(&report->tops, sort, wish->by, TOPS_SHOWN,
		    out);
	else if (report->tops.tables[sort].count > 0)
		tops_print(&report->tops, sort, wish->by, TOPS_SHOWN, out);
	else
		str_adds(out, "nobody\n");
}

static int
report_print_all(struct journal *journal, const struct conf *conf,
    const struct wish *wish)
{
	struct journal_cursor cursor = { 0, 0, 0 };
	struct str out = STR_INIT;
	struct mail_report report;
	int status = EX_OK;
	struct slice line;

	report_init(&report);
	while (journal_next(journal, &cursor, &line))
		report_count_line(&report, line);
	if (!wish->is_json)
		str_addf(&out, "zmailer report: %sthe last %u day%s\n\n",
		    wish->is_capacity ? "capacity, by " : "",
		    (unsigned)wish->days, wish->days == 1 ? "" : "s");
	if (wish->top >= 0)
		add_top(&report, wish, &out);
	else if (wish->is_capacity)
		status = add_capacity(conf, &report, wish, &out);
	else if (wish->is_json)
		report_print_json(&report, &out);
	else
		report_print(&report, &out);
	if (status == EX_OK)
		fputs(out.buf, stdout);
	str_release(&out);
	report_count_release(&report);
	return status;
}

static int
report_conf(const struct conf *conf, const struct wish *wish)
{
	struct journal *journal;
	struct err err;
	int status;

	if (journal_days_open(conf->log_dir, (unsigned)wish->days, &journal,
	    &err) < 0)
		return verb_failed("report", &err, EX_NOINPUT);
	status = report_print_all(journal, conf, wish);
	journal_close(&journal);
	return status;
}

static bool
report_asks_scheduler(const struct arguments *arguments)
{
	return arguments_has(arguments, OPT_ARRIVALS) ||
	    arguments_has(arguments, OPT_PAST);
}

int
verb_report(struct arguments *arguments)
{
	struct wish wish = {
	    .days = (uint64_t)arguments_number(arguments, OPT_DAYS, 1),
	    .is_capacity = arguments_has(arguments, OPT_CAPACITY),
	    .is_json = arguments_has(arguments, OPT_JSON) };
	const char *top = arguments_text(arguments, OPT_TOP);
	const char *by = arguments_text(arguments, OPT_TOP_BY);
	int64_t past_ms = arguments_number(arguments, OPT_PAST, 0);
	struct conf *conf;
	int status;

	if (arguments_is(arguments, "send"))
		return report_tell_domains(arguments);
	if (arguments_is(arguments, "dmarc") || arguments_is(arguments, "tls"))
		return received_report(arguments);
	wish.top = top != NULL ? tops_sort_parse(top) : -1;
	wish.by = by != NULL ? (enum tops_by)tops_by_parse(by) :
	    TOPS_BY_COUNT;
	if ((by != NULL && top == NULL) || (top != NULL && wish.is_capacity))
		return arguments_refuse(arguments, by != NULL ?
		    "--by what? Say --top, too" :
		    "--top or --capacity, not both");
	if (report_asks_scheduler(arguments) && (top != NULL ||
	    wish.is_capacity || arguments_has(arguments, OPT_DAYS)))
		return arguments_refuse(arguments, "%s stands alone: it asks "
		    "the scheduler, not the journal", past_ms > 0 ? "--past" :
		    "--arrivals");
	if (past_ms / 1000 > PAST_MOST_S)
		return arguments_refuse(arguments, "--past goes back two "
		    "years (104w), no further");
	conf = verb_conf_spool(arguments->conf_path);
	if (past_ms > 0)
		status = past_report(conf, past_ms / 1000, wish.is_json);
	else if (arguments_has(arguments, OPT_ARRIVALS))
		status = arrivals_report(conf, wish.is_json);
	else if (!answers_have(conf, conf->log_dir, arguments, &status))
		status = report_conf(conf, &wish);
	conf_free(&conf);
	return status;
}
