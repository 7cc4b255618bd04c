/* status.c - zmailer cluster status: the other machines, and what is shared
 *
 * In     the answer of the process share
 * Out    a line for each node, the states of Redis and PostgreSQL, a line for
 *        each owner of copies; or JSON
 * Holds  nothing
 * Trusts nothing in the answers but their form
 * Spec   zmailer-cluster(8); doc/protocol/share.md
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "base/clock.h"
#include "base/json.h"
#include "grammar/units.h"
#include "io/consult/share_ask.h"
#include "tools/zmailer/cluster/cluster.h"

#include "base/banned.h"

struct cluster_look {
	const struct conf *conf;
	struct str	 lines;		/* as share said them */
	bool		 is_json;
	bool		 is_bad;	/* away, or a node is missing */
};

static void
cluster_add_ago(struct str *out, uint64_t seconds)
{
	char span[CLOCK_TEXT_BYTES];

	clock_span((int64_t)seconds, span);
	str_adds(out, span);
}

static void
cluster_node_json(const struct share_line *node, bool is_missing,
    struct str *out)
{
	json_open_answer(out);
	json_text(out, "node", node->name);
	json_text(out, "is", node->whose);
	json_bool(out, "missing", is_missing);
	if (node->is_known)
		json_number(out, "seen_s", (int64_t)node->seconds);
	json_close(out);
}

static void
cluster_node(struct cluster_look *look, const struct share_line *node,
    struct str *out)
{
	bool is_stranger = slice_is(node->whose, "stranger");

	/* one that the configuration does not name may have been taken out */
	if (is_stranger && (!node->is_known ||
	    node->seconds > SHARE_MISSING_S))
		return;
	look->is_bad = look->is_bad || node->is_trouble;
	if (look->is_json) {
		cluster_node_json(node, node->is_trouble, out);
		return;
	}
	str_addf(out, "%-24.*s ", (int)node->name.n, node->name.p);
	if (!node->is_known)
		str_adds(out, "never seen");
	else {
		str_adds(out, "seen ");
		cluster_add_ago(out, node->seconds);
		str_adds(out, " ago");
	}
	str_addf(out, "%s%s%s\n", node->is_trouble ? ", MISSING" : "",
	    slice_is(node->whose, "self") ? ", this one" : "",
	    is_stranger ? ", not named here" : "");
}

static void
cluster_redis(struct cluster_look *look, const struct share_line *redis,
    struct str *out)
{
	look->is_bad = look->is_bad || redis->is_trouble;
	if (look->is_json) {
		json_open_answer(out);
		json_text(out, "redis", redis->name);
		json_bool(out, "up", !redis->is_trouble);
		json_number(out, "since_s", (int64_t)redis->seconds);
		if (redis->is_trouble)
			json_text(out, "reason", redis->words);
		json_close(out);
		return;
	}
	str_addf(out, "redis " SLICE_FMT " %s for ", SLICE_ARG(redis->name),
	    redis->is_trouble ? "is AWAY" : "answers");
	cluster_add_ago(out, redis->seconds);
	if (redis->is_trouble)
		str_addf(out, ": " SLICE_FMT "\n      each node counts for "
		    "itself, COUNT divided by the nodes seen last",
		    SLICE_ARG(redis->words));
	str_addc(out, '\n');
}

/* "TRIPS BATCHED NODES HELD" */
static void
cluster_figures(const struct cluster_look *look, struct slice rest,
    struct str *out)
{
	struct slice trips, batched, nodes, held;
	uint64_t keys, count, places;

	if (!slice_word(&rest, &trips) || !slice_word(&rest, &batched) ||
	    !slice_word(&rest, &nodes) || !slice_word(&rest, &held) ||
	    !slice_number(batched, 0, UINT32_MAX, &keys) ||
	    !slice_number(nodes, 0, UINT32_MAX, &count) ||
	    !slice_number(held, 0, UINT32_MAX, &places))
		return;
	if (look->is_json) {
		json_open_answer(out);
		json_text(out, "trips_per_s", trips);
		json_number(out, "batched", (int64_t)keys);
		json_number(out, "nodes", (int64_t)count);
		json_number(out, "held", (int64_t)places);
		json_close(out);
		return;
	}
	str_addf(out, SLICE_FMT " questions a second, %" PRIu64 " keys taken "
	    "in batches, %" PRIu64 " places held; %" PRIu64 " nodes count\n",
	    SLICE_ARG(trips), keys, places, count);
}

static void
cluster_copies_json(const struct share_line *copies, struct str *out)
{
	json_open_answer(out);
	json_text(out, "copies", copies->is_trouble ? SLICE("away") :
	    SLICE("up"));
	json_bool(out, "up", !copies->is_trouble);
	json_number(out, "since_s", (int64_t)copies->seconds);
	json_number(out, "waiting", (int64_t)copies->count);
	if (copies->is_trouble)
		json_text(out, "reason", copies->words);
	json_close(out);
}

