/* objectives.c - objectives that are not met, and what keeps them
 *
 * In     the scheduler's answer: a line an objective
 * Out    the words of a row each; what is met only status tells
 * Holds  nothing
 * Trusts nothing in names: who says the words escapes controls
 * Spec   doc/protocol/control.md, objectives
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>

#include "base/json.h"
#include "grammar/units.h"
#include "mail/cause.h"
#include "tools/run/standstill/parts.h"

#include "base/banned.h"

/* "objective *@far.example 99% 5m is not met: 8 of 10 in the last hour" */
static void
objective_add_share(struct str *out, struct slice line, bool is_met)
{
	int64_t in_time = json_get_number(line, "in_time");
	int64_t late = json_get_number(line, "late");
	int64_t waiting = json_get_number(line, "late_waiting");
	struct str pattern = STR_INIT;

	(void)json_get(line, "objective", &pattern);
	str_addf(out, "objective %s %" PRId64 "%% ", pattern.buf,
	    json_get_number(line, "percent"));
	units_add_span(out, json_get_number(line, "span_s") * 1000);
	str_addf(out, " is %smet: ", is_met ? "" : "not ");
	if (in_time + late + waiting == 0)
		str_adds(out, "nothing arrived in the last hour");
	else
		str_addf(out, "%" PRId64 " of %" PRId64 " in the last hour",
		    in_time, in_time + late + waiting);
	str_release(&pattern);
}

/* "; 2 wait for longer: an operator suspended the destination
 * (smtp/far.example)" */
static void
objective_add_waiting(struct str *out, struct slice line,
    const struct cause_row *cause)
{
	int64_t waiting = json_get_number(line, "late_waiting");
	struct str value = STR_INIT, host = STR_INIT;

	str_addf(out, "; %" PRId64 " wait%s for longer: ", waiting,
	    waiting == 1 ? "s" : "");
	if (cause != NULL)
		str_adds(out, cause->text);
	(void)json_get(line, "channel", &value);
	(void)json_get(line, "host", &host);
	str_addf(out, " (%s/%s", value.buf, host.buf);
	str_reset(&value);
	if (json_get(line, "setting", &value) && value.len > 0)
		str_addf(out, "; %s", value.buf);
	str_reset(&value);
	if (json_get(line, "place", &value) && value.len > 0)
		str_addf(out, ", %s", value.buf);
	str_addc(out, ')');
	str_release(&value);
	str_release(&host);
}

/* Where nothing waits any more it says what made them late. */
static void
objective_add_late(struct str *out, struct slice line)
{
	int64_t late = json_get_number(line, "late");
	int64_t deferred = json_get_number(line, "late_deferred");

	str_addf(out, "; of %" PRId64 " that were late %" PRId64 " had been "
	    "deferred, %" PRId64 " waited in line", late, deferred,
	    late - deferred);
}

static const char *
objective_help(struct arena *arena, struct slice line,
    const struct cause_row *cause)
{
	struct str out = STR_INIT, channel = STR_INIT, host = STR_INIT;
	struct str mail = STR_INIT;
	const char *text;

	(void)json_get(line, "channel", &channel);
	(void)json_get(line, "host", &host);
	str_addf(&mail, "dest:%s", host.buf);
	cause_add_help(cause, str_slice(&mail), str_slice(&channel),
	    str_slice(&host), &out);
	text = slice_dup(arena, str_slice(&out));
	str_release(&out);
	str_release(&channel);
	str_release(&host);
	str_release(&mail);
	return text;
}

void
standstill_objective(struct arena *arena, struct slice line,
    struct standstill_row *row, struct str *out)
{
	bool is_met = json_is(line, "met", "true");
	int64_t waiting = json_get_number(line, "late_waiting");
	int64_t late = json_get_number(line, "late");
	const struct cause_row *cause;
	struct str code = STR_INIT;

	(void)json_get(line, "code", &code);
	cause = cause_find(str_slice(&code));
	row->is_note = row->is_good = is_met;
	row->count = (uint64_t)waiting;
	objective_add_share(out, line, is_met);
	if (waiting > 0)
		objective_add_waiting(out, line, cause);
	else if (late > 0)
		objective_add_late(out, line);
	if (waiting > 0 && cause != NULL && cause->help != NULL)
		row->next = objective_help(arena, line, cause);
	else if (late > 0 && json_get_number(line, "late_deferred") * 2 >=
	    late)
		row->next = "zmailer events rcpt.defer has the words of their "
		    "hosts";
	else
		row->next = is_met ? "zmailer report --arrivals" :
		    "zmailer report --arrivals; schedule ... { parallel N }";
	str_release(&code);
}
