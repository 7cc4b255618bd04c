/* steps.h - what a publish and its undo share
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_PUBLISH_STEPS_H
#define ZM_TOOLS_PUBLISH_STEPS_H

#include "tools/publish/ask.h"
#include "tools/publish/figures.h"
#include "tools/publish/publish.h"

struct publish_node {
	const char	*name;
	bool		 is_left_out;	/* --without */
	bool		 is_offered;	/* and neither taken nor put away */
	bool		 is_taken, is_kept;
	int64_t		 until_s;	/* wall: taken, and not kept */
	unsigned	 version;	/* its newest; 0: not known */
	struct str	 words;		/* what went wrong */
};

struct publish {
	const struct arguments *arguments;
	const struct conf *conf;
	struct arena	*arena;
	struct publish_set set;
	char		 id[PUBLISH_ID_BYTES];
	struct publish_node *nodes;
	size_t		 count;
	struct publish_node *canary;	/* NULL: none */
	int64_t		 canary_ms, trial_s;
	struct figures	 before;	/* of the canary */
};

/* All nodes but this one. */
void publish_list(struct publish *publish);
/* A line on standard error.  returns EX_CONFIG */
int publish_tell(const char *format, ...)
    __attribute__((format(printf, 1, 2)));
/* The words of that node, each line after its name and what. */
void node_say(const struct publish_node *node, const char *what);
/* One order, until it is known what became of it. */
enum publish_said publish_order_node(struct publish *publish,
    struct publish_node *node, enum publish_verb verb, size_t number);
/* The newest version that this node keeps; 0: none. */
unsigned publish_version_here(const struct conf *conf);
/* Print what each node has now. */
void publish_table(struct publish *publish);
/* For undo --cluster, which may be said tomorrow. */
void publish_note(const struct publish *publish);
/* Carry out these steps.  returns their exit status */
int publish_with(const struct arguments *arguments,
    int (*steps)(struct publish *publish));

#endif
