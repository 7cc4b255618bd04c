/* desk.c - one desk for a cluster: which nodes, which way
 *
 * In     a command line with --node or --cluster
 * Out    the verb's answer, of one node or of all
 * Holds  what the nodes said
 * Spec   desk.h; zmailer-cluster(8); doc/protocol/nodes.md
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "base/mem.h"
#include "io/consult/nodes_ask.h"
#include "tools/desk/internal.h"
#include "tools/queue/control.h"

#include "base/banned.h"

static const struct desk_verb desk_verbs[] = {
	{ "list", false, false, DESK_LIST },
	{ "count", false, false, DESK_COUNT },
	{ "trace", false, false, DESK_STORY },
	{ "events", false, false, DESK_STORY },
	{ "why", false, false, DESK_LINES },
	{ "report", false, false, DESK_LINES },
	{ "status", false, false, DESK_LINES },
	{ "queue", false, false, DESK_LINES },
	{ "connections", false, false, DESK_LINES },
	{ "zones", false, false, DESK_LINES },
	{ "hold", true, true, DESK_ORDER },
	{ "release", true, true, DESK_ORDER },
	{ "freeze", true, true, DESK_ORDER },
	{ "thaw", true, true, DESK_ORDER },
	{ "retry", true, true, DESK_ORDER },
	{ "reroute", true, true, DESK_ORDER },
	{ "bounce", true, true, DESK_ORDER },
	{ "schedule", true, true, DESK_ORDER },
	{ "delete", true, true, DESK_ORDER },
	{ "undelete", true, true, DESK_ORDER },
	{ "suspend", true, false, DESK_LINES },
	{ "resume", true, false, DESK_LINES },
	{ "pin", true, false, DESK_LINES },
	{ "orders", true, false, DESK_LINES },
};
enum { DESK_VERBS = sizeof(desk_verbs) / sizeof(desk_verbs[0]) };

struct desk_work {
	const struct verb_row	*row;
	const struct desk_verb	*verb;
	const struct arguments	*arguments;
	const struct conf	*conf;
	desk_run_fn		*run;
	char			**words;	/* without our options */
	int			 count;
};

bool
desk_is_asked(const struct arguments *arguments)
{
	return arguments_has(arguments, OPT_CLUSTER) ||
	    arguments_has(arguments, OPT_NODE);
}

/* The command line without what is for us; with --json, if the answers are
 * merged by that. */
static void
desk_words(struct desk_work *work, bool adds_json)
{
	const struct arguments *arguments = work->arguments;
	bool is_over = false;

	work->words = mem_alloc((size_t)arguments->argc + 2,
	    sizeof(*work->words));
	for (int i = 0; i < arguments->argc; i++) {
		char *word = arguments->argv[i];

		if (!is_over && strcmp(word, "--node") == 0)
			i++;
		else if (is_over || (strcmp(word, "--cluster") != 0 &&
		    strncmp(word, "--node=", 7) != 0))
			work->words[work->count++] = word;
		is_over = is_over || strcmp(word, "--") == 0;
		if (i == 0 && adds_json)
			work->words[work->count++] =
			    (char *)(uintptr_t)"--json";
	}
}

/* ---- one node ---------------------------------------------------------- */

/* At this node, or an order that goes to another. */
static int
desk_run_here(const struct desk_work *work)
{
	return work->run(work->row, work->count, work->words,
	    work->arguments->conf_path);
}

static int
desk_order(const struct desk_work *work, const char *node)
{
	struct err err;
	int fd = nodes_ask(work->conf->run_dir, node, DESK_CONTROL, NULL,
	    &err);

	if (fd < 0) {
		fprintf(stderr, "%s\n", err.text);
		return err_is_denied(&err) ? EX_NOPERM : DESK_SILENT;
	}
	control_set_node(node, fd);
	return desk_run_here(work);
}

static int
desk_at(void *context, const char *node)
{
	const struct desk_work *work = context;

	if (strcmp(node, work->conf->cluster.self) == 0)
		return desk_run_here(work);
	return work->verb->is_order ? desk_order(work, node) :
	    desk_remote(work->conf, node, (const char *const *)work->words);
}

static int
desk_one(struct desk_work *work, const char *node)
{
	int status;

	if (conf_cluster_find(&work->conf->cluster, slice_of(node)) ==
	    work->conf->cluster.node_count)
		return arguments_refuse(work->arguments, "--node: the cluster "
		    "has no node '%s'", node);
	desk_words(work, false);
	status = desk_at(work, node);
	if (status != DESK_SILENT)
		return status;
	fprintf(stderr, "zmailer: %s: %s does not answer\n",
	    work->verb->name, node);
	return EX_TEMPFAIL;
}

/* ---- all of them ------------------------------------------------------- */

/* It has nothing that is meant, and says only that.  An order says what it
 * counted, too. */
static bool
part_is_empty(const struct desk_parts *parts, const struct desk_part *part)
{
	return part->status == 1 && (parts->verb->style == DESK_ORDER ?
	    strstr(part->err.buf, ": no message matches\n") != NULL :
	    part->out.len == 0);
}

