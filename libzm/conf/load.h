/* load.h - what load.c does for in_force.c
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_CONF_LOAD_H
#define ZM_CONF_LOAD_H

#include "conf/conf.h"

/* Append the bytes of a snapshot.  False: the file is not a snapshot, and
 * nothing was appended. */
bool conf_read_snapshot(const char *path, struct str *out);
/* Load the text of a snapshot that was read from a path.  is_lenient: tables
 * of domains may be broken.  NULL: there were errors. */
struct conf *conf_load_snapshot(const char *from, struct slice text,
    bool is_lenient, struct arena *arena, struct conf_report *out_report);
/* Load all statements of a file that can be understood, without checks: only
 * its directories and its host name can be used.  Never NULL. */
struct conf *conf_load_places(const char *path);

struct conf_snapshot;
/* Open RUN's snapshot if it belongs to somebody to believe about the
 * configuration conf_path.  Returns a descriptor, or -1. */
int conf_snapshot_open_trusted(const char *conf_path, const char *run_dir);
/* Whether it is of this path; NULL: of what nobody named. */
bool conf_snapshot_is_of(const struct conf_snapshot *snapshot,
    const char *path);

#endif
