/* shelf.h - policies on the disk, for the time after a restart
 *
 * A file a domain, SPOOL/sts/DOMAIN:
 *
 *	zmailer-sts 1
 *	DOMAIN MOMENT MODE MAX_AGE ID MX...
 *	end
 *
 * MOMENT: when it was fetched, in seconds since 1970.  A file is written to
 * ".new.PID" there, made durable and renamed: who reads sees all of it, or
 * the one before (doc/INTERNALS.md section 2.1).  What cannot be read is
 * removed: it is had again.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_STS_KNOWN_SHELF_H
#define ZM_STS_KNOWN_SHELF_H

#include "grammar/sts.h"

enum { SHELF_FILE_BYTES_MAX = 8192 };

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

/* The text of a file, read.  domain: its name.  0; -1: it is none. */
int shelf_parse(struct slice text, const char *domain, int64_t *out_fetched_s,
    struct sts_policy *out, struct err *err);

#endif
