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

/* Show what the database has of a node that does not answer, as the verb shows
 * its mail.  returns 0; -1: it was said on standard error why not */
typedef int nodes_held_fn(const struct verb_row *row,
    const struct arguments *arguments, const struct conf *conf,
    const char *node, bool is_json);

/* Was --node or --cluster given, to a verb that goes there? */
bool nodes_is_asked(const struct verb_row *row,
    const struct arguments *arguments);

/* Run a verb whose command line has one of them; run is for those without,
 * held for a silent node's.
 * returns the exit status: 75 if a node did not get an order, 1 if what a node
 * has is missing */
int nodes_run(const struct verb_row *row, const struct arguments *arguments,
    nodes_run_fn *run, nodes_held_fn *held);

/* For a verb that has one of them and goes there by itself: is there such a
 * cluster, and such a node?  returns 0; or the exit status, after words. */
int nodes_check(const struct conf *conf, const struct arguments *arguments);

/* look.c: run look for that node (NULL: for each) in a process of its own, in
 * which control_connect leads to it; told gets what it wrote to standard output
 * and standard error, in the order of the configuration.  A node that does not
 * answer, or not in time, has no output, and says why. */
typedef int nodes_look_fn(void *context, const char *node);
typedef void nodes_told_fn(void *context, const char *node, struct slice out,
    struct slice said);
void nodes_look(const struct conf *conf, const char *node,
    nodes_look_fn *look, nodes_told_fn *told, void *context);

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
