/* nodes.c - all machines of a cluster at a glance, live
 *
 * In     count and history of each node's scheduler
 * Out    a line a node, and their sum: on a screen, as lines, as JSON
 * Holds  what was heard of each node last
 * Trusts nothing a node says: numbers are numbers, words are cut and escaped
 * Spec   top.h; zmailer-top(8); doc/protocol/control.md
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "tools/nodes/nodes.h"
#include "tools/queue/control.h"
#include "tools/screen/terminal.h"
#include "tools/zmailer/top/top.h"

#include "base/banned.h"

enum {
	EVERY_MS = 2000,
	BATCH_COLS = 100,
	PATIENCE_MS = 5000,		/* for the answers of a node */
	SPAN_S = 60			/* rates are of the last minute */
};

/* What a node says, and what is summed: a row each. */
#define TOP_NODE_NUMBERS \
	TOP_NODE_NUMBER(accepted, "IN/s") \
	TOP_NODE_NUMBER(delivered, "OUT/s") \
	TOP_NODE_NUMBER(refused, "REFUSED/s") \
	TOP_NODE_NUMBER(failing, "FAILING/s")

struct top_node {
	const char	*name;
	bool		 is_up;
	double		 rates[4];		/* a second; TOP_NODE_NUMBERS */
	int64_t		 waiting, oldest_s;	/* recipients; 0 */
	char		 why[160];		/* it is silent */
};

struct top_nodes {
	const struct conf *conf;
	const char	*only;			/* NULL: all */
	struct top_node	*list;
	size_t		 count;
	struct top_node	 sum;
};

#define TOP_NODE_NUMBER(name, head) TOP_##name,
enum { TOP_NODE_NUMBERS TOP_RATES };
#undef TOP_NODE_NUMBER

/* ---- in a process for each node ------------------------------------------ */

struct top_asked {
	int64_t	covered_s, counts[TOP_RATES], waiting, oldest_s;
};

static bool
top_take_point(void *context, struct slice line)
{
	struct top_asked *asked = context;

	asked->covered_s += json_get_number(line, "covered_s");
	asked->counts[TOP_accepted] += json_get_number(line, "accepted");
	asked->counts[TOP_delivered] += json_get_number(line, "delivered");
	asked->counts[TOP_refused] += json_get_number(line, "refused");
	asked->counts[TOP_failing] += json_get_number(line, "deferred") +
	    json_get_number(line, "failed");
	return true;
}

static bool
top_take_state(void *context, struct slice line)
{
	struct top_asked *asked = context;
	int64_t oldest_s = json_get_number(line, "oldest_s");

	asked->waiting += json_get_number(line, "recipients");
	if (oldest_s > asked->oldest_s)
		asked->oldest_s = oldest_s;
	return true;
}

