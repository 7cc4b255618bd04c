/* internal.h - between the parts of tools/desk
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_DESK_INTERNAL_H
#define ZM_TOOLS_DESK_INTERNAL_H

#include "tools/desk/desk.h"

enum {
	DESK_AT_ONCE = 32,		/* nodes that are asked together */
	DESK_OUT_BYTES_MAX = 64 << 20,	/* kept of what a node says */
	DESK_SILENT = 200		/* exit status: the node did not answer,
					 * and why is on standard error */
};

/* How the answers of several nodes become one. */
enum desk_style {
	DESK_LINES,			/* each line after the node's name */
	DESK_LIST,			/* entries, by id */
	DESK_STORY,			/* events, by time */
	DESK_COUNT,			/* the same states summed */
	DESK_ORDER			/* a line a node, and the sum */
};

struct desk_verb {
	const char	*name;
	bool		 is_order;	/* it asks the scheduler there */
	bool		 needs_yes;	/* it would ask before it does it */
	enum desk_style	 style;
};

struct desk_part {			/* of one node */
	const char	*node;
	struct str	 out, err;
	int		 status;
	bool		 is_cut;	/* there was more */
};

struct desk_parts {
	const struct arguments *arguments;
	const struct desk_verb *verb;
	struct desk_part *parts;
	size_t		 count;
	int		 width;		/* of the longest name */
	bool		 is_json;
};

/* gather.c: run work(context, node) for each node in a process of its own, and
 * collect what it says; its result is the status. */
typedef int desk_work_fn(void *context, const char *node);
void desk_gather(struct desk_parts *parts, desk_work_fn *work, void *context);

/* merge.c: print what they said, as one answer. */
void desk_merge(const struct desk_parts *parts);
/* story.c: the same, for lines of the journal. */
void desk_merge_story(const struct desk_parts *parts);

/* Append a line of JSON with the member "node" after the first. */
void desk_add_json(struct str *out, struct slice line, const char *node);
/* The next line of a node, without its LF; it must be a whole one. */
bool desk_line(struct slice *rest, struct slice *out);

/* remote.c: run the words of a verb, NULL after them, at that node; what it
 * says goes to standard output and standard error.
 * returns its exit status, or DESK_SILENT */
int desk_remote(const struct conf *conf, const char *node,
    const char *const *words);

#endif
