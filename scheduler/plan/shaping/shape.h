/* shape.h - what was learned about destinations, kept over a restart
 *
 * Sessions, pace and provider of a thread are worth keeping when they differ
 * from those of a new one.  They are kept in memory when the thread goes and
 * written to RUN/scheduler.shape now and then: text, a line a destination,
 * by rename, never synced.  Losing it costs some learning.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SCHEDULER_SHAPE_H
#define ZM_SCHEDULER_SHAPE_H

#include "base/str.h"
#include "scheduler/plan/shaping/provider.h"
#include "scheduler/plan/runfile.h"
#include "scheduler/plan/shaping/zone.h"

enum {
	SHAPES_MAX = 20000,		/* that are kept */
	SHAPE_TEXT_BYTES_MAX = 4 << 20,	/* of the file, about */
	SHAPE_WRITE_MS = 10000,		/* between two looks for news */
	SHAPE_KEPT_S = 7 * 86400	/* without mail to it */
};

struct shape;
struct shape_table {
	struct shape	**buckets;	/* NULL or a power of two */
	size_t		 size, count;
	struct provider_table *providers;
	struct warm_table *warms;	/* their lines are in the file, too */
	struct runfile	 file;
};

/* Read the file, if there is one; malformed lines are skipped. */
void shape_open(struct shape_table *table, struct provider_table *providers,
    struct warm_table *warms, const char *run_dir);
void shape_release(struct shape_table *table);

/* Give a new thread what is known about its destination; keep what a leaving
 * thread has learned. */
void shape_recall(struct shape_table *table, struct thread *thread);
void shape_keep(struct shape_table *table, const struct thread *thread,
    int64_t now_s);

/* The lines of a file, as of now; and back. */
void shape_add_thread(struct str *out, const struct thread *thread,
    int64_t now_s);
void shape_add_remembered(const struct shape_table *table, struct str *out);
void shape_read(struct shape_table *table, struct slice text, int64_t now_s);

/* Write text to the file, if it has changed. */
void shape_write(struct shape_table *table, const struct str *text);

#endif
