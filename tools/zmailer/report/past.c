/* past.c - rates and sizes of the past
 *
 * In     the scheduler's answer: a line a point in time
 * Out    a table; JSON lines
 * Holds  nothing
 * Spec   zmailer-report(8); doc/protocol/control.md, history
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>
#include <stdio.h>
#include <sysexits.h>

#include "base/clock.h"
#include "base/json.h"
#include "tools/queue/control.h"
#include "tools/zmailer/report/past.h"

#include "base/banned.h"

static const struct past_column {
	const char	*head, *key;
} columns[] = {
	{ "CAME", "accepted" }, { "REFUSED", "refused" },
	{ "SERVED", "delivered" }, { "PUT OFF", "deferred" },
	{ "FAILED", "failed" }, { "WAITED", "waiting_most" },
};
enum { COLUMNS = sizeof(columns) / sizeof(columns[0]) };

struct past_answer {
	bool		 is_json, is_begun;
};

static void
past_print_head(struct past_answer *answer, struct slice line,
    struct str *out)
{
	char span[CLOCK_TEXT_BYTES];

	if (answer->is_begun)
		return;
	answer->is_begun = true;
	clock_span(json_get_number(line, "span_s"), span);
	str_addf(out, "zmailer report: the past, in steps of %s\n\n%-24s",
	    span, "FROM");
	for (int i = 0; i < COLUMNS; i++)
		str_addf(out, " %9s", columns[i].head);
	str_addc(out, '\n');
}

static bool
past_print_point(void *context, struct slice line)
{
	struct past_answer *answer = context;
	struct str out = STR_INIT;
	char text[CLOCK_TEXT_BYTES];

	if (answer->is_json) {
		control_put_line(line);
		return true;
	}
	past_print_head(answer, line, &out);
	clock_local(json_get_number(line, "at"), text);
	str_addf(&out, "%-24s", text);
	for (int i = 0; i < COLUMNS; i++)
		str_addf(&out, " %9" PRId64, json_get_number(line,
		    columns[i].key));
	str_addc(&out, '\n');
	fputs(out.buf, stdout);
	str_release(&out);
	return true;
}

int
past_report(const struct conf *conf, int64_t span_s, bool is_json)
{
	struct past_answer answer = { .is_json = is_json };
	struct str request = STR_INIT, last = STR_INIT;
	int status = EX_OK;
	struct control control;
	struct err err;
	enum control_reached reached = control_connect(conf->run_dir,
	    &control, &err);

	if (reached == CONTROL_ABSENT)
		return control_stopped("report", conf->run_dir, "`zmailer "
		    "report` has the sums of the journal");
	control_begin(&request, "history");
	json_number(&request, "span_s", span_s);
	json_number(&request, "points", PAST_POINTS);
	if (reached == CONTROL_BROKEN || control_ask(&control, &request,
	    past_print_point, &answer, &last, &err) < 0)
		status = control_failed("report", &control, &err);
	else if (!is_json && !answer.is_begun)
		puts("nothing is known yet");
	control_hang_up(&control);
	str_release(&request);
	str_release(&last);
	return status;
}
