/* cluster.c - zmailer cluster: the other machines, and what is shared
 *
 * In     what the process share answers
 * Out    a line a node and how Redis stands; or JSON
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
#include "io/share_ask.h"
#include "tools/zmailer/verbs/verb.h"

#include "base/banned.h"

enum { CLUSTER_MISSING_S = 30 };	/* not seen for longer: missing */

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

/* "NAME SECONDS|- self|other|stranger" */
static void
cluster_node(struct cluster_look *look, struct slice rest, struct str *out)
{
	struct slice name, ago, whose;
	uint64_t seconds = 0;
	bool was_seen, is_missing;

	if (!slice_word(&rest, &name) || !slice_word(&rest, &ago) ||
	    !slice_word(&rest, &whose))
		return;
	was_seen = slice_number(ago, 0, UINT32_MAX, &seconds);
	is_missing = !was_seen || seconds > CLUSTER_MISSING_S;
	/* one that the configuration does not name may have been taken out */
	if (is_missing && slice_is(whose, "stranger"))
		return;
	look->is_bad = look->is_bad || is_missing;
	if (look->is_json) {
		json_open_answer(out);
		json_text(out, "node", name);
		json_text(out, "is", whose);
		json_bool(out, "missing", is_missing);
		if (was_seen)
			json_number(out, "seen_s", (int64_t)seconds);
		json_close(out);
		return;
	}
	str_addf(out, "%-24.*s ", (int)name.n, name.p);
	if (!was_seen)
		str_adds(out, "never seen");
	else {
		str_adds(out, "seen ");
		cluster_add_ago(out, seconds);
		str_adds(out, " ago");
	}
	str_addf(out, "%s%s%s\n", is_missing ? ", MISSING" : "",
	    slice_is(whose, "self") ? ", this one" : "",
	    slice_is(whose, "stranger") ? ", not named here" : "");
}

/* "ADDRESS up|away SECONDS WORDS" */
static void
cluster_redis(struct cluster_look *look, struct slice rest, struct str *out)
{
	struct slice place, state, since;
	uint64_t seconds;
	bool is_up;

	if (!slice_word(&rest, &place) || !slice_word(&rest, &state) ||
	    !slice_word(&rest, &since) ||
	    !slice_number(since, 0, UINT32_MAX, &seconds))
		return;
	is_up = slice_is(state, "up");
	look->is_bad = look->is_bad || !is_up;
	if (look->is_json) {
		json_open_answer(out);
		json_text(out, "redis", place);
		json_bool(out, "up", is_up);
		json_number(out, "since_s", (int64_t)seconds);
		if (!is_up)
			json_text(out, "reason", slice_trim(rest));
		json_close(out);
		return;
	}
	str_addf(out, "redis " SLICE_FMT " %s for ", SLICE_ARG(place),
	    is_up ? "answers" : "is AWAY");
	cluster_add_ago(out, seconds);
	if (!is_up)
		str_addf(out, ": " SLICE_FMT "\n      each node counts for "
		    "itself, COUNT divided by the nodes seen last",
		    SLICE_ARG(slice_trim(rest)));
	str_addc(out, '\n');
}

/* "TRIPS BATCHED NODES" */
static void
cluster_figures(const struct cluster_look *look, struct slice rest,
    struct str *out)
{
	struct slice trips, batched, nodes;
	uint64_t keys, count;

	if (!slice_word(&rest, &trips) || !slice_word(&rest, &batched) ||
	    !slice_word(&rest, &nodes) ||
	    !slice_number(batched, 0, UINT32_MAX, &keys) ||
	    !slice_number(nodes, 0, UINT32_MAX, &count))
		return;
	if (look->is_json) {
		json_open_answer(out);
		json_text(out, "trips_per_s", trips);
		json_number(out, "batched", (int64_t)keys);
		json_number(out, "nodes", (int64_t)count);
		json_close(out);
		return;
	}
	str_addf(out, SLICE_FMT " questions a second, %" PRIu64 " keys taken "
	    "in batches; %" PRIu64 " nodes count\n", SLICE_ARG(trips), keys,
	    count);
}

static void
cluster_print(struct cluster_look *look)
{
	struct slice rest = str_slice(&look->lines), line, word;
	struct str out = STR_INIT;

	while (slice_cut(&rest, '\n', &line)) {
		if (!slice_word(&line, &word))
			continue;
		if (slice_is(word, "node"))
			cluster_node(look, line, &out);
		else if (slice_is(word, "redis"))
			cluster_redis(look, line, &out);
		else if (slice_is(word, "figures"))
			cluster_figures(look, line, &out);
	}
	fputs(out.buf, stdout);
	str_release(&out);
}

static int
cluster_status(struct cluster_look *look)
{
	struct err err;

	if (look->conf->cluster.server_count == 0) {
		fputs("zmailer: cluster: no cluster with a redis is "
		    "configured (zmailer help cluster)\n", stderr);
		return EX_CONFIG;
	}
	if (share_ask_status(look->conf->run_dir, &look->lines, &err) < 0) {
		fprintf(stderr, "zmailer: cluster: %s\n", err.text);
		return err_is_denied(&err) ? EX_NOPERM : EX_UNAVAILABLE;
	}
	if (!look->is_json)
		printf("cluster %s\n", look->conf->cluster.name);
	cluster_print(look);
	return look->is_bad ? 1 : EX_OK;
}

int
verb_cluster(struct arguments *arguments)
{
	struct cluster_look look = { .lines = STR_INIT,
	    .is_json = arguments_has(arguments, OPT_JSON) };
	struct conf *conf;
	int status;

	if (!arguments_is(arguments, "status"))
		return arguments_refuse(arguments, "status is all it can");
	conf = verb_conf(arguments->conf_path);
	look.conf = conf;
	status = cluster_status(&look);
	str_release(&look.lines);
	conf_free(&conf);
	return status;
}
