/* turns.c - how long the scheduler is busy at a time, and how much it has read
 *
 * In     the last line of the operation `turns`
 * Out    samples for monitoring; a sentence for people
 * Holds  nothing
 * Trusts the answer only as a line of JSON
 * Spec   doc/protocol/control.md, turns; OpenMetrics 1.0
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>
#include <stdio.h>

#include "journal/counters.h"
#include "base/json.h"
#include "mail/cause.h"
#include "tools/queue/control.h"
#include "tools/queue/turns.h"

#include "base/banned.h"

bool
turns_ask(const char *run_dir, struct str *out_last)
{
	struct str request = STR_INIT;
	struct control control;
	struct err err;
	bool is_said = control_connect(run_dir, &control, &err) ==
	    CONTROL_REACHED;

	if (is_said) {
		control_begin(&request, "turns");
		is_said = control_ask(&control, &request, NULL, NULL,
		    out_last, &err) == 0;
	}
	control_hang_up(&control);
	str_release(&request);
	return is_said;
}

bool
turns_add_unread(struct str *out, const char *run_dir)
{
	struct str last = STR_INIT;
	int64_t unread = 0, read;

	if (turns_ask(run_dir, &last))
		unread = json_get_number(str_slice(&last), "unread");
	read = json_get_number(str_slice(&last), "read");
	if (unread > 0)
		str_addf(out, "%" PRId64 " of %" PRId64 " messages read: the "
		    "scheduler started a moment ago, and knows of the others "
		    "when it has read them", read, read + unread);
	str_release(&last);
	return unread > 0;
}

void
turns_note_unread(const char *verb, const char *run_dir)
{
	struct str text = STR_INIT;

	if (turns_add_unread(&text, run_dir))
		fprintf(stderr, "zmailer: %s: %s\n", verb, text.buf);
	str_release(&text);
}

void
turns_note(const char *verb, const char *run_dir)
{
	struct str last = STR_INIT, why = STR_INIT;

	turns_note_unread(verb, run_dir);
	if (turns_ask(run_dir, &last) && json_get(str_slice(&last), "lease",
	    &why)) {
		str_reset(&last);
		str_add_escaped(&last, str_slice(&why));
		fprintf(stderr, "zmailer: %s: nothing is delivered now: %s: "
		    "%s (%s)\n", verb, cause_find(SLICE("lease"))->text,
		    last.buf, cause_find(SLICE("lease"))->help);
	}
	str_release(&last);
	str_release(&why);
}

void
turns_add_metrics(struct str *out, struct slice last)
{
	static const struct { const char *key, *bound; } rows[] = {
		{ "within_1ms", "0.001" }, { "within_10ms", "0.01" },
		{ "within_100ms", "0.1" }, { "within_1s", "1.0" },
		{ "within_10s", "10.0" }, { "turns", "+Inf" },
	};

	counters_print_head(out, "scheduler_turn_seconds");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		str_addf(out, "zmailer_scheduler_turn_seconds_bucket"
		    "{le=\"%s\"} %" PRId64 "\n", rows[i].bound,
		    json_get_number(last, rows[i].key));
	str_addf(out, "zmailer_scheduler_turn_seconds_count %" PRId64 "\n"
	    "zmailer_scheduler_turn_seconds_sum %.6f\n",
	    json_get_number(last, "turns"),
	    (double)json_get_number(last, "busy_us") / 1e6);
	counters_print_head(out, "scheduler_turn_longest_seconds");
	str_addf(out, "zmailer_scheduler_turn_longest_seconds %.6f\n",
	    (double)json_get_number(last, "longest_us") / 1e6);
}
