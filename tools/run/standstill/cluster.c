/* cluster.c - what stands still: the other machines, and what is shared
 *
 * In     what the process share answers
 * Out    rows
 * Holds  nothing
 * Trusts nothing in the answers but their form: controls are escaped
 * Spec   standstill.h; doc/protocol/share.md
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>

#include "io/consult/share_ask.h"
#include "tools/queue/words.h"
#include "tools/run/standstill/parts.h"

#include "base/banned.h"

static const char cluster_next[] = "zmailer cluster status";

static void
cluster_node_row(struct standstill *all, const struct share_line *node)
{
	struct standstill_row *row = standstill_row(all, "node",
	    arena_printf(all->arena, SLICE_FMT,
	    SLICE_ARG(node->name)));
	struct str text = STR_INIT;

	str_addf(&text, "the node " SLICE_FMT, SLICE_ARG(node->name));
	if (!node->is_known) {
		str_adds(&text, " of the cluster was never seen");
	} else {
		str_adds(&text, " of the cluster was not seen for ");
		words_add_span(&text, (int64_t)node->seconds);
	}
	standstill_say(all, row, &text);
	row->next = cluster_next;
	str_release(&text);
}

static void
cluster_redis_row(struct standstill *all, const struct share_line *redis)
{
	struct standstill_row *row = standstill_row(all, "redis",
	    arena_printf(all->arena, SLICE_FMT,
	    SLICE_ARG(redis->name)));
	struct str text = STR_INIT;

	str_addf(&text, "redis " SLICE_FMT " is away for ",
	    SLICE_ARG(redis->name));
	words_add_span(&text, (int64_t)redis->seconds);
	str_addf(&text, ": " SLICE_FMT "; each node counts shared limits for "
	    "itself", SLICE_ARG(redis->words));
	standstill_say(all, row, &text);
	row->next = cluster_next;
	str_release(&text);
}

static void
cluster_copies_row(struct standstill *all, const struct conf *conf,
    const struct share_line *copies)
{
	struct standstill_row *row = standstill_row(all, "postgres", "");
	struct str text = STR_INIT;

	str_adds(&text, "postgres is away for ");
	words_add_span(&text, (int64_t)copies->seconds);
	str_addf(&text, ": " SLICE_FMT "; mail is %s",
	    SLICE_ARG(copies->words), conf->cluster.copies_defer ?
	    "deferred" : "accepted without a copy");
	if (!conf->cluster.delivers_alone)
		str_adds(&text, ", and delivered for 15 s at most after the "
		    "last answer (lease wait)");
	standstill_say(all, row, &text);
	row->next = cluster_next;
	str_release(&text);
}

static void
cluster_owner_row(struct standstill *all, const struct share_line *owner)
{
	struct standstill_row *row = standstill_row(all, "node",
	    arena_printf(all->arena, SLICE_FMT, SLICE_ARG(owner->name)));
	struct str text = STR_INIT;

	str_addf(&text, "the node " SLICE_FMT " of the cluster is stopped or "
	    "lost with %" PRIu64 " message%s that nobody else has",
	    SLICE_ARG(owner->name), owner->count,
	    owner->count == 1 ? "" : "s");
	standstill_say(all, row, &text);
	row->next = cluster_next;
	str_release(&text);
}

static void
cluster_silent_row(struct standstill *all, const struct conf *conf,
    const struct err *err)
{
	bool has_redis = conf_cluster_has_redis(&conf->cluster);
	struct standstill_row *row;
	struct str text = STR_INIT;

	if (err_is_denied(err))		/* what the caller may not see */
		return;
	row = standstill_row(all, has_redis ? "redis" : "postgres", "");
	str_addf(&text, "%s; %s", err->text, has_redis ?
	    "each node counts shared limits for itself" :
	    "mail is not copied");
	standstill_say(all, row, &text);
	row->next = cluster_next;
	str_release(&text);
}

void
standstill_cluster(struct standstill *all, const struct conf *conf)
{
	struct str lines = STR_INIT;
	struct slice rest, line;
	struct share_line parsed;
	enum share_line_kind kind;
	struct err err;

	if (!conf_asks_share(conf))
		return;
	if (share_ask_status(conf->run_dir, STANDSTILL_KNOCK_MS, &lines,
	    &err) < 0)
		cluster_silent_row(all, conf, &err);
	rest = str_slice(&lines);
	while (slice_cut(&rest, '\n', &line)) {
		kind = share_line_parse(line, &parsed);
		if (kind == SHARE_NODE && parsed.is_trouble)
			cluster_node_row(all, &parsed);
		else if (kind == SHARE_REDIS && parsed.is_trouble)
			cluster_redis_row(all, &parsed);
		else if (kind == SHARE_COPIES && parsed.is_trouble)
			cluster_copies_row(all, conf, &parsed);
		else if (kind == SHARE_OWNER && parsed.is_trouble)
			cluster_owner_row(all, &parsed);
	}
	str_release(&lines);
}
