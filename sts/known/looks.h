/* looks.h - look-ups under way, each in a process of its own
 *
 * Each is forked, locked in (sockets, no file), says one line and ends.  One
 * that does not end in time is killed.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_STS_KNOWN_LOOKS_H
#define ZM_STS_KNOWN_LOOKS_H

#include "daemon/skeleton.h"
#include "sts/fetch/fetch.h"

struct looks;

/* A look-up of `about` ended with that line (fetch_line_read). */
typedef void looks_done_fn(void *context, void *about, struct slice line);

/* count: so many at a time. */
struct looks *looks_new(struct process *process, unsigned count,
    looks_done_fn *done, void *context);
/* End all of them; nobody hears of it. */
void looks_free(struct looks **looks);

/* Begin one; *order is copied.  false: all are busy. */
bool looks_begin(struct looks *looks, const struct fetch_order *order,
    void *about);

#endif
