/* progress.c - daemons whose loops do not turn
 *
 * In     RUN/zmailer.state, RUN/progress-ROLE
 * Out    a row for each process that stands still, or does none of its work
 * Trusts as journal/progress.h
 * Spec   standstill.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "journal/progress.h"
#include "tools/run/standstill/parts.h"
#include "tools/run/supervisor.h"

#include "base/banned.h"

/* Longer than a loop sleeps (PROGRESS_NAP_MS). */
enum { AGAIN_NAP_MS = 100, AGAIN_NAPS = 15 };

/* 'T' of a process that a signal stopped, 'Z' of one that has ended; '\0': the
 * system does not say. */
static char
progress_state(pid_t pid)
{
	char path[64], text[256];
	const char *name_end;
	ssize_t n = 0;
	int fd;

	snprintf(path, sizeof(path), "/proc/%ld/stat", (long)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = fd_read_at(fd, text, sizeof(text) - 1, 0);
		close(fd);
	}
	text[n > 0 ? n : 0] = '\0';
	name_end = strrchr(text, ')');
	return name_end == NULL || name_end[1] == '\0' ? '\0' : name_end[2];
}

/* Does it still stand?  Who was told to go on a moment ago, or was kept from
 * the processor, is given another. */
static bool
progress_is_still(const char *run_dir, const char *role,
    struct progress *one)
{
	const struct timespec nap = { .tv_nsec = 1000000L * AGAIN_NAP_MS };
	char state = progress_state(one->pid);

	for (int i = 0; i < AGAIN_NAPS && one->turn_ms >= PROGRESS_STILL_MS &&
	    state != 'T' && state != 't'; i++) {
		nanosleep(&nap, NULL);
		if (!progress_find(run_dir, role, one->pid, one))
			return false;
	}
	return one->turn_ms >= PROGRESS_STILL_MS;
}

static const char *
progress_why(char state)
{
	return state == 'D' ? "it waits for a disk" :
	    state == 'R' ? "it is busy" :
	    state == '\0' ? "it is stopped, or busy" :
	    "it waits for another process, or a disk";
}

static void
progress_tell(struct standstill *all, const struct progress *one)
{
	char state = progress_state(one->pid);
	struct standstill_row *row;
	struct str text = STR_INIT;

	if (state == 'T' || state == 't')	/* another row */
		return;
	/* as pid 1 of a container that never waits leaves them */
	if (state == 'Z' || state == 'X')
		return;
	row = standstill_row(all, "process", one->name);
	row->since_s = clock_wall_s() - one->turn_ms / 1000;
	str_addf(&text, "the %s stands still", one->name);
	standstill_add_since(&text, row->since_s);
	str_addf(&text, " (pid %ld): %s", (long)one->pid,
	    progress_why(state));
	standstill_say(all, row, &text);
	row->next = "zmailer events; zmailer restart";
	str_release(&text);
}

/* Work waits, and the daemon, which moves, does none of it. */
static void
progress_tell_work(struct standstill *all, const struct progress *one)
{
	struct standstill_row *row = standstill_row(all, "work", one->name);
	struct str text = STR_INIT;

	row->since_s = clock_wall_s() - one->work_ms / 1000;
	str_addf(&text, "the %s has work, and has done none of it", one->name);
	standstill_add_since(&text, row->since_s);
	standstill_say(all, row, &text);
	row->next = "zmailer events; zmailer restart";
	str_release(&text);
}

/* The daemon's other processes. */
static void
progress_tell_workers(struct standstill *all, const char *run_dir,
    const char *role, pid_t daemon)
{
	struct progress found[PROGRESS_SLOTS];
	size_t count = progress_read(run_dir, role, found);

	for (size_t i = 0; i < count; i++) {
		if (found[i].pid == daemon)
			continue;
		if (found[i].turn_ms >= PROGRESS_WORKER_MS)
			progress_tell(all, &found[i]);
		else if (found[i].work_ms >= PROGRESS_WORK_MS)
			progress_tell_work(all, &found[i]);
	}
}

/* Those that started long enough ago to have said how far they are. */
void
standstill_progress(struct standstill *all, const char *run_dir)
{
	struct state state = { .child_count = 0 };
	struct progress one;
	struct err err;

	if (state_read(run_dir, &state, &err) != STATE_READ)
		return;
	if (progress_watch(run_dir, "supervisor", state.pid, &one) &&
	    progress_is_still(run_dir, "supervisor", &one))
		progress_tell(all, &one);
	for (size_t i = 0; i < state.child_count; i++) {
		const struct state_child *child = &state.children[i];

		if (strcmp(child->state, "ready") != 0 ||
		    !progress_watch(run_dir, child->name, child->pid, &one))
			continue;
		if (progress_is_still(run_dir, child->name, &one)) {
			progress_tell(all, &one);
			all->is_silent |= strcmp(child->name, "scheduler") ==
			    0;
		} else if (one.work_ms >= PROGRESS_WORK_MS) {
			progress_tell_work(all, &one);
		}
		progress_tell_workers(all, run_dir, child->name, child->pid);
	}
}
