/* takeover.c - zmailer cluster takeover: the mail of a node that is lost
 *
 * In     a node; what the process share says of it
 * Out    its messages in this spool (tools/copies/lost.h)
 * Holds  nothing
 * Spec   zmailer-cluster(8); doc/protocol/share.md section 4
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "base/json.h"
#include "grammar/units.h"
#include "io/consult/share_ask.h"
#include "tools/copies/lost.h"
#include "tools/run/supervisor.h"
#include "tools/zmailer/cluster/cluster.h"
#include "tools/zmailer/verbs/verb.h"

#include "base/banned.h"

struct takeover_run {
	const struct conf *conf;
	const char	*node;
	struct share_order *order;
	struct take	*take;
};

static int
takeover_fail(int status, const char *text)
{
	fprintf(stderr, "zmailer: cluster takeover: %s\n", text);
	return status;
}

static bool
takeover_has_node(const struct conf_cluster *cluster, const char *node)
{
	for (size_t i = 0; i < cluster->node_count; i++)
		if (strcmp(cluster->nodes[i], node) == 0)
			return true;
	return false;
}

static void
takeover_show(const struct takeover_run *run, bool is_json)
{
	const struct take_done *done = take_done(run->take);
	struct str out = STR_INIT;

	if (is_json) {
		json_open_answer(&out);
		json_text(&out, "node", slice_of(run->node));
		json_number(&out, "messages", (int64_t)done->messages);
		json_number(&out, "bytes", (int64_t)done->bytes);
		json_number(&out, "tried", (int64_t)done->with_state);
		json_number(&out, "frozen", (int64_t)done->frozen);
		json_number(&out, "had", (int64_t)done->had);
		json_close(&out);
	} else {
		str_addf(&out, "%" PRIu64 " message%s of %s taken over (",
		    done->messages, done->messages == 1 ? "" : "s",
		    run->node);
		units_add_bytes(&out, done->bytes);
		str_addf(&out, "): %" PRIu64 " had been tried there, %" PRIu64
		    " are in freezer/\n", done->with_state,
		    done->frozen);
		if (done->had > 0)
			str_addf(&out, "%" PRIu64 " were here already\n",
			    done->had);
	}
	fputs(out.buf, stdout);
	str_release(&out);
}

static int
takeover_run(struct takeover_run *run, bool is_json)
{
	struct lost lost = { .node = run->node };
	struct err err;
	int status;
	char by[64];

	verb_who(by, sizeof(by));
	lost.by = by;
	if (dirs_prepare(run->conf, &err) != 0 || take_begin(run->conf,
	    run->order, &run->take, &err) != 0)
		return takeover_fail(errno == EWOULDBLOCK ? EX_TEMPFAIL :
		    EX_CANTCREAT, err.text);
	status = lost_take_over(&lost, run->take, run->order, &err);
	if (status != EX_OK)
		return takeover_fail(status, err.text);
	takeover_show(run, is_json);
	return EX_OK;
}

/* What the database has, without a change. */
static int
takeover_look(const struct takeover_run *run)
{
	struct str lines = STR_INIT;
	struct share_line owner;
	struct slice rest, line;
	struct err err;
	bool is_found = false;

	if (share_ask_status(run->conf->run_dir, SHARE_ASK_FOR_MS, &lines,
	    &err) != 0)
		return takeover_fail(EX_UNAVAILABLE, err.text);
	rest = str_slice(&lines);
	while (rest.n > 0 && slice_cut(&rest, '\n', &line)) {
		if (share_line_parse(line, &owner) != SHARE_OWNER ||
		    !slice_is(owner.name, run->node))
			continue;
		printf("%s has %" PRIu64 " messages that can be taken over",
		    run->node, owner.count);
		if (!owner.is_known)
			puts("; --yes does it");
		else if (owner.seconds == 0)
			puts("; --yes does it, once its lease is over for "
			    "15 s");
		else
			printf(", but it is there (its lease goes on for %"
			    PRIu64 " s)\n", owner.seconds);
		is_found = true;
	}
	str_release(&lines);
	return is_found ? EX_OK : takeover_fail(EX_UNAVAILABLE,
	    "the database does not know that node, or does not answer: "
	    "zmailer cluster status");
}

int
cluster_takeover(const struct conf *conf, const char *node, bool is_yes,
    bool is_json)
{
	struct takeover_run run = { .conf = conf, .node = node };
	struct err err;
	int status;

	if (!takeover_has_node(&conf->cluster, node))
		return takeover_fail(EX_USAGE, "there is no such node in the "
		    "cluster");
	if (strcmp(conf->cluster.self, node) == 0)
		return takeover_fail(EX_USAGE, "that is this machine");
	if (!is_yes)
		return takeover_look(&run);
	run.order = share_order_open(conf->run_dir, &err);
	if (run.order == NULL)
		return takeover_fail(err_is_denied(&err) ? EX_NOPERM :
		    EX_UNAVAILABLE, err.text);
	status = takeover_run(&run, is_json);
	take_end(&run.take);
	share_order_close(&run.order);
	return status;
}
