/* processes.c - how far the daemons are, as metrics
 *
 * In     RUN/progress-ROLE, /proc
 * Out    ages of turns, and of work that waits; the longest turns
 * Trusts as progress.h
 * Spec   zmailer-metrics(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>
#include <string.h>

#include "journal/counters.h"
#include "journal/progress.h"
#include "tools/queue/process.h"
#include "tools/zmailer/metrics/metrics.h"

#include "base/banned.h"

/* For how long work of this process was not done; -1: none waits.  A process
 * that a signal stopped does not say what it has; its last turn counts. */
static int64_t
process_work_ms(const struct progress *one)
{
	struct process_look look;

	if (one->turn_ms < PROGRESS_STILL_MS || one->turn_ms < one->work_ms ||
	    !process_look(one->pid, &look) || !look.is_stopped)
		return one->work_ms;
	return one->turn_ms;
}

/* Of the daemon and its other processes: sessions are the workers'. */
static int64_t
role_work_ms(const char *run_dir, const char *role)
{
	struct progress all[PROGRESS_SLOTS];
	size_t count = progress_read(run_dir, role, all);
	int64_t oldest_ms = -1;

	for (size_t i = 0; i < count; i++)
		if (process_work_ms(&all[i]) > oldest_ms)
			oldest_ms = process_work_ms(&all[i]);
	return oldest_ms;
}

/* Workers have the name of their daemon, other children one that begins with
 * it; of one name the longest counts. */
static void
metrics_add_longest(struct str *out, const char *role,
    struct progress found[], size_t count)
{
	for (size_t i = 0; i < count; i++) {
		int64_t longest_us = found[i].longest_us;

		if (strncmp(found[i].name, role, strlen(role)) != 0)
			continue;
		for (size_t k = i + 1; k < count; k++) {
			if (strcmp(found[i].name, found[k].name) != 0)
				continue;
			if (found[k].longest_us > longest_us)
				longest_us = found[k].longest_us;
			found[k].name[0] = '\0';
		}
		str_addf(out, "zmailer_process_turn_longest_seconds{"
		    "process=\"%s\"} %" PRId64 ".%06d\n", found[i].name,
		    longest_us / 1000000, (int)(longest_us % 1000000));
	}
}

void
metrics_add_processes(struct str *out, const char *run_dir)
{
	struct progress found[PROGRESS_ROLES];
	bool is_known[PROGRESS_ROLES];

	for (int i = 0; i < PROGRESS_ROLES; i++) {
		found[i].pid = 0;
		(void)progress_stands(run_dir, progress_roles[i], &found[i]);
		found[i].work_ms = role_work_ms(run_dir, progress_roles[i]);
		is_known[i] = found[i].pid != 0;
	}
	counters_print_head(out, "process_turn_age_seconds");
	for (int i = 0; i < PROGRESS_ROLES; i++)
		if (is_known[i])
			str_addf(out, "zmailer_process_turn_age_seconds{"
			    "process=\"%s\"} %" PRId64 ".%03d\n",
			    progress_roles[i], found[i].turn_ms / 1000,
			    (int)(found[i].turn_ms % 1000));
	counters_print_head(out, "process_work_age_seconds");
	for (int i = 0; i < PROGRESS_ROLES; i++)
		if (is_known[i])
			str_addf(out, "zmailer_process_work_age_seconds{"
			    "process=\"%s\"} %" PRId64 "\n",
			    progress_roles[i], found[i].work_ms < 0 ? 0 :
			    found[i].work_ms / 1000);
	counters_print_head(out, "process_turn_longest_seconds");
	for (int i = 0; i < PROGRESS_ROLES; i++) {
		struct progress all[PROGRESS_SLOTS];

		metrics_add_longest(out, progress_roles[i], all,
		    progress_read(run_dir, progress_roles[i], all));
	}
}
