/* nodes.c - which machines of a cluster a page is about
 *
 * In     ?node=mx2, or ?cluster; the nodes of the configuration
 * Out    the words that a verb takes for that; the choice on the page
 * Holds  the cluster
 * Trusts no name: it must be of the configuration
 * Spec   pages.h; zmailer-cluster(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>
#include <string.h>

#include "base/json.h"
#include "web/pages/pages.h"
#include "web/page/html.h"
#include "web/page/table.h"

#include "base/banned.h"

static const struct conf_cluster *cluster;	/* NULL: there is no desk */

void
pages_set_cluster(const struct conf_cluster *of)
{
	cluster = of;
}

/* NULL: the field is not there, or names none of ours. */
static const char *
where_node(const struct visit *visit)
{
	struct slice name = form_get(&visit->form, "node");
	size_t at = cluster == NULL ? 0 : conf_cluster_find(cluster, name);

	return cluster != NULL && name.n > 0 && at < cluster->node_count ?
	    cluster->nodes[at] : NULL;
}

enum page_where
page_where(const struct visit *visit)
{
	const char *node = where_node(visit);
	struct slice any;
	size_t at = 0;

	if (cluster != NULL && form_next(&visit->form, "cluster", &at, &any))
		return WHERE_CLUSTER;
	return node != NULL && strcmp(node, cluster->self) != 0 ?
	    WHERE_NODE : WHERE_HERE;
}

int
visit_check_where(struct visit *visit)
{
	if (form_get(&visit->form, "node").n == 0 || where_node(visit) != NULL)
		return 0;
	return visit_refuse(visit, "There is no such node.");
}

void
visit_add_where(const struct visit *visit, const char **words, size_t *n)
{
	switch (page_where(visit)) {
	case WHERE_CLUSTER:
		words[(*n)++] = "--cluster";
		return;
	case WHERE_NODE:
		words[(*n)++] = "--node";
		words[(*n)++] = where_node(visit);
		return;
	case WHERE_HERE:
		return;
	}
}

void
page_add_where_hidden(struct visit *visit)
{
	if (page_where(visit) == WHERE_CLUSTER)
		html_hidden(&visit->out, "cluster", SLICE("1"));
	else if (page_where(visit) == WHERE_NODE)
		html_hidden(&visit->out, "node", slice_of(where_node(visit)));
}

void
page_add_where_query(const struct visit *visit, const char *before,
    struct str *out)
{
	if (page_where(visit) == WHERE_CLUSTER) {
		str_addf(out, "%scluster=1", before);
	} else if (page_where(visit) == WHERE_NODE) {
		str_addf(out, "%snode=", before);
		html_url(out, slice_of(where_node(visit)));
	}
}

/* One of the choices; query: "cluster=1", "node=mx2", "". */
static void
where_add_choice(struct visit *visit, const char *path, const char *query,
    const char *words, bool is_chosen)
{
	struct slice typed = slice_trim(form_get(&visit->form, "q"));
	struct str *out = &visit->out;

	str_addf(out, "<li><a href=\"%s?%s", path, query);
	if (typed.n > 0) {
		str_adds(out, "&amp;q=");
		html_url(out, typed);
	}
	str_addf(out, "\"%s>", is_chosen ? " aria-current=\"true\"" : "");
	html_words(out, words);
	str_adds(out, "</a></li>");
}

void
page_add_places(struct visit *visit, const char *path)
{
	const char *chosen = where_node(visit);
	enum page_where where = page_where(visit);

	if (cluster == NULL)
		return;
	str_adds(&visit->out, "<nav aria-label=\"Nodes\"><ul>");
	where_add_choice(visit, path, "", arena_printf(visit->arena,
	    "This node (%s)", cluster->self), where == WHERE_HERE);
	where_add_choice(visit, path, "cluster=1", "All nodes", where ==
	    WHERE_CLUSTER);
	for (size_t i = 0; i < cluster->node_count; i++)
		if (strcmp(cluster->nodes[i], cluster->self) != 0)
			where_add_choice(visit, path, arena_printf(
			    visit->arena, "node=%s", cluster->nodes[i]),
			    cluster->nodes[i], where == WHERE_NODE &&
			    strcmp(chosen, cluster->nodes[i]) == 0);
	str_adds(&visit->out, "</ul></nav>\n");
}

