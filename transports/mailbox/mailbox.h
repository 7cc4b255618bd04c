/* mailbox.h - the rooms of the mailbox agent
 *
 * deliver.c finds out whose mail it is and where it goes, maildir.c and
 * mbox.c put it there.  Everything that touches a user's files happens as
 * that user (account.h); the last component of a path is never followed.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TRANSPORTS_MAILBOX_H
#define ZM_TRANSPORTS_MAILBOX_H

#include "mail/verdict.h"
#include "transports/account.h"
#include "transports/agent.h"
#include "transports/content.h"

enum {
	MAILBOX_PATH_BYTES = 4096,
	MAILBOX_LOCK_WAIT_MS = 15000,	/* for a mailbox locked by others */
	MAILBOX_LOCK_STALE_S = 300,	/* an older dotlock is removed */
	MAILDIR_PENDING_MAX = 64	/* deliveries not yet synced */
};

/* What a failed system call means for mail: full (4.2.2) or trouble
 * (4.3.0).  Reads errno. */
void mailbox_trouble(struct verdict *verdict, const struct err *err);

/* ---- mbox.c ------------------------------------------------------------ */

/* Append content to the mbox at path, as the present user: dotlock (where
 * the directory allows one), fcntl lock, write, fsync; what was half
 * written is cut off again.
 * owner       must own the file
 * may_create  root may make a missing file for owner in a directory that is
 *             root's
 * trace       Delivered-To
 * Fills the verdict. */
void mbox_append(const char *path, const struct account *owner,
    bool may_create, const struct content *content, struct slice trace,
    struct verdict *verdict);

/* ---- maildir.c --------------------------------------------------------- */

/* What goes into a mailbox, and whose it is. */
struct delivery {
	const char		*id;		/* spool id */
	unsigned		 rcpt;		/* number of the recipient: its
						 * offset in the control file */
	const struct content	*content;
	struct slice		 trace;		/* Delivered-To */
};

/* Write a delivery to a new file in path/tmp as owner.  It becomes mail and
 * is synced in maildir_settle; verdict must stand until then (it is
 * filled at once when this step fails).  A missing Maildir is made;
 * may_create as for mbox_append. */
void maildir_begin(const char *path, const struct account *owner,
    bool may_create, const struct delivery *delivery,
    struct verdict *verdict);

/* Move all that was begun to new/, sync it, fill the verdicts. */
void maildir_settle(void);

/* Name of this machine in file names; the `sync` statement. */
void maildir_setup(const char *host, enum conf_sync sync);
void mbox_setup(bool unsafe_no_sync);

/* ---- deliver.c: the functions of struct agent -------------------------- */

int mailbox_start(struct agent_run *run, struct err *err);
int mailbox_job(struct agent_run *run, struct work_job *job, int body_fd,
    struct verdict verdicts[]);
void mailbox_settle(struct agent_run *run);
void mailbox_finish(struct agent_run *run);

#endif
