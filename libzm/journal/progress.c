/* progress.c - how far each process is, in memory that others look at
 *
 * In     turns of a loop
 * Out    ages of them, to whoever reads RUN/progress-ROLE
 * Holds  the mapping and one slot of it
 * Trusts no number of the file: what cannot be is left out
 * Spec   progress.h; doc/INTERNALS.md section 2.1, row O7
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/ascii.h"
#include "base/clock.h"
#include "journal/progress.h"

#include "base/banned.h"

enum {
	DAEMON_SLOTS = 8,	/* the first ones: of daemons themselves */
	STALE_MS = 600000	/* such a slot is nobody's */
};

struct slot {
	_Atomic int64_t	pid;		/* 0: free */
	_Atomic int64_t	turn_ms;	/* clock_real_us / 1000 */
	_Atomic int64_t	work_ms;	/* since when; 0: none waits */
	_Atomic int64_t	longest_us;	/* of all turns; of the process alone */
	char		name[sizeof(((struct progress *)0)->name)];
};

const char *const progress_roles[PROGRESS_ROLES] = {
	"supervisor", "router", "scheduler", "smtpserver"
};

enum { FILE_BYTES = PROGRESS_SLOTS * sizeof(struct slot) };

static struct slot *slots;	/* the mapping, or NULL */
static struct slot *own;
static struct {
	uint64_t	done;
	int64_t		since_ms;	/* 0: none waits */
} work[PROGRESS_KINDS];

static int64_t
progress_now_ms(void)
{
	return clock_real_us() / 1000;
}

/* ---- of the process ------------------------------------------------ */

/* The slot is the parent's. */
static void
progress_forked(void)
{
	own = NULL;
}

/* Whoever ends in good order gives its slot back. */
static void
progress_leave(void)
{
	if (own != NULL)
		atomic_store(&own->pid, 0);
	own = NULL;
}

static void
slot_fill(struct slot *slot)
{
	atomic_store(&slot->turn_ms, progress_now_ms());
	atomic_store(&slot->work_ms, 0);
	memset(work, 0, sizeof(work));
	atomic_store(&slot->longest_us, 0);
	strlcpy(slot->name, err_program_name(), sizeof(slot->name));
	own = slot;
}

/* By a call that walls let through, which they do not kill(2). */
static bool
process_is_gone(pid_t pid)
{
	return getpgid(pid) < 0 && errno == ESRCH;
}

static bool
slot_is_free(const struct slot *slot, bool may_ask)
{
	pid_t pid = (pid_t)atomic_load(&slot->pid);

	if (pid == 0 || pid == getpid() ||	/* ours, before an exec */
	    progress_now_ms() - atomic_load(&slot->turn_ms) > STALE_MS)
		return true;
	return may_ask && process_is_gone(pid);
}

/* may_ask: whether others live; the sandbox of a session forbids it. */
static void
slot_take(int first, int end, bool may_ask)
{
	for (int i = first; i < end; i++) {
		int64_t before = atomic_load(&slots[i].pid);

		if (!slot_is_free(&slots[i], may_ask) ||
		    !atomic_compare_exchange_strong(&slots[i].pid, &before,
		    (int64_t)getpid()))
			continue;
		slot_fill(&slots[i]);
		return;
	}
}

/* Not what somebody else put there. */
static bool
file_is_ours(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	    st.st_uid == geteuid() && st.st_nlink == 1 &&
	    (st.st_mode & 022) == 0 && st.st_size == FILE_BYTES;
}

static int
file_make(const char *path, struct err *err)
{
	int fd = open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	if (fd >= 0 && file_is_ours(fd))
		return fd;
	if (fd >= 0)
		close(fd);
	(void)unlink(path);
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
	    0644);
	if (fd < 0)
		return err_sys(err, "cannot make %s", path);
	(void)fchmod(fd, 0644);
	if (ftruncate(fd, FILE_BYTES) == 0)
		return fd;
	err_sys(err, "cannot make %s", path);
	close(fd);
	return -1;
}

int
progress_open(const char *run_dir, const char *role, struct err *err)
{
	static bool is_prepared;
	char path[4200];
	void *map;
	int fd;

	snprintf(path, sizeof(path), "%s/progress-%s", run_dir, role);
	fd = file_make(path, err);
	if (fd < 0)
		return -1;
	map = mmap(NULL, FILE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
	    0);
	close(fd);
	if (map == MAP_FAILED)
		return err_sys(err, "cannot map %s", path);
	if (slots != NULL)
		munmap(slots, FILE_BYTES);
	slots = map;
	own = NULL;
	if (!is_prepared) {
		(void)pthread_atfork(NULL, NULL, progress_forked);
		(void)atexit(progress_leave);
	}
	is_prepared = true;
	slot_take(0, DAEMON_SLOTS, true);
	return 0;
}

void
progress_join(void)
{
	if (slots != NULL && own == NULL)
		slot_take(DAEMON_SLOTS, PROGRESS_SLOTS, false);
}