static void
cluster_copies(struct cluster_look *look, const struct share_line *copies,
    struct str *out)
{
	look->is_bad = look->is_bad || copies->is_trouble;
	if (look->is_json) {
		cluster_copies_json(copies, out);
		return;
	}
	str_addf(out, "postgres %s for ", copies->is_trouble ? "is AWAY" :
	    "takes copies");
	cluster_add_ago(out, copies->seconds);
	if (copies->is_trouble)
		str_addf(out, ": " SLICE_FMT "\n      messages are %s",
		    SLICE_ARG(copies->words),
		    look->conf->cluster.copies_defer ? "deferred (451)" :
		    "accepted without a copy");
	if (copies->is_trouble && !look->conf->cluster.delivers_alone)
		str_adds(out, ", and delivered for 15 s at most after the "
		    "last answer (lease wait)");
	if (!copies->is_trouble && copies->count > 0)
		str_addf(out, ", %" PRIu64 " wait", copies->count);
	str_addc(out, '\n');
}

static void
cluster_owner_json(const struct cluster_look *look,
    const struct share_line *owner, struct str *out)
{
	json_open_answer(out);
	json_text(out, "owner", owner->name);
	json_number(out, "epoch", (int64_t)owner->epoch);
	if (owner->is_known)
		json_number(out, "lease_s", (int64_t)owner->seconds);
	json_number(out, "copies", (int64_t)owner->count);
	json_number(out, "bytes", (int64_t)owner->bytes);
	if (owner->whose.n > 0)
		json_text(out, "taken_by", owner->whose);
	json_bool(out, "lost", owner->is_trouble);
	if (look->conf->cluster.takeover_after_ms > 0)
		json_number(out, "takeover_after_s",
		    look->conf->cluster.takeover_after_ms / 1000);
	json_close(out);
}

/* Who delivers what a lost node has, and when. */
static void
cluster_add_way_out(const struct conf *conf, const struct share_line *owner,
    struct str *out)
{
	int64_t after_ms = conf->cluster.takeover_after_ms;

	str_adds(out, "      it is stopped or lost, and nobody delivers "
	    "these: ");
	if (after_ms > 0) {
		str_adds(out, "they are taken over when its lease is over "
		    "for ");
		units_add_span(out, after_ms);
		str_adds(out, ", or at once by ");
	}
	str_addf(out, "zmailer cluster takeover " SLICE_FMT "\n",
	    SLICE_ARG(owner->name));
}

static void
cluster_owner(struct cluster_look *look, const struct share_line *owner,
    struct str *out)
{
	look->is_bad = look->is_bad || owner->is_trouble;
	if (look->is_json) {
		cluster_owner_json(look, owner, out);
		return;
	}
	str_addf(out, "%-24.*s %" PRIu64 " copies, ", (int)owner->name.n,
	    owner->name.p, owner->count);
	units_add_bytes(out, owner->bytes);
	if (owner->is_known && owner->seconds > 0)
		str_addf(out, ", lease for %" PRIu64 "s", owner->seconds);
	else if (owner->is_known)
		str_adds(out, ", its lease is over");
	if (owner->whose.n > 0)
		str_addf(out, ", TAKEN OVER by " SLICE_FMT,
		    SLICE_ARG(owner->whose));
	str_addf(out, " (epoch %" PRIu64 ")\n", owner->epoch);
	if (owner->is_trouble)
		cluster_add_way_out(look->conf, owner, out);
}

static void
cluster_print(struct cluster_look *look)
{
	struct slice rest = str_slice(&look->lines), line, word;
	struct share_line parsed;
	struct str out = STR_INIT;

	while (slice_cut(&rest, '\n', &line))
		switch (share_line_parse(line, &parsed)) {
		case SHARE_NODE:
			cluster_node(look, &parsed, &out);
			break;
		case SHARE_REDIS:
			cluster_redis(look, &parsed, &out);
			break;
		case SHARE_COPIES:
			cluster_copies(look, &parsed, &out);
			break;
		case SHARE_OWNER:
			cluster_owner(look, &parsed, &out);
			break;
		case SHARE_OTHER:
			if (slice_word(&line, &word) &&
			    slice_is(word, "figures"))
				cluster_figures(look, line, &out);
			break;
		}
	fputs(out.buf, stdout);
	str_release(&out);
}

/* returns an exit status */
static int
cluster_ask(struct cluster_look *look)
{
	struct err err;

	if (share_ask_status(look->conf->run_dir, SHARE_ASK_FOR_MS,
	    &look->lines, &err) < 0) {
		fprintf(stderr, "zmailer: cluster: %s\n", err.text);
		return err_is_denied(&err) ? EX_NOPERM : EX_UNAVAILABLE;
	}
	if (!look->is_json)
		printf("cluster %s\n", look->conf->cluster.name);
	cluster_print(look);
	return look->is_bad ? 1 : EX_OK;
}

int
cluster_status(const struct conf *conf, bool is_json)
{
	struct cluster_look look = { .conf = conf, .lines = STR_INIT,
	    .is_json = is_json };
	int status = EX_OK, desk;

	if (!conf_asks_share(conf) && !conf_asks_nodes(conf)) {
		fputs("zmailer: cluster: no cluster with a redis, a postgres "
		    "or a desk is configured (zmailer help cluster)\n",
		    stderr);
		return EX_CONFIG;
	}
	if (conf_asks_share(conf))
		status = cluster_ask(&look);
	else if (!is_json)
		printf("cluster %s\n", conf->cluster.name);
	str_release(&look.lines);
	desk = cluster_reach(conf, is_json);
	return status != EX_OK ? status : desk;
}
