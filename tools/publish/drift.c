/* drift.c - the configuration of each node, compared with ours
 *
 * In     our files in force; what other nodes say of theirs
 * Out    the names of files that differ
 * Holds  nothing
 * Trusts nothing that a node says: names are shown escaped, lines are bounded
 * Spec   drift.h; doc/protocol/nodes.md section 4
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "base/json.h"
#include "base/mem.h"
#include "journal/counters.h"
#include "journal/event.h"
#include "tools/nodes/nodes.h"
#include "tools/publish/drift.h"
#include "tools/publish/record.h"
#include "tools/publish/set.h"

#include "base/banned.h"

enum { DRIFT_NAMED_MAX = 10 };		/* files of one node */

/* ---- ours --------------------------------------------------------------- */

static void
files_json(const struct publish_set *set, const char *trial,
    int64_t until_s, struct str *out)
{
	char sum[PUBLISH_SUM_BYTES];

	for (size_t i = 0; i < set->count; i++) {
		publish_set_sum(&set->files[i], 1, sum);
		json_open_answer(out);
		json_text(out, "file", slice_of(set->files[i].name));
		json_number(out, "bytes", (int64_t)set->files[i].text.n);
		json_text(out, "sum", slice_of(sum));
		json_close(out);
	}
	for (size_t i = 0; i < set->left_count; i++) {
		json_open_answer(out);
		json_text(out, "left", slice_of(set->left[i].path));
		json_text(out, "reason", slice_of(set->left[i].why));
		json_close(out);
	}
	publish_set_sum(set->files, set->count, sum);
	if (trial[0] != '\0') {
		json_open_answer(out);
		json_text(out, "trial", slice_of(trial));
		json_number(out, "until", until_s);
		json_close(out);
	}
	json_open_answer(out);
	json_number(out, "files", (int64_t)set->count);
	json_text(out, "sum", slice_of(sum));
	json_close(out);
}

static void
files_text(const struct publish_set *set, struct str *out)
{
	char sum[PUBLISH_SUM_BYTES];

	for (size_t i = 0; i < set->count; i++) {
		publish_set_sum(&set->files[i], 1, sum);
		str_addf(out, "%.16s %8zu  ", sum, set->files[i].text.n);
		str_add_escaped(out, slice_of(set->files[i].name));
		str_addc(out, '\n');
	}
	publish_set_sum(set->files, set->count, sum);
	str_addf(out, "%.16s %zu files below %s\n", sum, set->count,
	    set->dir);
	for (size_t i = 0; i < set->left_count; i++) {
		str_adds(out, "not sent: ");
		str_add_escaped(out, slice_of(set->left[i].path));
		str_addf(out, ": %s\n", set->left[i].why);
	}
}

const char *
publish_trial(const struct conf *conf, struct arena *arena,
    int64_t *out_until_s)
{
	struct publish_record taken;
	struct err err;

	*out_until_s = 0;
	/* taken without pending means nothing (E7) */
	if (!record_is_there(conf->spool_dir, RECORD_PENDING) ||
	    record_read(conf->spool_dir, RECORD_TAKEN, arena, &taken, &err) !=
	    RECORD_READ)
		return "";
	*out_until_s = taken.until_s;
	return taken.from;
}

int
publish_files(const struct conf *conf, bool is_json)
{
	struct arena *arena = arena_new();
	struct str text = STR_INIT;
	struct publish_set set;
	struct err err;
	int status = EX_OK;
	int64_t until_s;
	const char *trial = publish_trial(conf, arena, &until_s);

	if (publish_set_take(conf, arena, &set, &err) < 0) {
		fprintf(stderr, "zmailer: config: %s\n", err.text);
		status = EX_CONFIG;
	} else {
		if (is_json)
			files_json(&set, trial, until_s, &text);
		else
			files_text(&set, &text);
		fputs(text.buf, stdout);
	}
	str_release(&text);
	arena_free(&arena);
	return status;
}

/* ---- theirs ------------------------------------------------------------- */

static void
drift_add(struct str *names, const char *name, size_t *count)
{
	if (++*count > DRIFT_NAMED_MAX) {
		if (*count == DRIFT_NAMED_MAX + 1)
			str_adds(names, ", ...");
		return;
	}
	str_adds(names, *count > 1 ? ", " : "");
	str_add_escaped(names, slice_of(name));
}

