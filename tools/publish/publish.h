/* publish.h - zmailer config publish: this node's files on all nodes
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_PUBLISH_PUBLISH_H
#define ZM_TOOLS_PUBLISH_PUBLISH_H

#include "tools/verb/verb.h"

enum {
	PUBLISH_CANARY_MS = 600000,	/* a canary's time, unless said */
	PUBLISH_CANARY_MS_MAX = 6 * 86400 * 1000,
	PUBLISH_TRIAL_S = 120,		/* until it goes back, and for each
					 * node a little more */
	PUBLISH_TRIAL_NODE_S = 10,
	PUBLISH_PATIENCE_MS = 40000,	/* for a node whose answer was cut
					 * off */
	PUBLISH_HURRY_MS = 5000		/* the same, after an interrupt */
};

enum { PUBLISH_INTERRUPTED = 130 };

/* returns an exit status: 0 every node keeps it; 1 the canary became worse, or
 * the answer was no; 130 a signal
 * ended it before it was decided, and all go back; 75 a node does not answer;
 * 78 one refuses it */
int publish_run(const struct arguments *arguments);
/* Undo the last publish of this node, on all others; undo_here is for this
 * one, when its own files are as they were published.
 * returns an exit status */
typedef int publish_undo_fn(const struct arguments *arguments);
int publish_undo_all(const struct arguments *arguments,
    publish_undo_fn *undo_here);

#endif
