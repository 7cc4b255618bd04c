/* parts.h - where the rows of standstill.h come from; internal to
 * tools/run
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_RUN_STANDSTILL_PARTS_H
#define ZM_TOOLS_RUN_STANDSTILL_PARTS_H

#include "tools/run/standstill/standstill.h"

/* One more row, with empty words, for the caller to fill until the next one
 * is made.  what is static, name is copied. */
struct standstill_row *standstill_row(struct standstill *all,
    const char *what, const char *name);
/* Its words: those of text, with controls escaped. */
void standstill_say(struct standstill *all, struct standstill_row *row,
    const struct str *text);

/* " since 2026-11-22 20:14:07 CET (3h12m)", where it is known. */
void standstill_add_since(struct str *out, int64_t since_s);

/* Processes whose loops do not turn, and those that have work and do none of
 * it (journal/progress.h); not those that a signal stopped, where that can
 * be seen.  The scheduler among them: all->is_silent. */
void standstill_progress(struct standstill *all, const char *run_dir);
/* Processes of ours that a signal stopped.  Where others' processes cannot
 * be seen there are no rows. */
void standstill_processes(struct standstill *all, const char *run_dir);
/* A line about an objective, of the scheduler's answer: what the row says
 * besides its words, and these, appended to out. */
void standstill_objective(struct arena *arena, struct slice line,
    struct standstill_row *row, struct str *out);
/* Our own resolver does not answer. */
void standstill_resolver(struct standstill *all, const struct conf *conf);
/* Machines of the cluster that are missing, a Redis that is away. */
void standstill_cluster(struct standstill *all, const struct conf *conf);
/* Receivers of events (notify) that do not accept them. */
void standstill_notify(struct standstill *all, const struct conf *conf);
/* Files that are read while mail flows: certificates whose time is over or
 * nearly so, tables that are gone. */
void standstill_files(struct standstill *all, const struct conf *conf);

#endif
