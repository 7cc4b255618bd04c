/* arrivals.c - how long mail takes to arrive, and how estimates hold
 *
 * In     the scheduler's answer: a line a destination and channel
 * Out    a table; JSON lines
 * Holds  the lines, while they are sorted
 * Trusts nothing in names: controls are escaped
 * Spec   zmailer-report(8); doc/protocol/control.md, arrivals
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "base/json.h"
#include "base/mem.h"
#include "tools/queue/control.h"
#include "tools/queue/words.h"
#include "tools/zmailer/report/arrivals.h"

#include "base/banned.h"

struct arrivals_row {
	char	*name;			/* "smtp/far.example" */
	int64_t	 arrived, p50_s, p90_s, p99_s, judged, held;
};

struct arrivals_rows {
	struct arrivals_row *rows;
	size_t	 count;
	bool	 is_json;
};

static bool
arrivals_take(void *context, struct slice line)
{
	struct arrivals_rows *all = context;
	struct str channel = STR_INIT, host = STR_INIT, name = STR_INIT;

	if (all->is_json) {
		control_put_line(line);
		return true;
	}
	(void)json_get(line, "channel", &channel);
	(void)json_get(line, "host", &host);
	str_add_escaped(&name, str_slice(&channel));
	str_addc(&name, '/');
	str_add_escaped(&name, str_slice(&host));
	all->rows = mem_grow(all->rows, all->count + 1,
	    sizeof(*all->rows));
	all->rows[all->count++] = (struct arrivals_row){
	    .name = mem_strdup(name.buf),
	    .arrived = json_get_number(line, "arrived"),
	    .p50_s = json_get_number(line, "p50_s"),
	    .p90_s = json_get_number(line, "p90_s"),
	    .p99_s = json_get_number(line, "p99_s"),
	    .judged = json_get_number(line, "estimates"),
	    .held = json_get_number(line, "estimates_held") };
	str_release(&channel);
	str_release(&host);
	str_release(&name);
	return true;
}

static int
arrivals_compare(const void *pa, const void *pb)
{
	const struct arrivals_row *a = pa, *b = pb;

	return a->arrived != b->arrived ? (a->arrived < b->arrived ? 1 : -1) :
	    strcmp(a->name, b->name);
}

static void
arrivals_add_span(struct str *out, int64_t span_s)
{
	struct str span = STR_INIT;

	if (span_s < 0)
		str_addc(&span, '-');
	else
		words_add_span(&span, span_s);
	str_addf(out, " %8s", span.buf);
	str_release(&span);
}

static void
arrivals_print(struct arrivals_rows *all)
{
	struct str out = STR_INIT;

	str_adds(&out, "zmailer report: from acceptance to delivery, of about "
	    "the last thousand each\n\n");
	str_addf(&out, "%-38s %8s %8s %8s %8s  %s\n", "DESTINATION", "ARRIVED",
	    "HALF", "90 %", "99 %", "ESTIMATES THAT HELD");
	if (all->count > 1)
		qsort(all->rows, all->count, sizeof(*all->rows),
		    arrivals_compare);
	for (size_t i = 0; i < all->count && i < ARRIVALS_SHOWN; i++) {
		const struct arrivals_row *row = &all->rows[i];

		str_addf(&out, "%-38s %8" PRId64, row->name, row->arrived);
		arrivals_add_span(&out, row->p50_s);
		arrivals_add_span(&out, row->p90_s);
		arrivals_add_span(&out, row->p99_s);
		if (row->judged > 0)
			str_addf(&out, "  %" PRId64 " of %" PRId64 "\n",
			    row->held, row->judged);
		else
			str_adds(&out, "  -\n");
	}
	if (all->count > ARRIVALS_SHOWN)
		str_addf(&out, "and %zu more: --json\n", all->count -
		    ARRIVALS_SHOWN);
	fputs(out.buf, stdout);
	str_release(&out);
}

static void
arrivals_rows_release(struct arrivals_rows *all)
{
	for (size_t i = 0; i < all->count; i++)
		mem_free(&all->rows[i].name);
	mem_free(&all->rows);
}

int
arrivals_report(const struct conf *conf, bool is_json)
{
	struct arrivals_rows all = { .is_json = is_json };
	struct str request = STR_INIT, last = STR_INIT;
	int status = EX_OK;
	struct control control;
	struct err err;
	enum control_reached reached = control_connect(conf->run_dir,
	    &control, &err);

	if (reached == CONTROL_ABSENT)
		return control_stopped("report", conf->run_dir, "`zmailer "
		    "report` has the times of the journal");
	control_begin(&request, "arrivals");
	if (reached == CONTROL_BROKEN || control_ask(&control, &request,
	    arrivals_take, &all, &last, &err) < 0)
		status = control_failed("report", &control, &err);
	else if (!is_json)
		arrivals_print(&all);
	control_hang_up(&control);
	str_release(&request);
	str_release(&last);
	arrivals_rows_release(&all);
	return status;
}
