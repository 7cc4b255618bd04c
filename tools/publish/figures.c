/* figures.c - refusals and failures of a node, now and before
 *
 * In     the metrics of a node
 * Out    four numbers; whether they have become worse
 * Holds  nothing
 * Trusts no number of another node further than a comparison
 * Spec   figures.h; doc/CLUSTER.md
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>
#include <string.h>
#include <sysexits.h>

#include "tools/nodes/nodes.h"
#include "tools/publish/figures.h"

#include "base/banned.h"

static const struct figures_row {
	const char	*metric, *label, *value;
	size_t		 offset;
} figures_rows[] = {
#define ROW(metric, label, value, field) \
	{ "zmailer_" metric "_total{", label, value, \
	    offsetof(struct figures, field) }
	ROW("smtpserver_messages", "result", "accepted", accepted),
	ROW("smtpserver_rejects", "stage", "rcpt", refused),
	ROW("smtpserver_rejects", "stage", "data", refused),
	ROW("smtpserver_rejects", "stage", "content", refused),
	ROW("deliveries", "result", "ok", delivered),
	ROW("deliveries", "result", "deferred", failed),
	ROW("deliveries", "result", "failed", failed),
#undef ROW
};

/* "zmailer_NAME_total{...,LABEL="VALUE",...} NUMBER" */
static void
figures_line(struct slice line, struct figures *out)
{
	size_t close = slice_find(line, '}');
	struct slice rest = slice_from(line, close + 1), word;
	struct str wanted = STR_INIT;
	uint64_t number;

	if (close == line.n || !slice_word(&rest, &word))
		return;
	word = slice_first(word, slice_find(word, '.'));
	if (!slice_number(word, 0, INT64_MAX, &number))
		return;
	for (size_t i = 0; i < sizeof(figures_rows) / sizeof(figures_rows[0]);
	    i++) {
		const struct figures_row *row = &figures_rows[i];

		str_reset(&wanted);
		str_addf(&wanted, "%s=\"%s\"", row->label, row->value);
		if (slice_starts(line, row->metric) && memmem(line.p, close,
		    wanted.buf, wanted.len) != NULL)
			*(uint64_t *)(void *)((char *)out + row->offset) +=
			    number;
	}
	str_release(&wanted);
}

void
figures_read(struct slice metrics, struct figures *out)
{
	struct slice line;

	*out = (struct figures){ .accepted = 0 };
	while (slice_cut(&metrics, '\n', &line))
		figures_line(line, out);
}

int
figures_ask(const struct conf *conf, const char *node, struct figures *out,
    struct err *err)
{
	static const char *const words[] = { "metrics", NULL };
	struct nodes_said said = { .node = node };
	struct slice why;
	int result = 0;

	nodes_collect(conf, words, &said, 1);
	why = str_slice(&said.err);
	why = slice_first(why, slice_find(why, '\n'));
	if (said.is_silent || said.status != EX_OK)
		result = err_set(err, "its metrics: %.*s", (int)why.n, why.p);
	else
		figures_read(str_slice(&said.out), out);
	nodes_said_release(&said);
	return result;
}

static uint64_t
counter_between(uint64_t from, uint64_t to)
{
	return to >= from ? to - from : to;
}

struct figures
figures_between(const struct figures *from, const struct figures *to)
{
	return (struct figures){
		.accepted = counter_between(from->accepted, to->accepted),
		.refused = counter_between(from->refused, to->refused),
		.delivered = counter_between(from->delivered, to->delivered),
		.failed = counter_between(from->failed, to->failed)
	};
}

/* bad of all now, at least twice the share of before, or good at most half of
 * it; without a before, any share is. */
static bool
share_is_worse(uint64_t bad, uint64_t good, uint64_t bad_before,
    uint64_t good_before)
{
	double all = (double)bad + (double)good;
	double all_before = (double)bad_before + (double)good_before;

	/* products, not shares: no count up to 2^26 is rounded in them, on any
	 * processor */
	if (bad < FIGURES_LEAST)
		return false;
	return (double)bad * all_before >= 2 * (double)bad_before * all ||
	    (good_before > 0 && 2 * (double)good * all_before <=
	    (double)good_before * all && (double)bad * all_before -
	    all * (double)bad_before >= FIGURES_LEAST * all_before);
}

bool
figures_are_worse(const struct figures *before, const struct figures *now)
{
	return share_is_worse(now->refused, now->accepted, before->refused,
	    before->accepted) || share_is_worse(now->failed, now->delivered,
	    before->failed, before->delivered);
}

void
figures_add(struct str *out, const struct figures *before,
    const struct figures *now)
{
	str_addf(out, "refused %" PRIu64 " of %" PRIu64 " (before: %" PRIu64
	    " of %" PRIu64 "), failed %" PRIu64 " of %" PRIu64 " tries "
	    "(before: %" PRIu64 " of %" PRIu64 ")", now->refused,
	    now->refused + now->accepted, before->refused, before->refused +
	    before->accepted, now->failed, now->failed + now->delivered,
	    before->failed, before->failed + before->delivered);
}
