/* print.c - days of mail in one page: the page
 *
 * In     a struct mail_report
 * Out    text for people; JSON lines
 * Trusts nothing: names and words have their controls escaped
 * Spec   report.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "tools/zmailer/report/report.h"

#include "base/banned.h"

static uint64_t
print_weight(const struct report_name *row)
{
	return row->ok + row->deferred + row->failed;
}

static int
report_compare(const void *a, const void *b)
{
	uint64_t one = print_weight(a), two = print_weight(b);

	return one != two ? (one < two ? 1 : -1) :
	    strcmp(((const struct report_name *)a)->name,
		((const struct report_name *)b)->name);
}

/* The largest first; the row of the others joins them.  The hash is of no
 * more use then. */
static size_t
print_sort(struct report_names *names)
{
	if (names->rows[REPORT_NAMES_MAX].name != NULL &&
	    names->count == REPORT_NAMES_MAX)
		names->count++;
	if (names->count > 1)
		qsort(names->rows, names->count, sizeof(*names->rows),
		    report_compare);
	return names->count;
}

static void
report_add_times(struct str *out, const char *label,
    const struct report_times *times)
{
	if (times->count == 0)
		return;
	str_addf(out, "  %-24s %8" PRId64 " %8" PRId64 " %8" PRId64 "\n",
	    label, report_percentile(times, 50),
	    report_percentile(times, 90), report_percentile(times, 99));
}

static void
add_hosts(struct str *out, struct mail_report *report)
{
	size_t count = print_sort(&report->hosts);

	if (count == 0)
		return;
	str_addf(out, "\n%-40s %8s %8s %8s\n", "DESTINATION", "OK",
	    "DEFERRED", "FAILED");
	for (size_t i = 0; i < count && i < REPORT_SHOWN; i++) {
		const struct report_name *row = &report->hosts.rows[i];
		struct str name = STR_INIT;

		str_add_escaped(&name, slice_of(row->name));
		str_addf(out, "  %-38s %8" PRIu64 " %8" PRIu64 " %8" PRIu64
		    "\n", name.buf, row->ok, row->deferred, row->failed);
		str_release(&name);
	}
	if (count > REPORT_SHOWN)
		str_addf(out, "  and %zu more\n", count - REPORT_SHOWN);
}

static void
add_classes(struct str *out, struct mail_report *report)
{
	size_t count = print_sort(&report->classes);

	if (count == 0)
		return;
	str_addf(out, "\n%-24s %8s %8s  %s\n", "TROUBLE", "DEFERRED",
	    "FAILED", "FOR EXAMPLE");
	for (size_t i = 0; i < count && i < REPORT_SHOWN; i++) {
		const struct report_name *row = &report->classes.rows[i];

		str_addf(out, "  %-22s %8" PRIu64 " %8" PRIu64 "  ",
		    row->name, row->deferred, row->failed);
		str_add_escaped(out, slice_first(slice_of(row->example ?
		    row->example : ""), 60));
		str_addc(out, '\n');
	}
}

void
report_print(struct mail_report *report, struct str *out)
{
	str_addf(out, "accepted   %8" PRIu64 " messages, %" PRIu64 " kB\n",
	    report->accepted, report->bytes / 1024);
	str_addf(out, "refused    %8" PRIu64 " at the end of data, %" PRIu64
	    " frozen\n", report->refused, report->frozen);
	str_addf(out, "delivered  %8" PRIu64 " recipients, %" PRIu64
	    " failed, %" PRIu64 " attempts deferred\n", report->ok,
	    report->failed, report->deferred);
	str_addf(out, "finished   %8" PRIu64 " messages, %" PRIu64
	    " reports sent\n", report->done, report->dsn);
	str_addf(out, "\n%-26s %8s %8s %8s\n", "MILLISECONDS", "MEDIAN",
	    "90 %", "99 %");
	report_add_times(out, "routing", &report->routing);
	report_add_times(out, "delivery attempt", &report->attempt);
	report_add_times(out, "accepted to delivered", &report->total);
	add_hosts(out, report);
	add_classes(out, report);
	for (int sort = 0; sort < TOPS_SORTS; sort++) {
		if (report->tops.tables[sort].count > 0)
			str_addc(out, '\n');
		tops_print(&report->tops, (enum tops_sort)sort,
		    TOPS_BY_COUNT, TOPS_SHOWN_EACH, out);
	}
}

static void
json_names(struct str *out, const char *kind, struct report_names *names)
{
	size_t count = print_sort(names);

	for (size_t i = 0; i < count; i++) {
		json_open_answer(out);
		json_text(out, "kind", slice_of(kind));
		json_text(out, "name", slice_of(names->rows[i].name));
		json_number(out, "ok", (int64_t)names->rows[i].ok);
		json_number(out, "deferred",
		    (int64_t)names->rows[i].deferred);
		json_number(out, "failed", (int64_t)names->rows[i].failed);
		if (names->rows[i].example != NULL)
			json_text(out, "example",
			    slice_of(names->rows[i].example));
		json_close(out);
	}
}

static void
json_times(struct str *out, const char *stage,
    const struct report_times *times)
{
	json_open_answer(out);
	json_text(out, "kind", SLICE("time"));
	json_text(out, "name", slice_of(stage));
	json_number(out, "count", (int64_t)times->count);
	json_number(out, "p50", report_percentile(times, 50));
	json_number(out, "p90", report_percentile(times, 90));
	json_number(out, "p99", report_percentile(times, 99));
	json_close(out);
}

void
report_print_json(struct mail_report *report, struct str *out)
{
	json_open_answer(out);
	json_text(out, "kind", SLICE("volume"));
	json_number(out, "accepted", (int64_t)report->accepted);
	json_number(out, "bytes", (int64_t)report->bytes);
	json_number(out, "refused", (int64_t)report->refused);
	json_number(out, "frozen", (int64_t)report->frozen);
	json_number(out, "ok", (int64_t)report->ok);
	json_number(out, "deferred", (int64_t)report->deferred);
	json_number(out, "failed", (int64_t)report->failed);
	json_number(out, "done", (int64_t)report->done);
	json_number(out, "reports", (int64_t)report->dsn);
	json_close(out);
	json_times(out, "routing", &report->routing);
	json_times(out, "attempt", &report->attempt);
	json_times(out, "total", &report->total);
	json_names(out, "destination", &report->hosts);
	json_names(out, "trouble", &report->classes);
	for (int sort = 0; sort < TOPS_SORTS; sort++)
		tops_print_json(&report->tops, (enum tops_sort)sort,
		    TOPS_BY_COUNT, TOPS_SHOWN, out);
}
