/* roots.h - what root does for an owner in the configuration's directories
 *
 * The owner of a mailbox may not make it in /var/mail, so root does.  Below the
 * configured directory there may be directories of users, who can lead a path
 * anywhere; so root walks down itself, follows no link, and makes files only in
 * its own directories and in those of the configured one's owner.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TRANSPORTS_MAILBOX_ROOTS_H
#define ZM_TRANSPORTS_MAILBOX_ROOTS_H

#include "transports/mailbox/mailbox.h"

/* Open the directory of path; the caller must be root (account_back).
 * base      directory of the configuration's, of which path is below
 * out_name  the last component, a part of path
 * returns its descriptor; -1, with EACCES if root must not act there. */
int roots_open_parent(const char *path, const char *base,
    const char **out_name, struct err *err);

/* Make a directory as root, then become owner again.  If it exists, errno is
 * EEXIST.
 * mode         0755: it stays root's; 0700: it is given to owner
 * returns 0 or -1. */
int roots_make_directory(const char *path, const char *base, mode_t mode,
    const struct account *owner, struct err *err);

/* Make a file as root for owner, 0600, with O_EXCL, then become owner
 * again.  returns its descriptor, open for reading and appending, or -1. */
int roots_make_file(const char *path, const char *base,
    const struct account *owner, struct err *err);

#endif
