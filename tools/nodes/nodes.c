/* nodes.c - a verb at other nodes of a cluster: which nodes, which way
 *
 * In     a command line with --node or --cluster
 * Out    the verb's answer, of one node or of all
 * Holds  what the nodes said
 * Spec   nodes.h; zmailer-cluster(8); doc/protocol/nodes.md
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "base/mem.h"
#include "io/consult/nodes_ask.h"
#include "tools/answers/answers.h"
#include "tools/nodes/internal.h"
#include "tools/queue/control.h"

#include "base/banned.h"

static const struct nodes_verb nodes_verbs[] = {
	{ "list", false, false, NODES_LIST, true },
	{ "count", false, false, NODES_COUNT, true },
	{ "trace", false, false, NODES_STORY, false },
	{ "events", false, false, NODES_STORY, false },
	{ "why", false, false, NODES_LINES, true },
	{ "report", false, false, NODES_LINES, false },
	{ "status", false, false, NODES_LINES, false },
	{ "queue", false, false, NODES_LINES, false },
	{ "connections", false, false, NODES_LINES, false },
	{ "zones", false, false, NODES_LINES, false },
	{ "hold", true, true, NODES_ORDER, false },
	{ "release", true, true, NODES_ORDER, false },
	{ "freeze", true, true, NODES_ORDER, false },
	{ "thaw", true, true, NODES_ORDER, false },
	{ "retry", true, true, NODES_ORDER, false },
	{ "reroute", true, true, NODES_ORDER, false },
	{ "bounce", true, true, NODES_ORDER, false },
	{ "schedule", true, true, NODES_ORDER, false },
	{ "delete", true, true, NODES_ORDER, false },
	{ "undelete", true, true, NODES_ORDER, false },
	{ "suspend", true, false, NODES_LINES, false },
	{ "resume", true, false, NODES_LINES, false },
	{ "pin", true, false, NODES_LINES, false },
	{ "orders", true, false, NODES_LINES, false },
};
enum { NODES_VERBS = sizeof(nodes_verbs) / sizeof(nodes_verbs[0]) };

struct nodes_work {
	const struct verb_row	*row;
	const struct nodes_verb	*verb;
	const struct arguments	*arguments;
	const struct conf	*conf;
	nodes_run_fn		*run;
	nodes_held_fn		*held;
	char			**words;	/* without our options */
	int			 count;
	bool			 is_json;	/* they have --json */
	/* In front of why a node is silent; "" if who gathers them names it. */
	const char		*before;
};

/* NULL: what its options are about is its own thing. */
static const struct nodes_verb *
nodes_verb_of(const struct verb_row *row)
{
	for (size_t i = 0; i < NODES_VERBS; i++)
		if (strcmp(nodes_verbs[i].name, row->name) == 0)
			return &nodes_verbs[i];
	return NULL;
}

bool
nodes_is_asked(const struct verb_row *row, const struct arguments *arguments)
{
	return nodes_verb_of(row) != NULL &&
	    (arguments_has(arguments, OPT_CLUSTER) ||
	    arguments_has(arguments, OPT_NODE));
}

/* "--node=mx2" */
static bool
argument_is_of(const char *word, const char *option)
{
	size_t n = strlen(option);

	return strncmp(word, option, n) == 0 && word[n] == '=';
}

/* The command line without what is for us; with --json, if the answers are
 * merged by that. */
static void
nodes_words(struct nodes_work *work, bool adds_json)
{
	const struct arguments *arguments = work->arguments;
	const char *node = option_rows[OPT_NODE].name;
	bool is_over = false;

	work->is_json = adds_json || arguments_has(arguments, OPT_JSON);
	work->words = mem_alloc((size_t)arguments->argc + 2,
	    sizeof(*work->words));
	for (int i = 0; i < arguments->argc; i++) {
		char *word = arguments->argv[i];

		if (!is_over && strcmp(word, node) == 0)
			i++;
		else if (is_over || (!argument_is_of(word, node) &&
		    strcmp(word, option_rows[OPT_CLUSTER].name) != 0))
			work->words[work->count++] = word;
		is_over = is_over || strcmp(word, "--") == 0;
		if (i == 0 && adds_json)
			work->words[work->count++] = (char *)(uintptr_t)
			    option_rows[OPT_JSON].name;
	}
}

/* ---- one node ---------------------------------------------------------- */

/* At this node, or an order that goes to another. */
static int
nodes_run_here(const struct nodes_work *work)
{
	return work->run(work->row, work->count, work->words,
	    work->arguments->conf_path);
}

