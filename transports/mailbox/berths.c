/* berths.c - how many agents one user may keep waiting
 *
 * In     who keeps us waiting
 * Out    a berth, or none
 * Holds  RUN/mailbox.berths, a lock on one byte of it
 * Trusts the file with nothing but moments: a wrong one makes somebody wait
 *        BERTH_LONG_MS, or not
 * Spec   zmailer-mailbox(8), Programs that take long
 *
 * A row for each digest of a holder has BERTHS_OF_ONE moments, at which the
 * berth was taken; 0 while nobody has it.  The first byte of a moment is what
 * is locked.
 *
 * SPDX-License-Identifier: ISC
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "transports/mailbox/mailbox.h"
#include "transports/mailbox/berths.h"

#include "base/banned.h"

enum { ROWS = 4096, NAP_MS = 20 };

static int berths_fd = -1;
static uint32_t present_row;
static int present_berth = -1;

void
berths_setup(const char *run_dir)
{
	char path[MAILBOX_PATH_BYTES];
	struct stat st;

	berths_finish();
	if (run_dir == NULL || (size_t)snprintf(path, sizeof(path),
	    "%s/mailbox.berths", run_dir) >= sizeof(path))
		return;
	berths_fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK |
	    O_CLOEXEC, 0600);
	/* others may write to the directory */
	if (berths_fd >= 0 && (fstat(berths_fd, &st) != 0 ||
	    !S_ISREG(st.st_mode) || st.st_uid != geteuid()))
		berths_finish();
}

void
berths_finish(void)
{
	if (berths_fd >= 0)
		close(berths_fd);
	berths_fd = present_berth = -1;
}

void
berth_for(uint32_t holder)
{
	present_row = holder % ROWS;
}

static off_t
berth_place(int berth)
{
	return (off_t)(present_row * BERTHS_OF_ONE + (uint32_t)berth) *
	    (off_t)sizeof(int64_t);
}

static bool
berth_lock(int berth, short type)
{
	struct flock lock = { .l_type = type, .l_whence = SEEK_SET,
	    .l_start = berth_place(berth), .l_len = 1 };

	return fcntl(berths_fd, F_SETLK, &lock) == 0;
}

static void
berth_note(int berth, int64_t moment_ms)
{
	ssize_t n = pwrite(berths_fd, &moment_ms, sizeof(moment_ms),
	    berth_place(berth));

	(void)n;	/* a moment that is not there is a new one */
}

static bool
berth_find_free(void)
{
	for (int berth = 0; berth < BERTHS_OF_ONE; berth++)
		if (berth_lock(berth, F_WRLCK)) {
			present_berth = berth;
			berth_note(berth, clock_steady_ms());
			return true;
		}
	return false;
}

static bool
berths_are_long_taken(int64_t now_ms)
{
	for (int berth = 0; berth < BERTHS_OF_ONE; berth++) {
		int64_t moment_ms = 0;

		if (pread(berths_fd, &moment_ms, sizeof(moment_ms),
		    berth_place(berth)) != sizeof(moment_ms) ||
		    moment_ms == 0 || now_ms - moment_ms < BERTH_LONG_MS)
			return false;
	}
	return true;
}

bool
berth_take(void)
{
	int64_t until_ms = clock_steady_ms() + BERTH_LONG_MS, now_ms;
	struct timespec nap = { 0, NAP_MS * 1000000L };
	bool was_long = false, is_long;

	if (berths_fd < 0 || present_berth >= 0)
		return true;
	while (!berth_find_free()) {
		now_ms = clock_steady_ms();
		is_long = berths_are_long_taken(now_ms);
		/* once may be between a lock and its moment */
		if ((is_long && was_long) || now_ms >= until_ms)
			return false;
		was_long = is_long;
		nanosleep(&nap, NULL);
	}
	return true;
}

bool
berth_may_wait(int64_t began_ms)
{
	return berths_fd < 0 || present_berth >= 0 ||
	    clock_steady_ms() - began_ms < BERTH_SHORT_MS || berth_find_free();
}

void
berth_leave(void)
{
	if (present_berth < 0)
		return;
	berth_note(present_berth, 0);
	(void)berth_lock(present_berth, F_UNLCK);
	present_berth = -1;
}
