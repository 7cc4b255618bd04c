/* schedule.c - one schedule clause as it would be written
 *
 * In     a clause, inheritance done
 * Out    "CHANNEL/HOST { items }"
 * Holds  nothing
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "conf/read/read.h"
#include "conf/show/show.h"
#include "grammar/units.h"
#include "mail/classify.h"

#include "base/banned.h"

static void
add_spans(struct str *out, const int64_t *spans_s, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		str_addc(out, ' ');
		units_add_span(out, spans_s[i] * 1000);
	}
}

static void
clause_add_rule(struct str *out, const struct conf_retry_rule *rule)
{
	char before = ' ';

	str_adds(out, "; retry on");
	for (int i = 0; i < CLASS_COUNT; i++)
		if (rule->classes & (UINT32_C(1) << i)) {
			str_addf(out, "%c%s", before,
			    mail_class_name((enum mail_class)i));
			before = ',';
		}
	switch (rule->action) {
	case RETRY_ON_WAIT:
		add_spans(out, rule->wait_s, rule->wait_count);
		str_adds(out, rule->stops ? " stop" : "");
		break;
	case RETRY_ON_SUSPEND:
		str_adds(out, " suspend ");
		units_add_span(out, rule->suspend_s * 1000);
		break;
	case RETRY_ON_END:
		str_adds(out, " end");
		break;
	}
}

static void
add_retry(struct str *out, const struct conf_schedule *schedule)
{
	add_spans(out, schedule->retry_s, schedule->retry_count);
	str_adds(out, schedule->retry_stops ? " stop" : "");
	for (size_t i = 0; i < schedule->rule_count; i++)
		clause_add_rule(out, &schedule->rules[i]);
}

static void
add_item(struct str *out, const struct conf_row *row,
    const struct conf_schedule *schedule)
{
	const char *field = (const char *)schedule + row->offset;
	int64_t span;

	if (row->apply == conf_apply_retry) {
		add_retry(out, schedule);
	} else if (row->apply == conf_apply_warn) {
		str_adds(out, schedule->warn_count == 0 ? " 0" : "");
		add_spans(out, schedule->warn_s, schedule->warn_count);
	} else if (row->apply == conf_apply_item_s) {
		memcpy(&span, field, sizeof(span));
		add_spans(out, &span, 1);
	} else {
		str_addc(out, ' ');
		conf_show_field(out, row->args, field, row->width);
	}
}

void
conf_show_clause(const struct conf_schedule *schedule, struct str *out)
{
	const char *before = " ";

	str_addf(out, "%s/%s {", schedule->channel, schedule->host);
	for (size_t i = 0; i < conf_row_count; i++) {
		const struct conf_row *row = &conf_rows[i];
		size_t begin = out->len, bare;

		if (row->group != GROUP_SCHEDULE)
			continue;
		str_addf(out, "%s%s", before, row->name);
		bare = out->len + 1;
		add_item(out, row, schedule);
		if (out->len == bare)		/* it says nothing */
			str_truncate(out, begin);
		else
			before = "; ";
	}
	str_adds(out, " }");
}