static void
part_say_trouble(const struct desk_parts *parts,
    const struct desk_part *part)
{
	struct slice rest = str_slice(&part->err), line;
	struct str text = STR_INIT;

	if (part->status == DESK_SILENT) {
		str_add_escaped(&text, slice_first(rest, slice_find(rest,
		    '\n')));
		fprintf(stderr, "zmailer: %s: %s does not answer: %s; %s\n",
		    parts->verb->name, part->node, text.buf,
		    parts->verb->is_order ? "the order is not done there" :
		    "its mail is not in this list");
		str_release(&text);
		return;
	}
	while (slice_cut(&rest, '\n', &line))
		if (line.n > 0) {
			str_reset(&text);
			str_add_escaped(&text, line);
			fprintf(stderr, "%s: %s\n", part->node, text.buf);
		}
	if (part->is_cut)
		fprintf(stderr, "%s: there is more than %d MiB of it\n",
		    part->node, DESK_OUT_BYTES_MAX >> 20);
	str_release(&text);
}

static int
desk_status(const struct desk_parts *parts)
{
	bool is_silent = false, has_done = false, is_cut = false;
	int worst = 0;

	for (size_t i = 0; i < parts->count; i++) {
		const struct desk_part *part = &parts->parts[i];

		is_cut = is_cut || part->is_cut;
		if (part->status == DESK_SILENT)
			is_silent = true;
		else if (part->status == 0)
			has_done = true;
		else if (part->status > worst && !part_is_empty(parts, part))
			worst = part->status;
	}
	if (is_silent)
		return parts->verb->is_order ? EX_TEMPFAIL : 1;
	return worst > 0 ? worst : has_done && !is_cut ? 0 : 1;
}

/* Nobody has it: it is said once. */
static bool
desk_is_nowhere(const struct desk_parts *parts)
{
	for (size_t i = 0; i < parts->count; i++)
		if (!part_is_empty(parts, &parts->parts[i]))
			return false;
	fputs(parts->parts[0].err.buf, stderr);
	return true;
}

static int
desk_all(struct desk_work *work)
{
	const struct conf_cluster *cluster = &work->conf->cluster;
	struct desk_parts parts = { .arguments = work->arguments,
	    .verb = work->verb, .count = cluster->node_count, .width = 4,
	    .is_json = arguments_has(work->arguments, OPT_JSON) };
	int status;

	desk_words(work, !parts.is_json && (work->verb->style == DESK_STORY ||
	    work->verb->style == DESK_COUNT ||
	    work->verb->style == DESK_ORDER));
	parts.parts = mem_alloc(parts.count, sizeof(*parts.parts));
	for (size_t i = 0; i < parts.count; i++) {
		int n = (int)strlen(cluster->nodes[i]);

		parts.parts[i].node = cluster->nodes[i];
		str_init(&parts.parts[i].out);
		str_init(&parts.parts[i].err);
		parts.width = n > parts.width ? n : parts.width;
	}
	desk_gather(&parts, desk_at, work);
	if (!desk_is_nowhere(&parts)) {
		desk_merge(&parts);
		fflush(stdout);
		for (size_t i = 0; i < parts.count; i++)
			if (!part_is_empty(&parts, &parts.parts[i]))
				part_say_trouble(&parts, &parts.parts[i]);
	}
	status = desk_status(&parts);
	for (size_t i = 0; i < parts.count; i++) {
		str_release(&parts.parts[i].out);
		str_release(&parts.parts[i].err);
	}
	mem_free(&parts.parts);
	return status;
}

/* ---- the verb ---------------------------------------------------------- */

static int
desk_check(const struct desk_work *work)
{
	const struct arguments *arguments = work->arguments;

	if (arguments_has(arguments, OPT_CLUSTER) &&
	    arguments_has(arguments, OPT_NODE))
		return arguments_refuse(arguments, "--cluster is all nodes, "
		    "--node is one");
	if (arguments_has(arguments, OPT_FOLLOW))
		return arguments_refuse(arguments, "-f follows this node "
		    "alone");
	if (work->verb->needs_yes && !arguments_has(arguments, OPT_YES) &&
	    !arguments_has(arguments, OPT_DRY_RUN))
		return arguments_refuse(arguments, "an order to other nodes "
		    "needs --yes; --dry-run says how much mail it is about");
	if (conf_has_desk(work->conf))
		return EX_OK;
	fprintf(stderr, "zmailer: %s: no cluster with a desk is configured "
	    "(zmailer help desk)\n", work->verb->name);
	return EX_CONFIG;
}

int
desk_run(const struct verb_row *row, const struct arguments *arguments,
    desk_run_fn *run)
{
	struct desk_work work = { .row = row, .arguments = arguments,
	    .run = run };
	struct conf *conf;
	int status;

	for (size_t i = 0; i < DESK_VERBS; i++)
		if (strcmp(desk_verbs[i].name, row->name) == 0)
			work.verb = &desk_verbs[i];
	if (work.verb == NULL)
		return arguments_refuse(arguments, "it is for this node "
		    "alone");
	work.conf = conf = verb_conf_spool(arguments->conf_path);
	status = desk_check(&work);
	if (status == EX_OK)
		status = arguments_has(arguments, OPT_NODE) ? desk_one(&work,
		    arguments_text(arguments, OPT_NODE)) : desk_all(&work);
	mem_free(&work.words);
	conf_free(&conf);
	return status;
}
