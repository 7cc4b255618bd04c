/* takeover.h - messages of a lost node come into this spool
 *
 * As from another mailer's queue (rows I1, I2): drafts in public/ that a start
 * removes, until the file `imported` has their line; from then on they are
 * ours, and a start that finds them puts them into their place.  A message that
 * was tried already comes with its control file, so that what is done is not
 * done again.  The daemons may run.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_MAIL_SPOOL_TAKEOVER_H
#define ZM_MAIL_SPOOL_TAKEOVER_H

#include "mail/spool/imports.h"

struct takeover {
	struct draft	 body, control;	/* control.fd -1: none; a draft in name
					 * alone: its bytes are written as they
					 * are */
	char		 key[SPOOL_IMPORT_KEY_BYTES];
};

/* Make the files, empty, in public/; the caller writes to their fd.  key: as
 * spool_import_key_is; cause: of freezer/, "" where it goes elsewhere.  0; -1:
 * err, nothing is left. */
int takeover_begin(struct spool *spool, const char *key, bool is_frozen,
    bool has_control, struct takeover *out, struct err *err);

/* Its line is in `imported` and all is synced: to queue/ and transport/, or
 * without a control file to router/ or freezer/.
 * 0; -1: err; the next start or the router does it. */
int takeover_publish(struct takeover *takeover, const char *freeze_cause,
    struct err *err);

/* Give it up before its line is written: remove both. */
void takeover_drop(struct takeover *takeover);
/* Leave both to the next start. */
void takeover_leave(struct takeover *takeover);

#endif
