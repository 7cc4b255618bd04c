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
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "journal/progress.h"
#include "tools/queue/process.h"
#include "tools/run/standstill/parts.h"
#include "tools/run/supervisor.h"

#include "base/banned.h"

enum {
	GENERATIONS_MAX = 6,	/* supervisor, scheduler, launcher, agent ... */
	STOPPED_MAX = 64,	/* processes that are told of */
	CHILDREN_BYTES_MAX = 1 << 16	/* of a thread: 10,000 of them */
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

struct stopped_search {
	struct standstill	*all;
	const char		*run_dir;
	size_t			 first, told;	/* rows that were there */
};

static void
process_judge(struct stopped_search *search, pid_t pid)
{
	struct process_look look;

	if (search->told == STOPPED_MAX || !process_look(pid, &look) ||
	    !look.is_stopped)
		return;
	process_tell(search->all, search->run_dir, search->first, pid,
	    look.name);
	search->told++;
}

/* The children of a thread.  false: this kernel does not say
 * (CONFIG_PROC_CHILDREN), or it is gone. */
static bool
thread_children_read(pid_t pid, const char *thread, struct str *out)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%ld/task/%s/children", (long)pid,
	    thread);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	(void)fd_read_all(fd, CHILDREN_BYTES_MAX, out);
	close(fd);
	return true;
}

/* Of all of its threads: any of them may have started one. */
static void
process_children_read(pid_t pid, struct str *out)
{
	struct dirent *entry;
	char path[64];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%ld/task", (long)pid);
	dir = opendir(path);
	while (dir != NULL && (entry = readdir(dir)) != NULL)
		if (entry->d_name[0] != '.')
			(void)thread_children_read(pid, entry->d_name, out);
	if (dir != NULL)
		closedir(dir);
}

/* A process and those below it. */
static void
process_tree_judge(struct stopped_search *search, pid_t pid, int generation)
{
	struct str children = STR_INIT;
	struct slice rest, word;
	uint64_t child;

	process_judge(search, pid);
	if (generation == GENERATIONS_MAX)
		return;
	process_children_read(pid, &children);
	rest = str_slice(&children);
	while (slice_word(&rest, &word))
		if (slice_number(word, 2, INT32_MAX, &child))
			process_tree_judge(search, (pid_t)child,
			    generation + 1);
	str_release(&children);
}

/* All that there are, on this machine. */
static void
processes_judge(struct stopped_search *search, pid_t supervisor)
{
	struct dirent *entry;
	uint64_t pid;
	DIR *dir = opendir("/proc");

	while (dir != NULL && (entry = readdir(dir)) != NULL)
		if (slice_number(slice_of(entry->d_name), 2, INT32_MAX,
		    &pid) && process_is_of((pid_t)pid, supervisor))
			process_judge(search, (pid_t)pid);
	if (dir != NULL)
		closedir(dir);
}

void
standstill_processes(struct standstill *all, const char *run_dir)
{
	struct stopped_search search = { .all = all, .run_dir = run_dir,
	    .first = all->count };
	struct str children = STR_INIT;
	struct state state;
	struct err err;
	char name[32];

	if (state_read(run_dir, &state, &err) != STATE_READ)
		return;
	snprintf(name, sizeof(name), "%ld", (long)state.pid);
	/* there may be thousands of others */
	if (thread_children_read(state.pid, name, &children))
		process_tree_judge(&search, state.pid, 1);
	else
		processes_judge(&search, state.pid);
	str_release(&children);
}
