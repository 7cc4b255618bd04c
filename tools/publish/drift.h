/* drift.h - do the nodes of the cluster have the same configuration?
 *
 * Compared are names and sums of the files that a publish would send
 * (`zmailer config files`), in force on each.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_PUBLISH_DRIFT_H
#define ZM_TOOLS_PUBLISH_DRIFT_H

#include "conf/conf.h"

/* zmailer config files: print them, and what is left out.
 * returns an exit status */
int publish_files(const struct conf *conf, bool is_json);

struct publish_drift {			/* of one other node */
	const char	*node;
	bool		 is_known;	/* else err says why not */
	const char	*files;		/* that differ, with a comma between;
					 * "": none does */
	const char	*err;
	const char	*trial_from;	/* who publishes what it tries; "":
					 * it tries nothing */
	int64_t		 trial_until_s;	/* wall */
	bool		 may_differ;	/* as a trial runs, here, there or
					 * on a third node */
};
/* Is what this node has on trial?  The text is in the arena; "": no. */
const char *publish_trial(const struct conf *conf, struct arena *arena,
    int64_t *out_until_s);
/* Ask all other nodes at once; *out is in the arena.  *out_count: how many; 0
 * where no node may publish here, and the files may differ as they are meant
 * to.  0; -1 with err: our own files cannot be collected: nothing is known */
int publish_drift(const struct conf *conf, struct arena *arena,
    struct publish_drift **out, size_t *out_count, struct err *err);
/* The same, for the gauge of the metrics: a node whose files cannot be
 * collected counts itself. */
void publish_drift_note(const struct conf *conf);

#endif
