/* install.h - a node takes what another one publishes, or goes back
 *
 * Each of these is the work of one process, which may be killed at any point:
 * publish_settle, at the start and every second, ends what it left.  Who calls
 * them is root, or the account that runs zmailer; reasons go to standard error.
 *
 *   offer -> take -> keep        the way of a publish
 *   take -> back                 nobody said keep in time, or: go back
 *   keep -> undo                 as if it had not been
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_PUBLISH_INSTALL_H
#define ZM_TOOLS_PUBLISH_INSTALL_H

#include "tools/publish/record.h"

struct publish_job {
	const char	*conf_path;	/* of the main file */
	const char	*id;
	const char	*from, *who;	/* the node that asks, and its user */
};

/* Check what was sent against this machine, and put it aside; for hold_s no
 * offer of another node takes its place (a node publishes one thing at a time).
 * returns an exit status */
int publish_offer(const struct publish_job *job, struct slice bytes,
    int64_t hold_s);
/* Put the offered files in force, for so long unless publish_keep comes.
 * returns an exit status; unless it is EX_OK, all is as it was */
int publish_take(const struct publish_job *job, int64_t seconds);
/* It is to stay.  returns an exit status */
int publish_keep(const struct publish_job *job);
/* Go back at once; why is for the journal.  What is offered only is put away.
 * returns an exit status */
int publish_back(const struct publish_job *job, const char *why);
/* Go back to what was before the one that was kept last, which must have this
 * id, and whose files must be unchanged.  returns an exit status */
int publish_undo_kept(const struct publish_job *job);

/* Is it time to go back, or is somebody at work, or was he killed?  Looks at
 * the records alone. */
bool publish_is_due(const char *spool_dir);
/* If it is time, or who took it was killed in the middle, go back; wait at most
 * so long for who is at work.
 * returns 0; -1: it could not be done now, and a warning says why */
int publish_settle(const char *conf_path, int64_t patience_ms);

#endif
