/* rules.c - what a clause says about this kind of failure
 *
 * In     an answer, the clause of its thread
 * Out    a moment, an end, a suspended thread
 * Holds  nothing
 * Trusts the words only as far as they are compared with patterns
 * Spec   zmailer.conf(5), retry; zmailer-classify(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdlib.h>

#include "base/clock.h"
#include "journal/event.h"
#include "scheduler/outcome/outcome.h"
#include "scheduler/outcome/rules.h"
#include "scheduler/plan/retry.h"

#include "base/banned.h"

void
rules_classify(const struct answer *answer, struct mail_finding *out)
{
	classify_reply(answer->text, answer->status, out);
	if (answer->host_trouble && out->scope < SCOPE_HOST)
		out->scope = SCOPE_HOST;
}

const struct conf_retry_rule *
rules_for_class(const struct conf_schedule *clause, enum mail_class class)
{
	for (size_t i = 0; i < clause->rule_count; i++)
		if (clause->rules[i].classes & (UINT32_C(1) << class))
			return &clause->rules[i];
	return NULL;
}

/* The rule's waits; a list that stops ends the recipient behind its last. */
static void
rules_wait(struct vertex *vertex, struct rcpt *rcpt,
    const struct conf_retry_rule *rule, int64_t now_ms)
{
	struct retry_waits waits = { rule->wait_s, rule->wait_count,
	    vertex->thread->ring->clause.jitter_percent };
	unsigned tries = vertex->tries + 1u;	/* this one is not counted */
	int64_t next_ms;

	if (rule->stops && tries > rule->wait_count) {
		rcpt->flags |= RCPT_ENDED;
		vertex->has_ended = true;
		return;
	}
	next_ms = now_ms + retry_delay_ms(waits, tries, arc4random());
	if (vertex->next_ms == 0 || next_ms < vertex->next_ms)
		vertex->next_ms = next_ms;
}

static void
rules_suspend(struct queue *queue, struct thread *thread,
    const struct answer *answer, enum mail_class class, int64_t span_s,
    int64_t now_ms)
{
	bool was_firm = thread->is_firm;

	outcome_keep_reason(thread, answer);
	if (thread->trouble_count == 0)
		thread->trouble_count = 1;	/* a probe comes first */
	plan_hold(&queue->plan, thread, now_ms + span_s * 1000);
	if (was_firm)
		return;
	event(EV_HOST_SUSPENDED, NULL, "channel", slice_of(thread->channel),
	    "host", slice_of(thread->host), "class",
	    slice_of(mail_class_name(class)), "reason",
	    slice_of(thread->reason), "until",
	    event_number(clock_wall_s() + span_s), NULL);
}

/* The rule for what an answer means; NULL: its clause has none. */
static const struct conf_retry_rule *
rules_of(const struct vertex *vertex, const struct answer *answer,
    enum mail_class *out_class)
{
	const struct conf_schedule *clause = &vertex->thread->ring->clause;
	struct mail_finding finding;

	if (clause->rule_count == 0)
		return NULL;
	rules_classify(answer, &finding);
	*out_class = finding.class;
	return rules_for_class(clause, finding.class);
}

void
rules_deferred(struct queue *queue, struct vertex *vertex,
    struct rcpt *rcpt, const struct answer *answer, int64_t now_ms)
{
	enum mail_class class;
	const struct conf_retry_rule *rule = rules_of(vertex, answer, &class);

	if (rule == NULL)
		return;
	switch (rule->action) {
	case RETRY_ON_WAIT:
		rules_wait(vertex, rcpt, rule, now_ms);
		break;
	case RETRY_ON_SUSPEND:
		rules_suspend(queue, vertex->thread, answer, class,
		    rule->suspend_s, now_ms);
		break;
	case RETRY_ON_END:
		rcpt->flags |= RCPT_ENDED;
		vertex->has_ended = true;
		break;
	}
}

void
rules_failed(struct queue *queue, struct vertex *vertex,
    const struct answer *answer, int64_t now_ms)
{
	enum mail_class class;
	const struct conf_retry_rule *rule = rules_of(vertex, answer, &class);

	if (rule != NULL && rule->action == RETRY_ON_SUSPEND)
		rules_suspend(queue, vertex->thread, answer, class,
		    rule->suspend_s, now_ms);
}
