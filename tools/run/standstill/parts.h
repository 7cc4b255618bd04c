/* parts.h - where the rows of standstill.h come from; internal to
 * tools/run
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_RUN_STANDSTILL_PARTS_H
#define ZM_TOOLS_RUN_STANDSTILL_PARTS_H

#include "tools/run/standstill/standstill.h"

/* Add a row with empty words; the caller fills it in before it adds another.
 * what is static, name is copied. */
struct standstill_row *standstill_row(struct standstill *all,
    const char *what, const char *name);
/* Set its words to text, with controls escaped. */
void standstill_say(struct standstill *all, struct standstill_row *row,
    const struct str *text);

/* Append " since 2026-11-22 20:14:07 CET (3h12m)", if it is known. */
void standstill_add_since(struct str *out, int64_t since_s);

/* Add processes whose loops do not turn, and those that have work and do none
 * (journal/progress.h); not those that a signal stopped, if that can be seen.
 * If the scheduler is one of them, all->is_silent is set. */
void standstill_progress(struct standstill *all, const char *run_dir);
/* Add processes of ours that a signal stopped; none, if the caller cannot see
 * processes of others. */
void standstill_processes(struct standstill *all, const char *run_dir);
/* Read a line about an objective of the scheduler's answer: fill in the row,
 * and append its words to out. */
void standstill_objective(struct arena *arena, struct slice line,
    struct standstill_row *row, struct str *out);
/* Our own resolver does not answer. */
void standstill_resolver(struct standstill *all, const struct conf *conf);
/* Machines of the cluster are missing, or Redis is away. */
void standstill_cluster(struct standstill *all, const struct conf *conf);
/* Receivers of events (notify) do not accept them. */
void standstill_notify(struct standstill *all, const struct conf *conf);
/* Files that are read while mail flows: tables that are gone, certificates that
 * have expired or will soon. */
void standstill_files(struct standstill *all, const struct conf *conf);

#endif
