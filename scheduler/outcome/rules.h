/* rules.h - what a clause says about this kind of failure
 *
 * retry on CLASS... of the configuration, applied to one answer.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SCHEDULER_RULES_H
#define ZM_SCHEDULER_RULES_H

#include "mail/classify.h"
#include "scheduler/jobs/answer.h"
#include "scheduler/plan/queue.h"

/* Class and scope of an answer that is deferred or failed. */
void rules_classify(const struct answer *answer, struct mail_finding *out);

/* The clause's rule for a class, or NULL. */
const struct conf_retry_rule *rules_for_class(
    const struct conf_schedule *clause, enum mail_class class);

/* Remember the words, to say why a destination waits. */
void thread_keep_reason(struct thread *thread, const struct answer *answer);

/* A recipient of a vertex in flight was deferred: its class's own next try
 * goes into vertex->next_ms, or the recipient is marked to end, or its
 * destination is suspended. */
void rules_deferred(struct queue *queue, struct vertex *vertex,
    struct rcpt *rcpt, const struct answer *answer, enum mail_class class);

/* A recipient was refused for good: only a suspension can follow. */
void rules_failed(struct queue *queue, struct vertex *vertex,
    const struct answer *answer);

#endif
