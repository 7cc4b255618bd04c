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
#include <string.h>

#include "base/clock.h"
#include "journal/event.h"
#include "scheduler/outcome/rules.h"
#include "scheduler/plan/retry.h"

#include "base/banned.h"

enum { REASON_BYTES_MAX = 300 };

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

/* The rule's waits; a list that stops ends the recipient after its last. */
static void
rules_wait(struct vertex *vertex, struct rcpt *rcpt,
    const struct conf_retry_rule *rule)
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
	next_ms = clock_steady_ms() + retry_delay_ms(waits, tries,
	    arc4random());
	if (vertex->next_ms == 0 || next_ms < vertex->next_ms)
		vertex->next_ms = next_ms;
}

void
thread_keep_reason(struct thread *thread, const struct answer *answer)
{
	struct str text = STR_INIT;

	str_add_slice(&text, answer->who);
	str_adds(&text, answer->who.n > 0 ? ": " : "");
	str_add_slice(&text, answer->text);
	mem_free(&thread->reason);
	thread->reason = mem_alloc(1, REASON_BYTES_MAX + 1);
	strlcpy(thread->reason, text.buf, REASON_BYTES_MAX);
	str_release(&text);
}

static void
rules_suspend(struct queue *queue, struct thread *thread,
    const struct answer *answer, enum mail_class class, int64_t span_s)
{
	bool was_firm = thread->is_firm;
	int64_t now_ms = clock_steady_ms(), until_ms = now_ms + span_s * 1000;

	if (thread->planned_ms > now_ms && thread->planned_ms < until_ms)
		until_ms = thread->planned_ms;
	thread->planned_ms = 0;
	thread_keep_reason(thread, answer);
	if (thread->trouble_count == 0)
		thread->trouble_count = 1;	/* a probe comes first */
	plan_hold(&queue->plan, thread, until_ms);
	if (was_firm)
		return;
	event(EV_HOST_SUSPENDED, NULL, "channel", slice_of(thread->channel),
	    "host", slice_of(thread->host), "class",
	    slice_of(mail_class_name(class)), "reason",
	    slice_of(thread->reason), "until",
	    event_number(clock_wall_of_s(until_ms)), NULL);
}

void
rules_deferred(struct queue *queue, struct vertex *vertex, struct rcpt *rcpt,
    const struct answer *answer, enum mail_class class)
{
	const struct conf_retry_rule *rule = rules_for_class(
	    &vertex->thread->ring->clause, class);

	if (rule == NULL)
		return;
	switch (rule->action) {
	case RETRY_ON_WAIT:
		rules_wait(vertex, rcpt, rule);
		break;
	case RETRY_ON_SUSPEND:
		rules_suspend(queue, vertex->thread, answer, class,
		    rule->suspend_s);
		break;
	case RETRY_ON_END:
		rcpt->flags |= RCPT_ENDED;
		vertex->has_ended = true;
		break;
	}
}

void
rules_failed(struct queue *queue, struct vertex *vertex,
    const struct answer *answer)
{
	const struct conf_schedule *clause = &vertex->thread->ring->clause;
	const struct conf_retry_rule *rule;
	struct mail_finding finding;

	if (clause->rule_count == 0)
		return;
	rules_classify(answer, &finding);
	rule = rules_for_class(clause, finding.class);
	if (rule != NULL && rule->action == RETRY_ON_SUSPEND)
		rules_suspend(queue, vertex->thread, answer, finding.class,
		    rule->suspend_s);
}
