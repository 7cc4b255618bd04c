/* counters_rows.c - the rows of metrics.h, and what their labels may be
 *
 * In     nothing
 * Out    tables
 * Spec   metrics.h; RFC 3463 section 3 (subjects of a status)
 *
 * SPDX-License-Identifier: ISC
 */
#include <stddef.h>

#include "journal/counters.h"
#include "journal/counters_table.h"

#include "base/banned.h"

#define SAME(name) { name, name }
#define OTHER { "*", "other" }

static const struct counters_value channels[] = {
#define CHANNEL(channel, program) SAME(channel),
#define CHANNEL_MANY(channel, program) SAME(channel),
#define CHANNEL_UNCOUNTED(channel, program)
#include "journal/channels.h"
#undef CHANNEL
#undef CHANNEL_MANY
#undef CHANNEL_UNCOUNTED
	OTHER
};
static const struct counters_value mechanisms[] = {
	SAME("PLAIN"), SAME("LOGIN"), SAME("SCRAM-SHA-1"),
	SAME("SCRAM-SHA-256"), SAME("SCRAM-SHA-1-PLUS"),
	SAME("SCRAM-SHA-256-PLUS"), SAME("OAUTHBEARER"), SAME("XOAUTH2"),
	OTHER
};
static const struct counters_value tls_versions[] = {
	SAME("TLSv1.2"), SAME("TLSv1.3"), OTHER
};
static const struct counters_value stages[] = {
	{ "EHLO* HELO* LHLO*", "helo" }, { "STARTTLS*", "starttls" },
	{ "AUTH*", "auth" }, { "MAIL*", "mail" }, { "RCPT*", "rcpt" },
	{ "DATA* BDAT*", "data" }, OTHER
};
static const struct counters_value reasons[] = {
	{ "?.1.*", "address" }, { "?.2.*", "mailbox" },
	{ "?.3.*", "system" }, { "?.4.*", "network" },
	{ "?.5.*", "protocol" }, { "?.6.*", "content" },
	{ "?.7.*", "policy" }, OTHER
};
static const struct counters_value classes[] = {
	{ "2.*", "2" }, { "4.*", "4" }, { "5.*", "5" }, OTHER
};
static const struct counters_value subjects[] = {
	{ "?.0.*", "0" }, { "?.1.*", "1" }, { "?.2.*", "2" },
	{ "?.3.*", "3" }, { "?.4.*", "4" }, { "?.5.*", "5" },
	{ "?.6.*", "6" }, { "?.7.*", "7" }, OTHER
};
static const struct counters_value whys[] = {
	{ "table-*", "table" }, { "hook*", "hook" },
	{ "include*", "include" }, { "list*", "list" },
	{ "passwd*", "passwd" }, OTHER
};
static const struct counters_value actions[] = {
	SAME("tempfail"), SAME("accept"), SAME("reject"),
	SAME("quarantine"), OTHER
};
static const struct counters_value limits[] = {
	SAME("sessions"), SAME("sessions-per-client"),
	SAME("session-messages"), SAME("errors"), SAME("command"),
	SAME("recipients"), SAME("recipient-domains"), SAME("size"),
	SAME("line"), SAME("header"), SAME("received"), SAME("rate"),
	SAME("parallel"), SAME("auth-failures"), SAME("auth-failures-user"),
	SAME("expansion"), SAME("hold"), OTHER
};

#define LISTED(values) { values, sizeof(values) / sizeof(values[0]), NULL }

const struct counters_set_row counters_sets[SET_COUNT] = {
	[SET_NONE] = { NULL, 1, NULL },
	[SET_CHANNEL] = LISTED(channels),
	[SET_MECHANISM] = LISTED(mechanisms), [SET_TLS] = LISTED(tls_versions),
	[SET_STAGE] = LISTED(stages), [SET_REASON] = LISTED(reasons),
	[SET_CLASS] = LISTED(classes), [SET_SUBJECT] = LISTED(subjects),
	[SET_WHY] = LISTED(whys), [SET_ACTION] = LISTED(actions),
	[SET_LIMIT] = LISTED(limits),
	[SET_LISTENER] = { NULL, SET_LEARNED, "local" },
	[SET_MILTER] = { NULL, SET_LEARNED, "" }
};

#define MS 1000
#define S 1000000LL

const struct counters_bounds_row counters_bounds[BOUNDS_COUNT] = {
	[BOUNDS_FAST] = { { MS, 5 * MS, 25 * MS, 100 * MS, 500 * MS, S, 5 * S,
	    10 * S, 30 * S, 60 * S }, 10 },
	[BOUNDS_SLOW] = { { S, 5 * S, 30 * S, 60 * S, 300 * S, 3600 * S,
	    21600 * S, 86400 * S }, 8 }
};

#define ONE { "", "", SET_NONE }
#define BY(label, key, set) { label, key, SET_##set }
#define NOW COUNTERS_NOW

const struct counters_row counters_rows[] = {
#define COUNTER(metric_, labels_, event_, by1, by2, text_) \
	{ .type = ROW_COUNTER, .metric = metric_, .labels = labels_, \
	    .event = EV_##event_, .by = { by1, by2 }, .text = text_ },
#define FILTERED(metric_, labels_, event_, key_, front_, text_) \
	{ .type = ROW_COUNTER, .metric = metric_, .labels = labels_, \
	    .event = EV_##event_, .key = key_, .front = front_, \
	    .by = { ONE, ONE }, .text = text_ },
#define SUM(metric_, event_, key_, text_) \
	{ .type = ROW_SUM, .metric = metric_, .labels = "", \
	    .event = EV_##event_, .key = key_, .by = { ONE, ONE }, \
	    .text = text_ },
#define HISTOGRAM(metric_, event_, key_, unit_, bounds_, by1, text_) \
	{ .type = ROW_HISTOGRAM, .metric = metric_, .labels = "", \
	    .event = EV_##event_, .key = key_, .unit_us = unit_, \
	    .bounds = BOUNDS_##bounds_, .by = { by1, ONE }, .text = text_ },
#define TALLY(metric_, labels_, tally_, by1, text_) \
	{ .type = ROW_COUNTER, .metric = metric_, .labels = labels_, \
	    .event = EV_COUNT + TALLY_##tally_, .by = { by1, ONE }, \
	    .text = text_ },
#define SPAN(metric_, tally_, bounds_, by1, text_) \
	{ .type = ROW_HISTOGRAM, .metric = metric_, .labels = "", \
	    .event = EV_COUNT + TALLY_##tally_, .key = "number", \
	    .unit_us = 1, .bounds = BOUNDS_##bounds_, .by = { by1, ONE }, \
	    .text = text_ },
#define LEVEL(metric_, tally_, text_) \
	{ .type = ROW_GAUGE, .metric = metric_, .labels = "", \
	    .event = EV_COUNT + TALLY_##tally_, .key = "number", \
	    .by = { ONE, ONE }, .text = text_ },
#define STATE(metric_, event_, key_, front_, number_, text_) \
	{ .type = ROW_GAUGE, .metric = metric_, .labels = "", \
	    .event = EV_##event_, .key = key_, .front = front_, \
	    .number = number_, .by = { ONE, ONE }, .text = text_ },
#define LOOKED(metric_, type_, labels_, text_) \
	{ .type = ROW_LOOKED, .metric = metric_, .labels = labels_, \
	    .event = EV_COUNT + TALLY_COUNT, .looked = type_, \
	    .by = { ONE, ONE }, .text = text_ },
#include "journal/metrics.h"
};
const unsigned counters_row_count =
    sizeof(counters_rows) / sizeof(counters_rows[0]);
