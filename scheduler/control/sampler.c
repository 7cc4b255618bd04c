/* sampler.c - the scheduler writes the history
 *
 * In     counters of all processes; how many jobs, agents, sessions there are
 * Out    samples
 * Holds  the file, the counters as they were at the last sample
 * Trusts no counter: any process of ours may have written any number
 * Spec   sampler.h; doc/INTERNALS.md row O10
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/clock.h"
#include "journal/counters.h"
#include "scheduler/control/sampler.h"

#include "base/banned.h"

/* A counter that went back began anew. */
static uint64_t
sampler_grown(uint64_t before, uint64_t now)
{
	return now >= before ? now - before : now;
}

static void
sampler_take(struct sampler *sampler, int64_t now_ms)
{
	struct history_record sample = { 0 };
	uint64_t now[HISTORY_COUNTS];

	history_counters(now);
	for (int i = 0; i < HISTORY_COUNTS; i++)
		sample.counts[i] = sampler_grown(sampler->before[i], now[i]);
	memcpy(sampler->before, now, sizeof(now));
	sample.levels[HISTORY_WAITING] = sampler->agents->queue->jobs.count;
	sample.levels[HISTORY_AGENTS] = agents_busy(sampler->agents);
	sample.levels[HISTORY_SESSIONS] = counters_sum("smtpserver_sessions",
	    "");
	history_add(&sampler->history, clock_wall_s(), now_ms / 1000 -
	    sampler->before_ms / 1000, &sample);
	sampler->before_ms = now_ms;
}

static void sampler_wait(struct sampler *sampler, int64_t now_ms);

/* A timer may be early by less than a second: then it comes again. */
static void
sampler_due(void *context)
{
	struct sampler *sampler = context;
	int64_t now_ms = clock_steady_ms();

	if (now_ms / 1000 > sampler->before_ms / 1000)
		sampler_take(sampler, now_ms);
	sampler_wait(sampler, now_ms);
}

static void
sampler_wait(struct sampler *sampler, int64_t now_ms)
{
	int64_t into_ms = clock_wall_us() / 1000 % (HISTORY_SAMPLE_S * 1000);

	timer_set(sampler->agents->queue->loop, &sampler->timer, now_ms +
	    HISTORY_SAMPLE_S * 1000 - into_ms, sampler_due, sampler);
}

void
sampler_open(struct sampler *sampler, const struct agents *agents, int dir_fd)
{
	struct err err;

	sampler->agents = agents;
	if (history_open(&sampler->history, dir_fd, &err) < 0) {
		warning("%s; no history is kept", err.text);
		return;
	}
	agents->queue->history = &sampler->history;
	history_counters(sampler->before);
	sampler->before_ms = clock_steady_ms();
	sampler_wait(sampler, sampler->before_ms);
}

void
sampler_close(struct sampler *sampler)
{
	if (sampler->agents == NULL || sampler->agents->queue->history == NULL)
		return;
	timer_clear(&sampler->timer);
	sampler_take(sampler, clock_steady_ms());
	sampler->agents->queue->history = NULL;
	history_close(&sampler->history);
}