void
page_add_message_link(struct visit *visit, struct slice id, struct slice node)
{
	struct str *out = &visit->out;

	str_adds(out, "<a");
	if (page_where(visit) == WHERE_NODE)
		node = slice_of(where_node(visit));
	if (cluster == NULL || node.n == 0 || slice_is(node, cluster->self))
		html_link(out, "/message/", id, NULL, SLICE(""));
	else
		html_link(out, "/message/", id, "node", node);
	str_addc(out, '>');
	html_text(out, id);
	str_adds(out, "</a>");
}

/* ---- the overview -------------------------------------------------------- */

void
overview_ask_nodes(struct visit *visit)
{
	const char *words[QUESTION_WORDS_MAX] = { "top", "--json" };
	size_t n = 2;

	visit_add_where(visit, words, &n);
	if (page_where(visit) != WHERE_HERE)
		visit_ask_verb(visit, "nodes", words);
}

/* A rate; the numbers are of a minute. */
static void
nodes_add_rate(struct table *table, struct slice line, const char *key)
{
	int64_t number = json_get_number(line, key);

	table_cell(table);
	str_addf(table->out, "%" PRId64 ".%" PRId64, number / 60,
	    number % 60 / 6);
	table_cell_end(table);
}

/* Cells of a node that says nothing: 0 would be a number. */
static void
nodes_add_unknown(struct table *table, size_t count)
{
	while (count-- > 0) {
		table_cell(table);
		table_cell_end(table);
	}
}

static void
nodes_add_row(struct visit *visit, struct table *table, struct slice line)
{
	static const char *const rates[] = { "accepted_per_minute",
	    "delivered_per_minute", "refused_per_minute",
	    "failing_per_minute" };
	struct slice name = page_member(visit->arena, line, "node");
	bool is_up = json_is(line, "up", "true");

	table_row_begin(table);
	table_cell(table);
	str_adds(table->out, "<a");
	html_link(table->out, "/queue", SLICE(""), "node", name);
	str_addc(table->out, '>');
	html_text(table->out, name);
	str_adds(table->out, "</a>");
	table_cell_end(table);
	table_cell(table);
	html_words(table->out, is_up ? "up" : "silent: ");
	if (!is_up)
		html_text(table->out, page_member(visit->arena, line,
		    "reason"));
	table_cell_end(table);
	if (!is_up) {
		nodes_add_unknown(table, sizeof(rates) / sizeof(rates[0]) + 2);
		return;
	}
	for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++)
		nodes_add_rate(table, line, rates[i]);
	table_number(table, json_get_number(line, "waiting"));
	table_cell(table);
	page_add_span(table->out, json_get_number(line, "oldest_s"));
	table_cell_end(table);
}

void
overview_show_nodes(struct visit *visit)
{
	static const struct table_column columns[] = {
		{ "Node", false }, { "State", false },
		{ "Accepted a second", true }, { "Delivered a second", true },
		{ "Refused a second", true }, { "Tries that failed", true },
		{ "Waiting", true }, { "Oldest", true },
	};
	const struct question_answer *answer;
	struct slice rest, line;
	struct table table;

	page_add_places(visit, "/");
	if (page_where(visit) == WHERE_HERE)
		return;
	answer = visit_answer(visit, "nodes");
	str_adds(&visit->out, "<section aria-labelledby=\"nodes\"><h2 "
	    "id=\"nodes\">The nodes</h2>\n");
	table_begin(&table, &visit->out, page_where(visit) == WHERE_NODE ?
	    "The node, in the last minute" : "Each node, in the last minute",
	    columns, sizeof(columns) / sizeof(columns[0]));
	rest = str_slice(&answer->text);
	while (answer_line(&rest, &line))
		nodes_add_row(visit, &table, line);
	table_end(&table);
	if (answer->text.len == 0)
		page_add_trouble(&visit->out, answer);
	if (page_where(visit) == WHERE_NODE)
		str_adds(&visit->out, "<p>The rest of the overview is not "
		    "shown for another node: its own desk has it, and so has "
		    "<code>zmailer status --node</code>.</p></section>\n");
	else
		str_addf(&visit->out, "<p>What follows is about this node "
		    "(%s).</p></section>\n", cluster->self);
}
