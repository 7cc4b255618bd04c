/* words.c - moments and constraints in words
 *
 * In     seconds; codes of doc/protocol/control.md
 * Out    words for people
 * Holds  nothing
 * Spec   doc/protocol/control.md, why
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

static const struct words_why whys[] = {
	{ "deleted", "deleted: it goes to trash/", "zmailer undelete ID" },
	{ "held", "held by an operator", "zmailer release ID" },
	{ "frozen", "its retries are exhausted, or an operator froze it",
	    "zmailer thaw ID, zmailer bounce ID" },
	{ "active", "at a transport agent now", NULL },
	{ "drain", "the whole queue is drained: no deliveries begin",
	    "zmailer undrain" },
	{ "suspended", "an operator suspended the destination",
	    "zmailer resume DEST" },
	{ "zone-suspended", "an operator suspended its sending zone",
	    "zmailer zones, zmailer resume zone/NAME" },
	{ "host-down", "nobody at the destination could be served",
	    "zmailer retry ID" },
	{ "future", "the sender asked for delivery later",
	    "zmailer schedule --next +0s ID" },
	{ "scheduled", "an operator said when", "zmailer retry ID" },
	{ "timer", "it waits for its own next try", "zmailer retry ID" },
	{ "rate", "the destination's rate is used up", NULL },
	{ "rule", "a rule (retry on ...) suspended the destination",
	    "zmailer retry ID" },
	{ "provider", "the hosts that take its mail have all the sessions "
	    "that they may", NULL },
	{ "zone", "its sending zone has all the agents that it may",
	    "zone ... { agents N }" },
	{ "warm-up", "its sending zone has sent what it may today",
	    "zone ... { overflow ZONE }" },
	{ "limit", "the destination has all the agents that it may",
	    "zmailer pin --limit N DEST" },
	{ "agents", "all agents of its clause are busy",
	    "schedule ... { agents N }" },
	{ "line", "nothing: others are before it", NULL },
};

const struct words_why *
words_why(struct slice code)
{
	for (size_t i = 0; i < sizeof(whys) / sizeof(whys[0]); i++)
		if (slice_is(code, whys[i].code))
			return &whys[i];
	return NULL;
}
