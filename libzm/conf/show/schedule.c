/* schedule.c - one schedule clause as it would be written
 *
 * In     a clause, inheritance done
 * Out    "CHANNEL/HOST { items }"
 * Holds  nothing
 *
 * SPDX-License-Identifier: ISC
 */
#include "conf/read/read.h"
#include "conf/show/show.h"
#include "grammar/date.h"
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
add_span(struct str *out, const char *item, int64_t span_ms)
{
	str_addf(out, "; %s ", item);
	units_add_span(out, span_ms);
}

static void
add_rule(struct str *out, const struct conf_retry_rule *rule)
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
add_rate(struct str *out, const struct conf_schedule *schedule)
{
	if (schedule->rate_count == 0) {
		str_adds(out, "; rate 0");
		return;
	}
	str_addf(out, "; rate %llu/",
	    (unsigned long long)schedule->rate_count);
	units_add_span(out, schedule->rate_per_ms);
}

static const char *
yes_no(bool fact)
{
	return fact ? "yes" : "no";
}

void
conf_show_clause(const struct conf_schedule *s, struct str *out)
{
	static const char *const exhausts[] = { "bounce", "freeze",
	    "reroute" };

	str_addf(out, "%s/%s { parallel %u; agents %u; channel-agents %u; "
	    "provider %u; overfeed %u; connection-messages %u", s->channel,
	    s->host, s->parallel, s->agents, s->channel_agents, s->provider,
	    s->overfeed, s->connection_messages);
	add_rate(out, s);
	str_adds(out, "; retry");
	add_spans(out, s->retry_s, s->retry_count);
	str_addf(out, "%s; jitter %u%%", s->retry_stops ? " stop" : "",
	    s->jitter_percent);
	for (size_t i = 0; i < s->rule_count; i++)
		add_rule(out, &s->rules[i]);
	str_adds(out, "; warn");
	str_adds(out, s->warn_count == 0 ? " 0" : "");
	add_spans(out, s->warn_s, s->warn_count);
	add_span(out, "expire", s->expire_s * 1000);
	add_span(out, "expire-untried", s->untried_s * 1000);
	str_addf(out, "; on-exhaust %s; queue-only %s; order %s; fair %s; "
	    "feedback %s", exhausts[s->exhaust],
	    yes_no(s->is_queue_only), s->is_by_age ? "age" : "arrival",
	    yes_no(s->is_fair), yes_no(s->has_feedback));
	add_span(out, "idle", s->idle_ms);
	if (s->command != NULL) {
		str_adds(out, "; command ");
		conf_add_word(out, s->command);
	}
	if (s->until_s != 0) {
		str_adds(out, "; until ");
		date_add(out, s->until_s);
	}
	str_adds(out, " }");
}