void
progress_turn(int64_t real_us)
{
	if (own != NULL)
		atomic_store_explicit(&own->turn_ms, real_us / 1000,
		    memory_order_relaxed);
}

/* Of all kinds. */
static int64_t
work_since_ms(void)
{
	int64_t oldest_ms = 0;

	for (int i = 0; i < PROGRESS_KINDS; i++)
		if (work[i].since_ms != 0 && (oldest_ms == 0 ||
		    work[i].since_ms < oldest_ms))
			oldest_ms = work[i].since_ms;
	return oldest_ms;
}

void
progress_turn_took(int64_t took_us)
{
	if (own != NULL && took_us > atomic_load_explicit(&own->longest_us,
	    memory_order_relaxed))
		atomic_store_explicit(&own->longest_us, took_us,
		    memory_order_relaxed);
}

void
progress_work(enum progress_kind kind, bool is_waiting, uint64_t done)
{
	if (own == NULL)
		return;
	if (!is_waiting)
		work[kind].since_ms = 0;
	else if (done != work[kind].done || work[kind].since_ms == 0)
		work[kind].since_ms = progress_now_ms();
	work[kind].done = done;
	atomic_store_explicit(&own->work_ms, work_since_ms(),
	    memory_order_relaxed);
}

int
progress_nap_ms(void)
{
	return own != NULL ? PROGRESS_NAP_MS : -1;
}

/* ---- of who looks -------------------------------------------------- */

static void
slot_name(const char bytes[sizeof(((struct slot *)0)->name)], char *out)
{
	size_t n = strnlen(bytes, sizeof(((struct slot *)0)->name) - 1);

	for (size_t i = 0; i < n; i++)
		out[i] = ascii_is_alnum(bytes[i]) || bytes[i] == '-' ?
		    bytes[i] : '?';
	out[n] = '\0';
}

static bool
slot_read(const struct slot *slot, int64_t now_ms, struct progress *out)
{
	int64_t pid = atomic_load(&slot->pid);
	int64_t turn_ms = atomic_load(&slot->turn_ms);
	int64_t work_ms = atomic_load(&slot->work_ms);
	int64_t longest_us = atomic_load(&slot->longest_us);

	if (pid <= 0 || pid > INT32_MAX || turn_ms <= 0 ||
	    turn_ms > now_ms + PROGRESS_NAP_MS || work_ms < 0 ||
	    longest_us < 0 || longest_us / 1000 > now_ms ||
	    process_is_gone((pid_t)pid))
		return false;
	out->pid = (pid_t)pid;
	slot_name(slot->name, out->name);
	out->longest_us = longest_us;
	out->turn_ms = turn_ms < now_ms ? now_ms - turn_ms : 0;
	out->work_ms = work_ms == 0 ? -1 : work_ms < now_ms ?
	    now_ms - work_ms : 0;
	return true;
}

/* Read, not mapped: who cuts the file off under us does no harm. */
size_t
progress_read(const char *run_dir, const char *role,
    struct progress out[PROGRESS_SLOTS])
{
	static struct slot copy[PROGRESS_SLOTS];
	size_t count = 0;
	char path[4200];
	struct stat st;
	ssize_t n = 0;
	int fd;

	snprintf(path, sizeof(path), "%s/progress-%s", run_dir, role);
	fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return 0;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		n = pread(fd, copy, sizeof(copy), 0);
	close(fd);
	for (size_t i = 0; n > 0 && i < (size_t)n / sizeof(copy[0]); i++)
		count += slot_read(&copy[i], progress_now_ms(), &out[count]);
	return count;
}

bool
progress_find(const char *run_dir, const char *role, pid_t pid,
    struct progress *out)
{
	struct progress all[PROGRESS_SLOTS];
	size_t count = progress_read(run_dir, role, all);

	for (size_t i = 0; i < count; i++)
		if (all[i].pid == pid) {
			*out = all[i];
			return true;
		}
	return false;
}

bool
progress_watch(const char *run_dir, const char *role, pid_t pid,
    struct progress *out)
{
	const struct timespec nap = { .tv_nsec = 100000000L };

	while (progress_find(run_dir, role, pid, out)) {
		if (out->turn_ms < PROGRESS_DOUBT_MS ||
		    out->turn_ms >= PROGRESS_STILL_MS)
			return true;
		nanosleep(&nap, NULL);
	}
	return false;
}

bool
progress_stands(const char *run_dir, const char *role, struct progress *out)
{
	struct progress all[PROGRESS_SLOTS];
	size_t count = progress_read(run_dir, role, all);
	bool is_known = false;

	for (size_t i = 0; i < count; i++) {
		if (strcmp(all[i].name, role) != 0 ||
		    (is_known && all[i].turn_ms >= out->turn_ms))
			continue;
		*out = all[i];
		is_known = true;
	}
	return is_known && out->turn_ms >= PROGRESS_STILL_MS;
}