static int
nodes_order(const struct nodes_work *work, const char *node)
{
	struct err err;
	int fd = nodes_ask(work->conf->run_dir, node, NODES_CONTROL, NULL,
	    &err);

	if (fd < 0) {
		fprintf(stderr, "%s%s\n", work->before, err.text);
		return err_is_denied(&err) ? EX_NOPERM : NODES_SILENT;
	}
	control_set_node(node, fd);
	return nodes_run_here(work);
}

/* What it says; if it says nothing, what the database has of it. */
static int
nodes_read(const struct nodes_work *work, const char *node)
{
	bool is_cut;
	int status = nodes_remote(work->conf, node,
	    (const char *const *)work->words, work->before, NODES_FOR_MS,
	    &is_cut);

	if (status != NODES_SILENT || is_cut || !work->verb->has_copies ||
	    !conf_keeps_copies(work->conf))
		return status;
	return work->held(work->row, work->arguments, work->conf, node,
	    work->is_json) == 0 ? NODES_COPIES : status;
}

static int
nodes_at(void *context, const char *node)
{
	const struct nodes_work *work = context;

	if (strcmp(node, work->conf->cluster.self) == 0)
		return nodes_run_here(work);
	return work->verb->is_order ? nodes_order(work, node) :
	    nodes_read(work, node);
}

static int
nodes_one(struct nodes_work *work, const char *node)
{
	struct str before = STR_INIT;
	int status;

	nodes_words(work, false);
	str_addf(&before, "zmailer: %s: %s: ", work->verb->name, node);
	work->before = before.buf;
	status = nodes_at(work, node);
	str_release(&before);
	work->before = "";
	if (status != NODES_SILENT && status != NODES_COPIES)
		return status;
	fflush(stdout);
	fprintf(stderr, "zmailer: %s: %s does not answer%s\n",
	    work->verb->name, node, status == NODES_COPIES ?
	    "; this is what the database has of it" : "");
	return EX_TEMPFAIL;
}

/* ---- all of them ------------------------------------------------------- */

/* It has nothing that is meant, and says only that.  An order says what it
 * counted, too; a list says it where its lines would be. */
static bool
part_is_empty(const struct nodes_parts *parts, const struct nodes_part *part)
{
	return part->status == 1 && (parts->verb->style == NODES_ORDER ?
	    strstr(part->err.buf, ": no message matches\n") != NULL :
	    part->out.len == 0 || (parts->verb->style == NODES_LIST &&
	    slice_is(str_slice(&part->out), "No message matches.\n")));
}

static bool
part_is_silent(const struct nodes_part *part)
{
	return part->status == NODES_SILENT || part->status == NODES_COPIES;
}

static void
part_say_trouble(const struct nodes_parts *parts,
    const struct nodes_part *part)
{
	struct slice rest = str_slice(&part->err), line;
	struct str text = STR_INIT;

	if (part_is_silent(part) && slice_cut(&rest, '\n', &line)) {
		str_add_escaped(&text, line);
		fprintf(stderr, "zmailer: %s: %s does not answer: %s; %s\n",
		    parts->verb->name, part->node, text.buf,
		    parts->verb->is_order ? "the order is not done there" :
		    part->status == NODES_COPIES ? "what the database has of "
		    "it is in this list" : "its mail is not in this list");
	}
	while (slice_cut(&rest, '\n', &line))
		if (line.n > 0) {
			str_reset(&text);
			str_add_escaped(&text, line);
			fprintf(stderr, "%s: %s\n", part->node, text.buf);
		}
	if (part->is_cut)
		fprintf(stderr, "%s: there is more than %d MiB of it\n",
		    part->node, NODES_OUT_BYTES_MAX >> 20);
	str_release(&text);
}

