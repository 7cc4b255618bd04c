/* processes.c - processes of ours that do not go on
 *
 * In     RUN/zmailer.state, RUN/progress-ROLE, /proc
 * Out    a row for each program that a signal stopped
 * Trusts no name of a process: it is escaped
 * Spec   standstill.h; proc(5)
 *
 * SPDX-License-Identifier: ISC
 */
#include <dirent.h>
#include <string.h>

#include "base/clock.h"
#include "journal/progress.h"
#include "tools/queue/process.h"
#include "tools/run/standstill/parts.h"
#include "tools/run/supervisor.h"

#include "base/banned.h"

enum {
	GENERATIONS_MAX = 6,	/* supervisor, scheduler, launcher, agent ... */
	STOPPED_MAX = 64	/* processes that are told of */
};

/* Is it the supervisor, or was it started by it or by one of its own? */
static bool
process_is_of(pid_t pid, pid_t supervisor)
{
	struct process_look look;

	for (int i = 0; i < GENERATIONS_MAX && pid > 1; i++) {
		if (pid == supervisor)
			return true;
		if (!process_look(pid, &look))
			return false;
		pid = look.parent;
	}
	return false;
}

/* So long its loop has not turned; of one that has none, so long work of its
 * daemon waits.  -1: not known. */
static int64_t
process_idle_ms(const char *run_dir, pid_t pid, const char *name)
{
	struct progress found[PROGRESS_SLOTS];
	int64_t oldest_ms = -1;

	for (int i = 0; i < PROGRESS_ROLES; i++)
		if (progress_find(run_dir, progress_roles[i], pid, &found[0]))
			return found[0].turn_ms;
	for (size_t i = progress_read(run_dir, name, found); i-- > 0;)
		if (found[i].work_ms > oldest_ms)
			oldest_ms = found[i].work_ms;
	return oldest_ms;
}

/* Of the first one of its program that is met. */
static void
process_add_age(struct standstill_row *row, const char *run_dir, pid_t pid,
    const char *name, struct str *text)
{
	int64_t idle_ms = process_idle_ms(run_dir, pid, name);

	if (idle_ms < 0)
		return;
	row->since_s = clock_wall_s() - idle_ms / 1000;
	str_adds(text, "; its work waits");
	standstill_add_since(text, row->since_s);
}

/* Processes of one program are one row: next has all of them. */
static void
process_tell(struct standstill *all, const char *run_dir, size_t first,
    pid_t pid, const char *name)
{
	struct str text = STR_INIT;
	struct standstill_row *row = NULL;

	for (size_t i = first; row == NULL && i < all->count; i++)
		if (strcmp(all->rows[i].name, name) == 0)
			row = &all->rows[i];
	if (row == NULL) {
		row = standstill_row(all, "stopped", name);
		row->next = "kill -CONT";
		str_addf(&text, "%s was stopped by a signal: it does nothing "
		    "until it is told to go on", name);
		process_add_age(row, run_dir, pid, name, &text);
		standstill_say(all, row, &text);
	}
	row->count++;
	row->next = arena_printf(all->arena, "%s %ld", row->next, (long)pid);
	str_release(&text);
}

void
standstill_processes(struct standstill *all, const char *run_dir)
{
	size_t first = all->count, told = 0;
	struct process_look look;
	struct dirent *entry;
	struct state state;
	uint64_t pid;
	struct err err;
	DIR *dir;

	if (state_read(run_dir, &state, &err) != STATE_READ)
		return;
	dir = opendir("/proc");
	while (dir != NULL && told < STOPPED_MAX &&
	    (entry = readdir(dir)) != NULL) {
		if (!slice_number(slice_of(entry->d_name), 2, INT32_MAX,
		    &pid) || !process_look((pid_t)pid, &look) ||
		    !look.is_stopped ||
		    !process_is_of((pid_t)pid, state.pid))
			continue;
		process_tell(all, run_dir, first, (pid_t)pid, look.name);
		told++;
	}
	if (dir != NULL)
		closedir(dir);
}
