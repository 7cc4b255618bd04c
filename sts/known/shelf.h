/* shelf.h - policies on the disk, for the time after a restart
 *
 * What a file has: io/consult/sts_shelf.h.  It is written to ".new.PID" there,
 * made durable and renamed: who reads sees all of it, or the one before
 * (doc/INTERNALS.md section 2.1).  What is damaged is removed: it is had
 * again.  Agents may read them; their group is the directory's.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_STS_KNOWN_SHELF_H
#define ZM_STS_KNOWN_SHELF_H

#include "io/consult/sts_shelf.h"

/* The directory, opened.  -1: err. */
int shelf_open(const char *spool_dir, struct err *err);

/* Keep it, instead of one that is there.  0 or -1 (err): the one before is
 * still there. */
int shelf_put(int shelf, const char *domain, int64_t fetched_s,
    const struct sts_policy *policy, struct err *err);
/* Harmless when there is none. */
void shelf_remove(int shelf, const char *domain);

/* Call take for each file that can be read, at most max; remove the others,
 * and what a writer left when it died. */
typedef void shelf_take_fn(void *context, const char *domain,
    int64_t fetched_s, const struct sts_policy *policy);
void shelf_read(int shelf, size_t max, shelf_take_fn *take, void *context);

#endif
