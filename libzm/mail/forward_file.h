/* forward_file.h - which forward files of users are trusted
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_MAIL_FORWARD_FILE_H
#define ZM_MAIL_FORWARD_FILE_H

#include <sys/stat.h>
#include <sys/types.h>

enum { FORWARD_BYTES_MAX = 64 * 1024 };

/* Why this file of a user cannot be trusted: somebody other than the user or
 * root could have written it, or it is not a regular file.  NULL: it can. */
const char *forward_file_distrust(const struct stat *st, uid_t owner);
/* The same for the directory of path: whoever can write it can put another file
 * there. */
const char *forward_directory_distrust(const char *path);

#endif
