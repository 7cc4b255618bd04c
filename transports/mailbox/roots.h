/* roots.h - what root does for an owner in the configuration's directories
 *
 * The owner of a mailbox may not make it in /var/mail, so root does.  Below
 * the directory that the configuration gives there may be directories of
 * users, who lead a path wherever they like; so root walks down itself,
 * follows no link, and helps in no directory but its own and those of who
 * owns the configuration's.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TRANSPORTS_MAILBOX_ROOTS_H
#define ZM_TRANSPORTS_MAILBOX_ROOTS_H

#include "transports/mailbox/mailbox.h"

/* Open the directory of path; the caller is root now (account_back).
 * base      directory of the configuration's, of which path is below
 * out_name  what path names in it: a part of path
 * returns its descriptor; -1, EACCES when it is not one to help in. */
int roots_open_parent(const char *path, const char *base,
    const char **out_name, struct err *err);

/* Make a directory as root, then become owner again.  One that is there is
 * errno EEXIST.
 * mode         0755: it stays root's; 0700: it is given to owner
 * returns 0 or -1. */
int roots_make_directory(const char *path, const char *base, mode_t mode,
    const struct account *owner, struct err *err);

/* Make a file as root for owner, 0600, with O_EXCL, then become owner
 * again.  returns its descriptor, open for reading and appending, or -1. */
int roots_make_file(const char *path, const char *base,
    const struct account *owner, struct err *err);

#endif
