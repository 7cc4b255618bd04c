/* seats.c - how many agents one user may keep waiting
 *
 * In     who keeps us waiting
 * Out    a seat, or none
 * Holds  RUN/mailbox.seats, a lock on one byte of it
 * Trusts the file with nothing but moments: a wrong one makes somebody wait
 *        SEAT_LONG_MS, or not
 * Spec   zmailer-mailbox(8), Programs that take long
 *
 * A row for each digest of a holder has SEATS_OF_ONE moments, at which the
 * seat was taken; 0 while nobody has it.  The first byte of a moment is what
 * is locked.
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "transports/mailbox/mailbox.h"
#include "transports/mailbox/seats.h"

#include "base/banned.h"

enum { ROWS = 4096, NAP_MS = 20 };

static int seats_fd = -1;
static uint32_t present_row;
static int present_seat = -1;

void
seats_setup(const char *run_dir)
{
	char path[MAILBOX_PATH_BYTES];

	seats_finish();
	if (run_dir == NULL || (size_t)snprintf(path, sizeof(path),
	    "%s/mailbox.seats", run_dir) >= sizeof(path))
		return;
	seats_fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK |
	    O_CLOEXEC, 0600);
}

void
seats_finish(void)
{
	if (seats_fd >= 0)
		close(seats_fd);
	seats_fd = present_seat = -1;
}

void
seat_for(uint32_t holder)
{
	present_row = holder % ROWS;
}

static off_t
seat_place(int seat)
{
	return (off_t)(present_row * SEATS_OF_ONE + (uint32_t)seat) *
	    (off_t)sizeof(int64_t);
}

static bool
seat_lock(int seat, short type)
{
	struct flock lock = { .l_type = type, .l_whence = SEEK_SET,
	    .l_start = seat_place(seat), .l_len = 1 };

	return fcntl(seats_fd, F_SETLK, &lock) == 0;
}

static void
seat_note(int seat, int64_t moment_ms)
{
	ssize_t n = pwrite(seats_fd, &moment_ms, sizeof(moment_ms),
	    seat_place(seat));

	(void)n;	/* a moment that is not there is a new one */
}

static bool
seat_find_free(void)
{
	for (int seat = 0; seat < SEATS_OF_ONE; seat++)
		if (seat_lock(seat, F_WRLCK)) {
			present_seat = seat;
			seat_note(seat, clock_steady_ms());
			return true;
		}
	return false;
}

static bool
seats_are_long_taken(int64_t now_ms)
{
	for (int seat = 0; seat < SEATS_OF_ONE; seat++) {
		int64_t moment_ms = 0;

		if (pread(seats_fd, &moment_ms, sizeof(moment_ms),
		    seat_place(seat)) != sizeof(moment_ms) ||
		    moment_ms == 0 || now_ms - moment_ms < SEAT_LONG_MS)
			return false;
	}
	return true;
}

bool
seat_take(void)
{
	int64_t until_ms = clock_steady_ms() + SEAT_LONG_MS, now_ms;
	struct timespec nap = { 0, NAP_MS * 1000000L };
	bool was_long = false, is_long;

	if (seats_fd < 0 || present_seat >= 0)
		return true;
	while (!seat_find_free()) {
		now_ms = clock_steady_ms();
		is_long = seats_are_long_taken(now_ms);
		/* once may be between a lock and its moment */
		if ((is_long && was_long) || now_ms >= until_ms)
			return false;
		was_long = is_long;
		nanosleep(&nap, NULL);
	}
	return true;
}

bool
seat_may_wait(int64_t began_ms)
{
	return seats_fd < 0 || present_seat >= 0 ||
	    clock_steady_ms() - began_ms < SEAT_SHORT_MS || seat_find_free();
}

void
seat_leave(void)
{
	if (present_seat < 0)
		return;
	seat_note(present_seat, 0);
	(void)seat_lock(present_seat, F_UNLCK);
	present_seat = -1;
}