static void
top_put_node(const struct top_asked *asked)
{
	struct str out = STR_INIT;

	json_open_answer(&out);
	json_number(&out, "covered_s", asked->covered_s);
#define TOP_NODE_NUMBER(name, head) \
	json_number(&out, #name, asked->counts[TOP_##name]);
	TOP_NODE_NUMBERS
#undef TOP_NODE_NUMBER
	json_number(&out, "waiting", asked->waiting);
	json_number(&out, "oldest_s", asked->oldest_s);
	json_close(&out);
	fputs(out.buf, stdout);
	str_release(&out);
}

/* nodes_look_fn: the scheduler that is reached is the node's. */
static int
top_ask_node(void *context, const char *node)
{
	const struct top_nodes *nodes = context;
	struct str request = STR_INIT, last = STR_INIT;
	struct top_asked asked = { .covered_s = 0 };
	struct control control;
	struct err err;

	if (control_connect(nodes->conf->run_dir, &control, &err) !=
	    CONTROL_REACHED) {
		fputs("its scheduler does not run, or does not answer\n",
		    stderr);
		return -1;
	}
	control.answer_ms = PATIENCE_MS;
	control_begin(&request, "history");
	json_number(&request, "span_s", SPAN_S);
	json_number(&request, "points", 1);
	/* without a history there are no rates */
	(void)control_ask(&control, &request, top_take_point, &asked, &last,
	    &err);
	str_reset(&request);
	str_reset(&last);
	control_begin(&request, "count");
	if (control_ask(&control, &request, top_take_state, &asked, &last,
	    &err) < 0)
		fprintf(stderr, "%s\n", err.text);
	else
		top_put_node(&asked);
	control_hang_up(&control);
	str_release(&request);
	str_release(&last);
	return 0;
}

/* ---- what they said ------------------------------------------------------ */

static struct top_node *
top_node_of(struct top_nodes *nodes, const char *name)
{
	for (size_t i = 0; i < nodes->count; i++)
		if (strcmp(nodes->list[i].name, name) == 0)
			return &nodes->list[i];
	return NULL;
}

/* nodes_told_fn */
static void
top_take_node(void *context, const char *name, struct slice out,
    struct slice said)
{
	struct top_nodes *nodes = context;
	struct top_node *node = top_node_of(nodes, name);
	int64_t covered_s;
	struct slice line;
	struct str why = STR_INIT;

	*node = (struct top_node){ .name = name };
	node->is_up = slice_cut(&out, '\n', &line) && line.n > 0;
	if (!node->is_up) {
		(void)slice_cut(&said, '\n', &line);
		str_add_escaped(&why, line);
		snprintf(node->why, sizeof(node->why), "%s", why.buf);
		str_release(&why);
		return;
	}
	covered_s = json_get_number(line, "covered_s");
#define TOP_NODE_NUMBER(name, head) \
	node->rates[TOP_##name] = covered_s <= 0 ? 0 : \
	    (double)json_get_number(line, #name) / (double)covered_s;
	TOP_NODE_NUMBERS
#undef TOP_NODE_NUMBER
	node->waiting = json_get_number(line, "waiting");
	node->oldest_s = json_get_number(line, "oldest_s");
}

static void
top_look_at_nodes(struct top_nodes *nodes)
{
	nodes_look(nodes->conf, nodes->only, top_ask_node, top_take_node,
	    nodes);
	nodes->sum = (struct top_node){ .name = "all", .is_up = true };
	for (size_t i = 0; i < nodes->count; i++) {
		const struct top_node *node = &nodes->list[i];

		for (int k = 0; k < TOP_RATES; k++)
			nodes->sum.rates[k] += node->rates[k];
		nodes->sum.waiting += node->waiting;
		if (node->oldest_s > nodes->sum.oldest_s)
			nodes->sum.oldest_s = node->oldest_s;
	}
}

/* ---- printing ------------------------------------------------------------ */

static void
top_node_add(const struct top_node *node, struct str *out)
{
	char oldest[CLOCK_TEXT_BYTES] = "-";

	if (!node->is_up) {
		str_addf(out, "%-20s silent: %s", node->name, node->why);
		return;
	}
	if (node->waiting > 0)
		clock_span(node->oldest_s, oldest);
	str_addf(out, "%-20s %-6s", node->name, "up");
	for (int k = 0; k < TOP_RATES; k++)
		str_addf(out, " %10.1f", node->rates[k]);
	str_addf(out, " %10" PRId64 " %8s", node->waiting, oldest);
}

static void
top_head_add(struct str *out)
{
	str_addf(out, "%-20s %-6s", "NODE", "STATE");
#define TOP_NODE_NUMBER(name, head) str_addf(out, " %10s", head);
	TOP_NODE_NUMBERS
#undef TOP_NODE_NUMBER
	str_addf(out, " %10s %8s", "WAITING", "OLDEST");
}

static void
top_node_json(const struct top_node *node, struct str *out)
{
	json_open_answer(out);
	json_text(out, "node", slice_of(node->name));
	json_bool(out, "up", node->is_up);
	/* what is not known is no 0 */
	if (!node->is_up) {
		json_text(out, "reason", slice_of(node->why));
#define TOP_NODE_NUMBER(name, head) \
	str_adds(out, ",\"" #name "_per_minute\":null");
		TOP_NODE_NUMBERS
#undef TOP_NODE_NUMBER
		str_adds(out, ",\"waiting\":null,\"oldest_s\":null");
		json_close(out);
		return;
	}
#define TOP_NODE_NUMBER(name, head) \
	json_number(out, #name "_per_minute", \
	    (int64_t)(node->rates[TOP_##name] * 60 + 0.5));
	TOP_NODE_NUMBERS
#undef TOP_NODE_NUMBER
	json_number(out, "waiting", node->waiting);
	json_number(out, "oldest_s", node->oldest_s);
	json_close(out);
}

static void
top_draw_nodes(const struct top_nodes *nodes, struct canvas *canvas)
{
	struct str text = STR_INIT;
	char now[CLOCK_TEXT_BYTES];
	unsigned row = 2;

	clock_local(clock_wall_s(), now);
	canvas_row(canvas, 0, LOOK_HEAD);
	canvas_put(canvas, 0, 0, LOOK_HEAD, "zmailer top  cluster %s  %s",
	    nodes->conf->cluster.name, now);
	top_head_add(&text);
	canvas_put_slice(canvas, 1, 0, LOOK_PLAIN, str_slice(&text));
	for (size_t i = 0; i < nodes->count; i++) {
		str_reset(&text);
		top_node_add(&nodes->list[i], &text);
		canvas_put_slice(canvas, row++, 0, nodes->list[i].is_up ?
		    LOOK_PLAIN : LOOK_WARN, str_slice(&text));
	}
	if (nodes->count > 1) {
		str_reset(&text);
		top_node_add(&nodes->sum, &text);
		canvas_put_slice(canvas, row, 0, LOOK_PLAIN,
		    str_slice(&text));
	}
	str_release(&text);
}

static void
top_print_nodes(const struct top_nodes *nodes, bool is_json)
{
	struct str out = STR_INIT;
	struct canvas canvas;

	if (is_json) {
		for (size_t i = 0; i < nodes->count; i++)
			top_node_json(&nodes->list[i], &out);
	} else {
		canvas_init(&canvas, (unsigned)nodes->count + 3, BATCH_COLS);
		top_draw_nodes(nodes, &canvas);
		canvas_print(&canvas, &out);
		canvas_release(&canvas);
	}
	fputs(out.buf, stdout);
	fflush(stdout);
	str_release(&out);
}

static void
top_live_nodes(struct top_nodes *nodes)
{
	int key = TERMINAL_NOTHING;

	while (key != 'q' && key != TERMINAL_ESCAPE) {
		struct canvas canvas;
		unsigned rows, cols;

		if (key == TERMINAL_NOTHING)
			top_look_at_nodes(nodes);
		terminal_size(&rows, &cols);
		canvas_init(&canvas, rows, cols);
		top_draw_nodes(nodes, &canvas);
		terminal_draw(&canvas);
		canvas_release(&canvas);
		key = terminal_key(EVERY_MS);
	}
}

/* ---- the verb ------------------------------------------------------------ */

static int
top_nodes_show(struct top_nodes *nodes, const struct arguments *arguments)
{
	int64_t times = arguments_number(arguments, OPT_TIMES, 1);
	bool is_json = arguments_has(arguments, OPT_JSON);
	bool is_all_up = true;
	struct err err;

	if (!is_json && !arguments_has(arguments, OPT_BATCH) &&
	    isatty(STDOUT_FILENO) && terminal_open(&err) == 0) {
		top_live_nodes(nodes);
		terminal_close();
		return EX_OK;
	}
	for (int64_t i = 0; i < times; i++) {
		if (i > 0)
			poll(NULL, 0, EVERY_MS);
		top_look_at_nodes(nodes);
		top_print_nodes(nodes, is_json);
	}
	for (size_t i = 0; i < nodes->count; i++)
		is_all_up = is_all_up && nodes->list[i].is_up;
	return is_all_up ? EX_OK : 1;
}

int
top_of_nodes(const struct conf *conf, const struct arguments *arguments)
{
	const struct conf_cluster *cluster = &conf->cluster;
	struct top_nodes nodes = { .conf = conf,
	    .only = arguments_text(arguments, OPT_NODE) };
	int status = nodes_check(conf, arguments);

	if (status != EX_OK)
		return status;
	nodes.list = mem_alloc(cluster->node_count, sizeof(*nodes.list));
	for (size_t i = 0; i < cluster->node_count; i++)
		if (nodes.only == NULL || strcmp(cluster->nodes[i],
		    nodes.only) == 0)
			nodes.list[nodes.count++].name = cluster->nodes[i];
	status = top_nodes_show(&nodes, arguments);
	mem_free(&nodes.list);
	return status;
}
