/* reach.c - do the other nodes answer ours?
 *
 * In     the nodes of a cluster with a desk
 * Out    a line for each
 * Holds  nothing
 * Spec   zmailer-cluster(8); doc/protocol/nodes.md
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "io/consult/nodes_ask.h"
#include "tools/publish/drift.h"
#include "tools/zmailer/cluster/cluster.h"

#include "base/banned.h"

static void
reach_json(const char *node, const char *why, int64_t ends_s)
{
	struct str out = STR_INIT;

	json_open_answer(&out);
	json_text(&out, "desk", slice_of(node));
	json_bool(&out, "up", why == NULL);
	if (why != NULL)
		json_text(&out, "reason", slice_of(why));
	if (ends_s > 0)
		json_number(&out, "certificate_ends", ends_s);
	json_close(&out);
	fputs(out.buf, stdout);
	str_release(&out);
}

/* true: nothing is wrong with it. */
static bool
reach_node(const struct conf *conf, const char *node, bool is_json)
{
	int64_t ends_s = 0, days;
	struct err err;
	int fd = nodes_ask(conf->run_dir, node, NODES_CONTROL, &ends_s, &err);

	days = (ends_s - clock_wall_s()) / NODES_DAY_S;
	if (fd >= 0)
		close(fd);
	if (is_json)
		reach_json(node, fd >= 0 ? NULL : err.text, ends_s);
	else if (fd < 0)
		printf("%-24s its desk does NOT answer: %s\n", node,
		    err.text);
	else if (ends_s > 0 && days < NODES_SOON_DAYS)
		printf("%-24s its desk answers; its certificate ENDS in %"
		    PRId64 " days: zmailer cluster keys\n", node, days);
	else
		printf("%-24s its desk answers\n", node);
	return fd >= 0 && (ends_s == 0 || days >= NODES_SOON_DAYS);
}

static void
reach_trial_text(const char *node, const char *from, int64_t until_s,
    struct str *out)
{
	char until[CLOCK_TEXT_BYTES];

	clock_local(until_s, until);
	str_addf(out, "%-24s tries the configuration of %s until %s\n", node,
	    from, until);
}

static void
reach_drift_text(const struct publish_drift *node, bool differs,
    struct str *out)
{
	if (node->trial_from[0] != '\0')
		reach_trial_text(node->node, node->trial_from,
		    node->trial_until_s, out);
	else if (differs && node->may_differ)
		str_addf(out, "%-24s differs while that is tried: %s\n",
		    node->node, node->files);
	else if (differs)
		str_addf(out, "%-24s has ANOTHER configuration: %s\n",
		    node->node, node->files);
}

/* Ours cannot be collected, so no node is known to have the same. */
static void
reach_drift_unknown(const struct conf *conf, bool is_json,
    const struct err *err, struct str *out)
{
	if (!is_json) {
		str_addf(out, "%-24s CANNOT compare its configuration: %s\n",
		    conf->cluster.self, err->text);
		return;
	}
	json_open_answer(out);
	json_text(out, "desk", slice_of(conf->cluster.self));
	json_text(out, "not_compared", slice_of(err->text));
	json_close(out);
}

/* The files that are not as ours.  returns 1: there are some, or nobody can
 * tell; else 0 */
static int
reach_drift(const struct conf *conf, bool is_json)
{
	struct arena *arena = arena_new();
	struct publish_drift *nodes;
	struct str out = STR_INIT;
	struct err err;
	size_t count;
	int status = publish_drift(conf, arena, &nodes, &count, &err) < 0;
	int64_t until_s;
	const char *from = publish_trial(conf, arena, &until_s);

	if (status != 0)
		reach_drift_unknown(conf, is_json, &err, &out);

	if (!is_json && from[0] != '\0')
		reach_trial_text(conf->cluster.self, from, until_s, &out);
	for (size_t i = 0; i < count; i++) {
		const struct publish_drift *node = &nodes[i];
		bool differs = node->is_known && node->files[0] != '\0';

		status = differs && !node->may_differ ? 1 : status;
		if (is_json && node->is_known) {
			json_open_answer(&out);
			json_text(&out, "desk", slice_of(node->node));
			json_text(&out, "files", slice_of(node->files));
			if (node->trial_from[0] != '\0') {
				json_text(&out, "trial",
				    slice_of(node->trial_from));
				json_number(&out, "until",
				    node->trial_until_s);
			}
			json_close(&out);
		} else if (!is_json) {
			reach_drift_text(node, differs, &out);
		}
	}
	fputs(out.buf == NULL ? "" : out.buf, stdout);
	str_release(&out);
	arena_free(&arena);
	return status;
}

int
cluster_reach(const struct conf *conf, bool is_json)
{
	const struct conf_cluster *cluster = &conf->cluster;
	int status = 0;

	for (size_t i = 0; conf_asks_nodes(conf) && i < cluster->node_count;
	    i++)
		if (strcmp(cluster->nodes[i], cluster->self) != 0 &&
		    !reach_node(conf, cluster->nodes[i], is_json))
			status = 1;
	fflush(stdout);
	return reach_drift(conf, is_json) != 0 ? 1 : status;
}
