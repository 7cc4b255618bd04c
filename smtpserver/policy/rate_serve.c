/* rate_serve.c - the helper that counts for all workers
 *
 * In     "take COUNT SPAN_MS KEY", "hold MAX KEY", "release HOLD..."
 * Out    "ok", "ok HOLD", "over SECONDS", "over"
 * Holds  the counters; they begin anew when it is replaced
 * Trusts the workers' numbers; no key
 * Spec   zmailer.conf(5), limit rate, limit parallel
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>

#include "base/buckets.h"
#include "base/clock.h"
#include "smtpserver/helper/helper.h"
#include "smtpserver/policy/serve.h"

#include "base/banned.h"

static bool
number_cut(struct slice *rest, uint64_t max, uint64_t *out)
{
	struct slice word;

	return slice_word(rest, &word) && slice_number(word, 1, max, out);
}

static bool
rate_take(struct buckets *buckets, struct slice rest, struct str *out)
{
	uint64_t count, span_ms;
	int64_t wait_ms;

	if (!number_cut(&rest, UINT32_MAX, &count) ||
	    !number_cut(&rest, INT64_MAX / 2, &span_ms))
		return false;
	wait_ms = buckets_take(buckets, rest, count, (int64_t)span_ms,
	    clock_steady_ms());
	if (wait_ms == 0)
		str_adds(out, "ok");
	else
		str_addf(out, "over %" PRId64, wait_ms / 1000 + 1);
	return true;
}

static bool
rate_hold(struct buckets *buckets, struct slice rest, struct str *out)
{
	uint64_t max, got;

	if (!number_cut(&rest, UINT32_MAX, &max))
		return false;
	got = buckets_hold(buckets, rest, max, clock_steady_ms());
	if (got == 0)
		str_adds(out, "over");
	else
		str_addf(out, "ok %" PRIu64, got);
	return true;
}

static bool
rate_answer(void *state, struct slice question, struct str *out)
{
	struct slice verb = { NULL, 0 };
	uint64_t number;

	(void)slice_word(&question, &verb);
	if (slice_is(verb, "take") && rate_take(state, question, out))
		return true;
	if (slice_is(verb, "hold") && rate_hold(state, question, out))
		return true;
	if (slice_is(verb, "release")) {
		while (number_cut(&question, UINT64_MAX, &number))
			buckets_release(state, number);
		return true;
	}
	str_adds(out, "this cannot be counted");
	return false;
}

void
rate_serve(struct process *process, int socket)
{
	struct buckets *buckets = buckets_new();

	helper_serve(socket, rate_answer, buckets);
	buckets_free(&buckets);
}
