/* processes.c - processes of ours that do not go on
 *
 * In     RUN/zmailer.state, /proc
 * Out    a row for each program that a signal stopped
 * Trusts no name of a process: it is escaped
 * Spec   standstill.h; proc(5)
 *
 * SPDX-License-Identifier: ISC
 */
#include <dirent.h>
#include <string.h>

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

/* Processes of one program are one row: next has all of them. */
static void
process_tell(struct standstill *all, size_t first, pid_t pid,
    const char *name)
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
		process_tell(all, first, (pid_t)pid, look.name);
		told++;
	}
	if (dir != NULL)
		closedir(dir);
}
