/* words.c - moments in words
 *
 * In     seconds
 * Out    words for people
 * Holds  nothing
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>

#include "tools/queue/words.h"

#include "base/banned.h"

void
words_add_span(struct str *out, int64_t span_s)
{
	static const struct { int64_t s; char unit; } units[] =
	    { { 86400, 'd' }, { 3600, 'h' }, { 60, 'm' }, { 1, 's' } };
	size_t i = 0;

	if (span_s <= 0) {
		str_adds(out, "0s");
		return;
	}
	while (span_s < units[i].s)
		i++;
	str_addf(out, "%" PRId64 "%c", span_s / units[i].s, units[i].unit);
	span_s %= units[i].s;
	if (i < 3 && span_s >= units[i + 1].s)
		str_addf(out, "%" PRId64 "%c", span_s / units[i + 1].s,
		    units[i + 1].unit);
}

void
words_add_moment(struct str *out, int64_t at_s, int64_t now_s)
{
	if (at_s == now_s) {
		str_adds(out, "now");
		return;
	}
	if (at_s > now_s)
		str_adds(out, "in ");
	words_add_span(out, at_s > now_s ? at_s - now_s : now_s - at_s);
	if (at_s < now_s)
		str_adds(out, " ago");
}
