/* lock.c - one instance a spool
 *
 * In     the spool's directory
 * Out    DIR/.lock, locked until the process ends; its text says who
 * Holds  one descriptor for life, closed by exec
 * Spec   doc/INTERNALS.md section 4
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "mail/spool/internal.h"

#include "base/banned.h"

enum {
	LOCK_TRIES = 20,	/* somebody may only be looking */
	LOCK_NAP_MS = 10,
	LOCK_TEXT_BYTES = 256
};

static int
lock_open(const char *dir, int flags, struct err *err)
{
	char path[4096];
	int fd;

	if ((size_t)snprintf(path, sizeof(path), "%s/.lock", dir) >=
	    sizeof(path))
		return err_set(err, "name of the spool is too long");
	fd = open(path, flags | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (fd < 0)
		err_sys(err, "open %s", path);
	return fd;
}

static bool
lock_take(int fd)
{
	const struct timespec nap = { 0, LOCK_NAP_MS * 1000000L };

	for (int i = 0; i < LOCK_TRIES; i++) {
		if (flock(fd, LOCK_EX | LOCK_NB) == 0)
			return true;
		nanosleep(&nap, NULL);
	}
	return false;
}

static void
lock_read_text(int fd, char *out, size_t size)
{
	ssize_t n = pread(fd, out, size - 1, 0);

	out[n > 0 ? n : 0] = '\0';
	out[strcspn(out, "\n")] = '\0';
}

int
spool_lock(const char *dir, struct err *err)
{
	int fd = lock_open(dir, O_RDWR | O_CREAT, err);
	char text[LOCK_TEXT_BYTES], stamp[CLOCK_TEXT_BYTES];
	int n;

	if (fd < 0)
		return -1;
	if (!lock_take(fd)) {
		lock_read_text(fd, text, sizeof(text));
		close(fd);
		return err_set(err, "spool %s is in use (%s); stop that one "
		    "first: zmailer stop", dir, text);
	}
	clock_rfc3339(clock_wall_us(), stamp);
	n = snprintf(text, sizeof(text), "pid %jd %s run since %s\n",
	    (intmax_t)getpid(), err_program_name(), stamp);
	if (ftruncate(fd, 0) != 0 || pwrite(fd, text, (size_t)n, 0) != n) {
		err_sys(err, "write %s/.lock", dir);
		close(fd);
		return -1;
	}
	return 0;	/* fd stays open: the lock is the process's */
}

enum spool_lock_state
spool_lock_holder(const char *dir, char *out_text, size_t size,
    pid_t *out_pid)
{
	char text[LOCK_TEXT_BYTES];
	int fd = lock_open(dir, O_RDONLY, NULL);
	uint64_t pid = 0;
	struct slice rest, word;

	if (fd < 0)
		return errno == ENOENT ? SPOOL_LOCK_FREE : SPOOL_LOCK_TROUBLE;
	if (flock(fd, LOCK_SH | LOCK_NB) == 0) {
		close(fd);
		return SPOOL_LOCK_FREE;
	}
	lock_read_text(fd, text, sizeof(text));
	close(fd);
	rest = slice_of(text);
	if (slice_word(&rest, &word) && slice_word(&rest, &word))
		slice_number(word, 1, INT32_MAX, &pid);
	if (out_pid != NULL)
		*out_pid = (pid_t)pid;
	snprintf(out_text, size, "%s", text);
	return SPOOL_LOCK_HELD;
}