static int
nodes_status(const struct nodes_parts *parts)
{
	bool is_silent = false, has_done = false, is_cut = false;
	int worst = 0;

	for (size_t i = 0; i < parts->count; i++) {
		const struct nodes_part *part = &parts->parts[i];

		is_cut = is_cut || part->is_cut;
		if (part_is_silent(part))
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

/* Who may not ask hears that, and not what it would look like. */
static bool
nodes_is_denied(const struct nodes_parts *parts, const char *self)
{
	size_t denied = 0;

	for (size_t i = 0; i < parts->count; i++)
		denied += strcmp(parts->parts[i].node, self) != 0 &&
		    parts->parts[i].status == EX_NOPERM;
	return denied > 0 && denied + 1 >= parts->count;
}

/* Nobody has it: it is said once. */
static bool
nodes_is_nowhere(const struct nodes_parts *parts)
{
	for (size_t i = 0; i < parts->count; i++)
		if (!part_is_empty(parts, &parts->parts[i]))
			return false;
	if (parts->verb->style == NODES_LIST)
		fputs(parts->parts[0].out.buf, stdout);
	fputs(parts->parts[0].err.buf, stderr);
	return true;
}

/* What stands before its lines; "mx1 (silent)": they are of the database. */
static void
nodes_label(struct nodes_parts *parts, struct arena *arena)
{
	struct str text = STR_INIT;

	for (size_t i = 0; i < parts->count; i++) {
		struct nodes_part *part = &parts->parts[i];

		str_reset(&text);
		str_addf(&text, "%s%s", part->node, part->status ==
		    NODES_COPIES && part->out.len > 0 ? " (silent)" : "");
		part->label = arena_dup(arena, text.buf, text.len);
		parts->width = (int)text.len > parts->width ? (int)text.len :
		    parts->width;
	}
	str_release(&text);
}

static int
nodes_all(struct nodes_work *work)
{
	const struct conf_cluster *cluster = &work->conf->cluster;
	struct nodes_parts parts = { .arguments = work->arguments,
	    .verb = work->verb, .count = cluster->node_count, .width = 4,
	    .is_json = arguments_has(work->arguments, OPT_JSON) };
	struct arena *labels;
	int status;

	nodes_words(work, !parts.is_json && (work->verb->style == NODES_STORY ||
	    work->verb->style == NODES_COUNT ||
	    work->verb->style == NODES_ORDER));
	parts.parts = mem_alloc(parts.count, sizeof(*parts.parts));
	for (size_t i = 0; i < parts.count; i++) {
		parts.parts[i].node = cluster->nodes[i];
		str_init(&parts.parts[i].out);
		str_init(&parts.parts[i].err);
	}
	nodes_gather(&parts, nodes_at, work, NODES_FOR_MS);
	labels = arena_new();
	nodes_label(&parts, labels);
	if (nodes_is_denied(&parts, cluster->self)) {
		fprintf(stderr, "zmailer: %s: you may not ask other nodes "
		    "(zmailer help control); without --cluster this one "
		    "answers what it may tell you\n", work->verb->name);
	} else if (!nodes_is_nowhere(&parts)) {
		nodes_merge(&parts);
		fflush(stdout);
		for (size_t i = 0; i < parts.count; i++)
			if (!part_is_empty(&parts, &parts.parts[i]))
				part_say_trouble(&parts, &parts.parts[i]);
	}
	status = nodes_status(&parts);
	for (size_t i = 0; i < parts.count; i++) {
		str_release(&parts.parts[i].out);
		str_release(&parts.parts[i].err);
	}
	mem_free(&parts.parts);
	arena_free(&labels);
	return status;
}

/* ---- the verb ---------------------------------------------------------- */

int
nodes_check(const struct conf *conf, const struct arguments *arguments)
{
	const char *node = arguments_text(arguments, OPT_NODE);

	if (arguments_has(arguments, OPT_CLUSTER) && node != NULL)
		return arguments_refuse(arguments, "--cluster is all nodes, "
		    "--node is one");
	/* the desk would take us, and not him, for who asks */
	if (answers_asker() != NULL)
		return arguments_refuse(arguments, "who may not read here asks "
		    "no other node");
	if (!conf_asks_nodes(conf)) {
		fprintf(stderr, "zmailer: %s: no cluster with a desk is "
		    "configured (zmailer help desk)\n", arguments->verb);
		return EX_CONFIG;
	}
	return node == NULL || conf_cluster_find(&conf->cluster,
	    slice_of(node)) < conf->cluster.node_count ? EX_OK :
	    arguments_refuse(arguments, "--node: the cluster has no node '%s'",
	    node);
}

static int
nodes_check_verb(const struct nodes_work *work)
{
	const struct arguments *arguments = work->arguments;

	if (arguments_has(arguments, OPT_FOLLOW))
		return arguments_refuse(arguments, "-f follows this node "
		    "alone");
	if (work->verb->needs_yes && !arguments_has(arguments, OPT_YES) &&
	    !arguments_has(arguments, OPT_DRY_RUN))
		return arguments_refuse(arguments, "an order to other nodes "
		    "needs --yes; --dry-run says how much mail it is about");
	return nodes_check(work->conf, arguments);
}

int
nodes_run(const struct verb_row *row, const struct arguments *arguments,
    nodes_run_fn *run, nodes_held_fn *held)
{
	struct nodes_work work = { .row = row, .arguments = arguments,
	    .run = run, .held = held, .verb = nodes_verb_of(row),
	    .before = "" };
	struct conf *conf;
	int status;

	work.conf = conf = verb_conf_spool(arguments->conf_path);
	status = nodes_check_verb(&work);
	if (status == EX_OK)
		status = arguments_has(arguments, OPT_NODE) ? nodes_one(&work,
		    arguments_text(arguments, OPT_NODE)) : nodes_all(&work);
	mem_free(&work.words);
	conf_free(&conf);
	return status;
}
