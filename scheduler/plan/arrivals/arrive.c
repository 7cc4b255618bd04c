/* arrive.c - how long mail took to arrive, as counts of spans
 *
 * In     spans of deliveries
 * Out    the span within which a share of them lies
 * Holds  a count for each of the spans
 * Trusts the text that is read back no more than to be numbers in bounds
 *
 * SPDX-License-Identifier: ISC
 */
#include "scheduler/plan/arrivals/arrive.h"

#include "base/banned.h"

enum { MINUTE = 60, HOUR = 3600, DAY = 86400 };

static const uint32_t arrive_spans_s[ARRIVE_SPANS] = {
	1, 2, 3, 5, 8, 12, 20, 30, 45,
	MINUTE, 90, 2 * MINUTE, 3 * MINUTE, 5 * MINUTE, 8 * MINUTE,
	12 * MINUTE, 20 * MINUTE, 30 * MINUTE, 45 * MINUTE,
	HOUR, 90 * MINUTE, 2 * HOUR, 3 * HOUR, 5 * HOUR, 8 * HOUR, 12 * HOUR,
	DAY, 2 * DAY, 3 * DAY, 5 * DAY
};

/* ---- counts ---------------------------------------------------------- */

unsigned
arrive_count(const struct arrive *arrive)
{
	unsigned sum = 0;

	for (unsigned i = 0; i <= ARRIVE_SPANS; i++)
		sum += arrive->counts[i];
	return sum;
}

static void
arrive_halve(struct arrive *arrive, int64_t now_s)
{
	for (unsigned i = 0; i <= ARRIVE_SPANS; i++)
		arrive->counts[i] /= 2;
	arrive->judged /= 2;
	arrive->held /= 2;
	arrive->aged_s = now_s;
}

/* A clock that was set back counts as a day, too. */
static void
arrive_age(struct arrive *arrive, int64_t now_s)
{
	if (arrive->aged_s == 0)
		arrive->aged_s = now_s;
	else if (now_s - arrive->aged_s >= ARRIVE_AGE_S ||
	    now_s < arrive->aged_s)
		arrive_halve(arrive, now_s);
}

/* The first span that is not shorter. */
static unsigned
arrive_index(int64_t span_ms)
{
	unsigned i = 0;

	while (i < ARRIVE_SPANS &&
	    span_ms > (int64_t)arrive_spans_s[i] * 1000)
		i++;
	return i;
}

void
arrive_add(struct arrive *arrive, int64_t span_ms, int64_t now_s)
{
	arrive_age(arrive, now_s);
	if (arrive_count(arrive) >= ARRIVE_COUNT_MAX)
		arrive_halve(arrive, now_s);
	arrive->counts[arrive_index(span_ms)]++;
}

void
arrive_judge(struct arrive *arrive, bool has_held, int64_t now_s)
{
	arrive_age(arrive, now_s);
	if (arrive->judged >= ARRIVE_COUNT_MAX)
		arrive_halve(arrive, now_s);
	arrive->judged++;
	arrive->held += has_held;
}

int64_t
arrive_within_beside_ms(const struct arrive *arrive, unsigned percent,
    int64_t age_ms, unsigned waiting)
{
	unsigned first = age_ms < 0 ? 0 : arrive_index(age_ms + 1);
	unsigned sum = waiting, seen = 0;

	for (unsigned i = first; i <= ARRIVE_SPANS; i++)
		sum += arrive->counts[i];
	if (sum - waiting < ARRIVE_FEW)
		return -1;
	for (unsigned i = first; i < ARRIVE_SPANS; i++) {
		seen += arrive->counts[i];
		if (seen * 100 >= sum * percent)
			return (int64_t)arrive_spans_s[i] * 1000;
	}
	return -1;
}

int64_t
arrive_within_ms(const struct arrive *arrive, unsigned percent,
    int64_t age_ms)
{
	return arrive_within_beside_ms(arrive, percent, age_ms, 0);
}

/* ---- text ------------------------------------------------------------ */

void
arrive_add_text(const struct arrive *arrive, struct str *out)
{
	unsigned end = ARRIVE_SPANS + 1;

	while (end > 1 && arrive->counts[end - 1] == 0)
		end--;
	str_addf(out, "%lld\t%u\t%u\t", (long long)arrive->aged_s,
	    arrive->judged, arrive->held);
	for (unsigned i = 0; i < end; i++)
		str_addf(out, "%s%u", i > 0 ? "," : "", arrive->counts[i]);
}

static bool
arrive_read_number(struct slice *text, char separator, uint64_t max,
    uint64_t *out)
{
	struct slice part;

	return slice_cut(text, separator, &part) &&
	    slice_number(part, 0, max, out);
}

bool
arrive_read(struct slice text, struct arrive *out)
{
	struct arrive arrive = { .aged_s = 0 };
	uint64_t aged_s, judged, held, count, sum = 0;

	if (!arrive_read_number(&text, '\t', INT64_MAX, &aged_s) ||
	    !arrive_read_number(&text, '\t', ARRIVE_COUNT_MAX, &judged) ||
	    !arrive_read_number(&text, '\t', judged, &held))
		return false;
	for (unsigned i = 0; i <= ARRIVE_SPANS && text.n > 0; i++) {
		if (!arrive_read_number(&text, ',', ARRIVE_COUNT_MAX, &count))
			return false;
		arrive.counts[i] = (uint16_t)count;
		sum += count;
	}
	if (text.n > 0 || sum > ARRIVE_COUNT_MAX)
		return false;
	arrive.aged_s = (int64_t)aged_s;
	arrive.judged = (uint16_t)judged;
	arrive.held = (uint16_t)held;
	*out = arrive;
	return true;
}
