/* collect.c - what other nodes say to a verb, for a verb that compares
 *
 * In     names of nodes, words
 * Out    what each said
 * Holds  nothing
 * Trusts nothing: what they say is bounded (gather.c, remote.c)
 * Spec   nodes.h; doc/protocol/nodes.md section 4
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/mem.h"
#include "tools/nodes/internal.h"

#include "base/banned.h"

struct collect_work {
	const struct conf	*conf;
	const char *const	*words;
};

static int
collect_node(void *context, const char *node)
{
	const struct collect_work *work = context;
	bool is_cut;	/* it is silent then */

	return nodes_remote(work->conf, node, work->words, "", NODES_FOR_MS,
	    &is_cut);
}

void
nodes_collect(const struct conf *conf, const char *const *words,
    struct nodes_said *said, size_t count)
{
	struct collect_work work = { conf, words };
	struct nodes_parts parts = { .count = count };

	parts.parts = mem_alloc(count + 1, sizeof(*parts.parts));
	for (size_t i = 0; i < count; i++) {
		parts.parts[i].node = said[i].node;
		str_init(&parts.parts[i].out);
		str_init(&parts.parts[i].err);
	}
	nodes_gather(&parts, collect_node, &work, NODES_FOR_MS);
	for (size_t i = 0; i < count; i++) {
		const struct nodes_part *part = &parts.parts[i];

		said[i].out = part->out;
		said[i].err = part->err;
		said[i].status = part->status;
		said[i].is_silent = part->status == NODES_SILENT;
	}
	mem_free(&parts.parts);
}

void
nodes_said_release(struct nodes_said *said)
{
	str_release(&said->out);
	str_release(&said->err);
}
