/* look.c - the schedulers of several nodes, asked at the same time
 *
 * In     what is to be asked
 * Out    what each said
 * Holds  a process a node, for NODES_LOOK_FOR_MS at most
 * Trusts nothing of what they say
 * Spec   nodes.h; doc/protocol/nodes.md
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "io/consult/nodes_ask.h"
#include "tools/nodes/internal.h"
#include "tools/queue/control.h"

#include "base/banned.h"

struct nodes_looking {
	const struct conf *conf;
	nodes_look_fn	*look;
	void		*context;
};

/* nodes_work_fn */
static int
nodes_look_at(void *context, const char *node)
{
	const struct nodes_looking *looking = context;
	struct err err;
	int fd;

	if (strcmp(node, looking->conf->cluster.self) == 0)
		return looking->look(looking->context, node);
	fd = nodes_ask(looking->conf->run_dir, node, NODES_CONTROL, NULL,
	    &err);
	if (fd < 0) {
		fprintf(stderr, "%s\n", err.text);
		return NODES_SILENT;
	}
	control_set_node(node, fd);
	return looking->look(looking->context, node);
}

void
nodes_look(const struct conf *conf, const char *node, nodes_look_fn *look,
    nodes_told_fn *told, void *context)
{
	const struct conf_cluster *cluster = &conf->cluster;
	struct nodes_looking looking = { conf, look, context };
	struct nodes_parts parts = { .count = 0 };

	parts.parts = mem_alloc(cluster->node_count, sizeof(*parts.parts));
	for (size_t i = 0; i < cluster->node_count; i++) {
		struct nodes_part *part = &parts.parts[parts.count];

		if (node != NULL && strcmp(node, cluster->nodes[i]) != 0)
			continue;
		part->node = cluster->nodes[i];
		str_init(&part->out);
		str_init(&part->err);
		parts.count++;
	}
	nodes_gather(&parts, nodes_look_at, &looking, NODES_LOOK_FOR_MS);
	for (size_t i = 0; i < parts.count; i++) {
		struct nodes_part *part = &parts.parts[i];

		told(context, part->node, str_slice(&part->out),
		    str_slice(&part->err));
		str_release(&part->out);
		str_release(&part->err);
	}
	mem_free(&parts.parts);
}
