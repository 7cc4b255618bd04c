/* notify_scan.h - directories looked at once a second; notify's own
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_IO_NOTIFY_SCAN_H
#define ZM_IO_NOTIFY_SCAN_H

#include "io/notify.h"

enum { NOTIFY_SCAN_MS = 1000 };

struct notify_scan;

/* As notify_new: fn is called with name NULL when a directory changed. */
struct notify_scan *notify_scan_new(struct loop *loop, notify_fn *fn,
    void *context);
void notify_scan_free(struct notify_scan **scan);

/* Watch a directory; is_owned: closes dir_fd in the end.  0; -1 when it is not
 * a directory. */
int notify_scan_add(struct notify_scan *scan, int dir_fd, bool is_owned,
    unsigned dir, enum notify_flags flags, struct err *err);
/* The same for the directory at path. */
int notify_scan_add_path(struct notify_scan *scan, const char *path,
    unsigned dir, enum notify_flags flags, struct err *err);

#endif
