/* nodes.h - a verb at another node of the cluster, or at all of them
 *
 * --node NAME: what reads runs there, and its words come here (a verb of
 * doc/protocol/nodes.md); an order runs here, and asks the scheduler there.
 * --cluster: a process for each node does that, and what they say becomes one
 * answer.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_NODES_H
#define ZM_TOOLS_NODES_H

#include "tools/verb/verb.h"

/* Run a verb as a command line says. */
typedef int nodes_run_fn(const struct verb_row *row, int argc, char **argv,
    const char *conf_path);

/* Was --node or --cluster given, to a verb that goes there? */
bool nodes_is_asked(const struct verb_row *row,
    const struct arguments *arguments);

/* Run a verb whose command line has one of them; run is for those without.
 * returns the exit status: 75 if a node did not get an order, 1 if what a node
 * has is missing */
int nodes_run(const struct verb_row *row, const struct arguments *arguments,
    nodes_run_fn *run);

/* What a node says to a verb that reads. */
struct nodes_said {
	const char	*node;		/* set by the caller */
	struct str	 out, err;	/* initialized by nodes_collect */
	int		 status;	/* exit status */
	bool		 is_silent;	/* it did not answer; err says why */
};
/* Have that verb run at these other nodes, at the same time; words end with
 * NULL.  Each is to be released. */
void nodes_collect(const struct conf *conf, const char *const *words,
    struct nodes_said *said, size_t count);
void nodes_said_release(struct nodes_said *said);

#endif
