/* retry.c - when a recipient is tried again, and when no more
 *
 * In     the clause's list, counts and moments
 * Out    spans and a yes or no
 * Holds  nothing
 * Trusts nothing that stood in a record: every span is bounded
 * Spec   RFC 5321 section 4.5.4.1: at least 30 minutes after the first
 *        tries, give up after 4-5 days: the clause says so by default
 *
 * SPDX-License-Identifier: ISC
 */
#include "scheduler/plan/retry.h"

#include "base/banned.h"

enum {
	DELAY_MIN_MS = 1000,
	DELAY_DEFAULT_S = 3600,		/* of an empty list */
	DELAY_MAX_S = 30 * 86400	/* of any entry */
};

static int64_t
retry_entry_ms(struct retry_waits waits, unsigned tries)
{
	size_t index = tries == 0 ? 0 : tries - 1;
	int64_t span_s;

	if (waits.count == 0)
		return (int64_t)DELAY_DEFAULT_S * 1000;
	if (index >= waits.count)
		index = waits.count - 1;
	span_s = waits.wait_s[index];
	if (span_s > DELAY_MAX_S)
		span_s = DELAY_MAX_S;
	return span_s < 0 ? 0 : span_s * 1000;
}

int64_t
retry_delay_ms(struct retry_waits waits, unsigned tries, uint32_t random)
{
	int64_t base_ms = retry_entry_ms(waits, tries);
	int64_t jitter_ms = base_ms * waits.jitter_percent / 100;
	int64_t delay_ms = base_ms - jitter_ms +
	    (int64_t)(random % (uint64_t)(2 * jitter_ms + 1));

	return delay_ms < DELAY_MIN_MS ? DELAY_MIN_MS : delay_ms;
}

int64_t
retry_delay_max_ms(struct retry_waits waits)
{
	int64_t most_ms = waits.count == 0 ? retry_entry_ms(waits, 1) : 0;

	for (size_t i = 0; i < waits.count; i++) {
		int64_t span_ms = retry_entry_ms(waits, (unsigned)i + 1);

		if (span_ms > most_ms)
			most_ms = span_ms;
	}
	most_ms += most_ms * waits.jitter_percent / 100;
	return most_ms < DELAY_MIN_MS ? DELAY_MIN_MS : most_ms;
}

int64_t
retry_explicit_ms(int64_t wish_s)
{
	if (wish_s < RETRY_EXPLICIT_MIN_S)
		wish_s = RETRY_EXPLICIT_MIN_S;
	if (wish_s > RETRY_EXPLICIT_MAX_S)
		wish_s = RETRY_EXPLICIT_MAX_S;
	return wish_s * 1000;
}

int64_t
retry_left_ms(struct retry_waits waits, unsigned tries,
    int64_t last_try_s, int64_t next_s, int64_t now_s, uint32_t random)
{
	int64_t most_ms = retry_delay_max_ms(waits), left_ms;

	if (tries > 0 && last_try_s > now_s &&
	    (next_s == 0 || next_s > last_try_s))
		now_s = last_try_s;	/* the clock went back since */
	if (next_s > 0) {
		if (most_ms < (int64_t)RETRY_EXPLICIT_MAX_S * 1000)
			most_ms = (int64_t)RETRY_EXPLICIT_MAX_S * 1000;
		if (next_s <= now_s)
			return 0;
		if (next_s - now_s > most_ms / 1000)
			return retry_delay_ms(waits, tries, random);
		return (next_s - now_s) * 1000;
	}
	if (tries == 0)
		return 0;
	left_ms = retry_delay_ms(waits, tries, random);
	if (now_s - last_try_s >= left_ms / 1000)
		return 0;
	return left_ms - (now_s - last_try_s) * 1000;
}

bool
retry_is_over(int64_t age_ms, int64_t expire_s, unsigned tries,
    bool was_tried_here)
{
	return tries >= 1 && was_tried_here && age_ms / 1000 >= expire_s;
}

bool
retry_is_exhausted(const struct conf_schedule *clause, unsigned tries)
{
	return clause->retry_stops && tries > clause->retry_count;
}

bool
retry_is_untried_over(int64_t age_ms, int64_t expire_s, int64_t untried_s,
    int64_t here_ms)
{
	return age_ms / 1000 >= expire_s + untried_s &&
	    here_ms / 1000 >= untried_s;
}

unsigned
retry_warns_due(const struct conf_schedule *clause, int64_t age_ms)
{
	unsigned count = 0;

	while (count < clause->warn_count &&
	    age_ms / 1000 >= clause->warn_s[count])
		count++;
	return count;
}