/* false: it does not say all. */
static bool
drift_compare(const struct publish_set *ours, struct slice rest,
    struct str *names, struct arena *arena, struct publish_drift *out)
{
	bool *is_seen = mem_alloc(ours->count + 1, sizeof(*is_seen));
	struct str name = STR_INIT, sum = STR_INIT;
	char own[PUBLISH_SUM_BYTES];
	bool is_whole = false;
	struct slice line;
	size_t count = 0;

	while (slice_cut(&rest, '\n', &line)) {
		const struct publish_file *file;

		is_whole = is_whole || json_get(line, "files", &name);
		if (json_get(line, "trial", &name)) {
			str_reset(&sum);
			str_add_escaped(&sum, str_slice(&name));
			out->trial_from = slice_dup(arena, str_slice(&sum));
			out->trial_until_s = json_get_number(line, "until");
		}
		if (!json_get(line, "file", &name) ||
		    !json_get(line, "sum", &sum))
			continue;
		file = publish_set_find(ours, name.buf);
		if (file != NULL) {
			is_seen[file - ours->files] = true;
			publish_set_sum(file, 1, own);
		}
		if (file == NULL || strcmp(own, sum.buf) != 0)
			drift_add(names, name.buf, &count);
	}
	for (size_t i = 0; i < ours->count; i++)
		if (!is_seen[i])
			drift_add(names, ours->files[i].name, &count);
	str_release(&name);
	str_release(&sum);
	mem_free(&is_seen);
	return is_whole;
}

static void
drift_judge(const struct publish_set *ours, const struct nodes_said *said,
    struct arena *arena, struct publish_drift *out)
{
	struct slice words = str_slice(&said->err);
	struct str names = STR_INIT;

	*out = (struct publish_drift){ .node = said->node, .trial_from = "" };
	out->is_known = !said->is_silent && said->status == EX_OK &&
	    drift_compare(ours, str_slice(&said->out), &names, arena, out);
	out->files = slice_dup(arena, str_slice(&names));
	str_reset(&names);
	str_add_escaped(&names, slice_first(words, slice_find(words, '\n')));
	out->err = slice_dup(arena, str_slice(&names));
	str_release(&names);
}

int
publish_drift(const struct conf *conf, struct arena *arena,
    struct publish_drift **out, size_t *out_count, struct err *err)
{
	static const char *const words[] = { "config", "files", "--json",
		NULL };
	const struct conf_cluster *cluster = &conf->cluster;
	struct nodes_said *said = arena_alloc(arena, (cluster->node_count +
	    1) * sizeof(*said));
	struct publish_set ours;
	int64_t until_s;
	bool is_tried = publish_trial(conf, arena, &until_s)[0] != '\0';
	size_t count = 0;

	*out_count = 0;
	*out = arena_alloc(arena, (cluster->node_count + 1) * sizeof(**out));
	if (!conf_asks_nodes(conf) || cluster->publisher_count == 0)
		return 0;
	if (publish_set_take(conf, arena, &ours, err) < 0)
		return err_prefix(err, "the files of this node");
	for (size_t i = 0; i < cluster->node_count; i++)
		if (strcmp(cluster->nodes[i], cluster->self) != 0)
			said[count++].node = cluster->nodes[i];
	nodes_collect(conf, words, said, count);
	for (size_t i = 0; i < count; i++) {
		drift_judge(&ours, &said[i], arena, &(*out)[i]);
		nodes_said_release(&said[i]);
		is_tried = is_tried || (*out)[i].trial_from[0] != '\0';
	}
	for (size_t i = 0; i < count; i++)
		(*out)[i].may_differ = is_tried;
	*out_count = count;
	return 0;
}

void
publish_drift_note(const struct conf *conf)
{
	struct arena *arena = arena_new();
	struct publish_drift *nodes;
	struct err err;
	size_t count;
	int64_t differ = publish_drift(conf, arena, &nodes, &count, &err) < 0;

	for (size_t i = 0; i < count; i++)
		differ += nodes[i].is_known && !nodes[i].may_differ &&
		    nodes[i].files[0] != '\0';
	(void)event_open(conf->log_dir);
	counters_tell(TALLY_CONFIG_DRIFT, SLICE(""), differ);
	event_flush();
	arena_free(&arena);
}
