/* count.c - days of mail in one page: counting
 *
 * In     lines of the journal
 * Out    a struct mail_report
 * Holds  bounded tables of names
 * Trusts nothing in a line
 * Spec   report.h; zmailer-events(5)
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/crc32c.h"
#include "journal/event.h"
#include "base/json.h"
#include "base/mem.h"
#include "tools/zmailer/report/report.h"

#include "base/banned.h"

enum { SLOT_COUNT = REPORT_NAMES_MAX * 2 };

void
report_init(struct mail_report *report)
{
	memset(report, 0, sizeof(*report));
	report->arena = arena_new();
	tops_init(&report->tops);
	str_init(&report->value);
	str_init(&report->other);
	report->hosts.rows = mem_alloc(REPORT_NAMES_MAX + 1,
	    sizeof(*report->hosts.rows));
	report->hosts.slots = mem_alloc(SLOT_COUNT, sizeof(uint32_t));
	report->classes.rows = mem_alloc(REPORT_NAMES_MAX + 1,
	    sizeof(*report->classes.rows));
	report->classes.slots = mem_alloc(SLOT_COUNT, sizeof(uint32_t));
}

void
report_count_release(struct mail_report *report)
{
	tops_release(&report->tops);
	mem_free(&report->hosts.rows);
	mem_free(&report->hosts.slots);
	mem_free(&report->classes.rows);
	mem_free(&report->classes.slots);
	str_release(&report->value);
	str_release(&report->other);
	arena_free(&report->arena);
}

/* The row of a name, made when it is new and there is room. */
static struct report_name *
report_name_find(struct mail_report *report, struct report_names *names,
    struct slice name)
{
	uint32_t at = crc32c(0, name.p, name.n) % SLOT_COUNT;

	for (; names->slots[at] != 0; at = (at + 1) % SLOT_COUNT)
		if (slice_is(name, names->rows[names->slots[at] - 1].name))
			return &names->rows[names->slots[at] - 1];
	if (names->count == REPORT_NAMES_MAX) {
		names->rows[REPORT_NAMES_MAX].name = "(others)";
		return &names->rows[REPORT_NAMES_MAX];
	}
	names->rows[names->count].name = slice_dup(report->arena, name);
	names->slots[at] = (uint32_t)++names->count;
	return &names->rows[names->count - 1];
}

static struct slice
report_member(struct mail_report *report, struct slice line, const char *key)
{
	str_reset(&report->value);
	json_get(line, key, &report->value);
	return str_slice(&report->value);
}

static uint64_t
count_number(struct mail_report *report, struct slice line, const char *key)
{
	uint64_t value;

	return slice_number(report_member(report, line, key), 0, INT64_MAX,
	    &value) ?
	    value : 0;
}

/* ---- spans ------------------------------------------------------------ */

/* 0 to 15 have a step each; above, eight steps for each doubling. */
static unsigned
report_step_of(uint64_t ms)
{
	unsigned power = 0;
	unsigned step;

	if (ms < 16)
		return (unsigned)ms;
	while (ms >> (power + 1) != 0)
		power++;
	step = 16 + (power - 4) * 8 + (unsigned)(ms >> (power - 3) & 7);
	return step < REPORT_STEPS ? step : REPORT_STEPS - 1;
}

/* The largest span of a step. */
static int64_t
report_step_end(unsigned step)
{
	unsigned power = (step - 16) / 8 + 4, part = (step - 16) % 8;

	if (step < 16)
		return step;
	return (int64_t)((8ull + part + 1) << (power - 3)) - 1;
}

static void
time_add(struct report_times *times, uint64_t ms)
{
	times->count++;
	times->steps[report_step_of(ms)]++;
}

int64_t
report_percentile(const struct report_times *times, unsigned percent)
{
	uint64_t want = (times->count * percent + 99) / 100, seen = 0;

	if (times->count == 0)
		return -1;
	for (unsigned i = 0; i < REPORT_STEPS; i++) {
		seen += times->steps[i];
		if (seen >= want && seen > 0)
			return report_step_end(i);
	}
	return report_step_end(REPORT_STEPS - 1);
}

/* ---- lines ------------------------------------------------------------ */

static struct report_name *
host_of(struct mail_report *report, struct slice line)
{
	str_reset(&report->other);
	json_get(line, "channel", &report->other);
	str_addc(&report->other, '/');
	str_add_slice(&report->other, report_member(report, line, "host"));
	return report_name_find(report, &report->hosts,
	    str_slice(&report->other));
}

static void
count_trouble(struct mail_report *report, struct slice line, bool is_final)
{
	struct report_name *host = host_of(report, line), *class;
	struct slice name = report_member(report, line, "class");

	str_reset(&report->other);
	str_add_slice(&report->other, name.n > 0 ? name : SLICE("-"));
	str_addc(&report->other, ' ');
	str_add_slice(&report->other, report_member(report, line, "code"));
	class = report_name_find(report, &report->classes,
	    str_slice(&report->other));
	if (is_final) {
		host->failed++;
		class->failed++;
		report->failed++;
	} else {
		host->deferred++;
		class->deferred++;
		report->deferred++;
	}
	if (class->example == NULL)
		class->example = slice_dup(report->arena,
		    slice_first(report_member(report, line, "reply"), 160));
}

static void
count_ok(struct mail_report *report, struct slice line)
{
	report->ok++;
	host_of(report, line)->ok++;
	time_add(&report->attempt, count_number(report, line, "ms"));
	time_add(&report->total, count_number(report, line, "delay") * 1000);
}

static void
count_accepted(struct mail_report *report, struct slice line)
{
	report->accepted++;
	report->bytes += count_number(report, line, "size");
}

void
report_count_line(struct mail_report *report, struct slice line)
{
	struct slice ev = report_member(report, line, "ev");

	report->lines++;
	tops_count_line(&report->tops, ev, line);
	if (slice_is(ev, event_rows[EV_RCPT_OK].name))
		count_ok(report, line);
	else if (slice_is(ev, event_rows[EV_RCPT_DEFER].name))
		count_trouble(report, line, false);
	else if (slice_is(ev, event_rows[EV_RCPT_FAIL].name))
		count_trouble(report, line, true);
	else if (slice_is(ev, event_rows[EV_MESSAGE_ACCEPTED].name))
		count_accepted(report, line);
	else if (slice_is(ev, event_rows[EV_MESSAGE_ROUTED].name))
		time_add(&report->routing, count_number(report, line, "ms"));
	else if (slice_is(ev, event_rows[EV_MESSAGE_REFUSED].name))
		report->refused++;
	else if (slice_is(ev, event_rows[EV_MESSAGE_FROZEN].name))
		report->frozen++;
	else if (slice_is(ev, event_rows[EV_MESSAGE_DONE].name))
		report->done++;
	else if (slice_is(ev, event_rows[EV_DSN_SENT].name))
		report->dsn++;
}
