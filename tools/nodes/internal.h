/* internal.h - between the parts of tools/nodes
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_NODES_INTERNAL_H
#define ZM_TOOLS_NODES_INTERNAL_H

#include "tools/nodes/nodes.h"

enum {
	NODES_AT_ONCE = 32,		/* nodes that are asked together */
	NODES_OUT_BYTES_MAX = 64 << 20,	/* kept of what a node says */
	NODES_FOR_MS = 150000,		/* all that a node says; its verb has
					 * 120 s */
	NODES_LOOK_FOR_MS = 12000,
	NODES_SILENT = 200,		/* exit status: the node did not answer,
					 * and why is on standard error */
	NODES_COPIES			/* the same, and what the database has
					 * of it is on standard output */
};

/* How the answers of several nodes become one. */
enum nodes_style {
	NODES_LINES,			/* each line after the node's name */
	NODES_LIST,			/* entries, by id */
	NODES_STORY,			/* events, by time */
	NODES_COUNT,			/* the same states summed */
	NODES_ORDER			/* a line a node, and the sum */
};

struct nodes_verb {
	const char	*name;
	bool		 is_order;	/* it asks the scheduler there */
	bool		 needs_yes;	/* it would ask before it does it */
	enum nodes_style	 style;
	bool		 has_copies;	/* of a silent node: what the database
					 * has is shown */
};

struct nodes_part {			/* of one node */
	const char	*node;
	struct str	 out, err;
	const char	*label;		/* in front of its lines */
	int		 status;
	bool		 is_cut;	/* there was more */
};

struct nodes_parts {
	const struct arguments *arguments;
	const struct nodes_verb *verb;
	struct nodes_part *parts;
	size_t		 count;
	int		 width;		/* of the longest label */
	bool		 is_json;
};

/* gather.c: run work(context, node) for each node in a process of its own, and
 * collect what it says; its result is the status. */
typedef int nodes_work_fn(void *context, const char *node);
/* for_ms: who has not ended by then is silent, whatever it has said. */
void nodes_gather(struct nodes_parts *parts, nodes_work_fn *work,
    void *context, int64_t for_ms);

/* merge.c: print what they said, as one answer. */
void nodes_merge(const struct nodes_parts *parts);
/* story.c: the same, for lines of the journal. */
void nodes_merge_story(const struct nodes_parts *parts);

/* Append a line of JSON with the member "node" after the first. */
void nodes_add_json(struct str *out, struct slice line, const char *node);
/* The next line of a node, without its LF; it must be a whole one. */
bool nodes_line(struct slice *rest, struct slice *out);

/* remote.c: run the words of a verb, NULL after them, at that node; what it
 * says goes to standard output and standard error; before stands in front of
 * why it does not answer.
 * for_ms: a node that has not come to its end by then is as one that hung up.
 * returns its exit status, or NODES_SILENT; *out_is_cut: it has said a part */
int nodes_remote(const struct conf *conf, const char *node,
    const char *const *words, const char *before, int64_t for_ms,
    bool *out_is_cut);

#endif
