/* nth_log.c - where nth.c writes which call was made
 *
 * In     ZM_NTH_LOG, and what the plan wants of it (enum of nth.h)
 * Out    a line a call; with NTH_BYTES what was written, in ZM_NTH_LOG.bytes
 *
 * SPDX-License-Identifier: ISC
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

#include "nth.h"

enum { LOG_FD_MIN = 400 };	/* not what a shell may want */

static struct nth_state *plan;
static int log_fd = -1, bytes_fd = -1;

static int
high_fd(int fd)
{
	int high = fd < 0 ? fd : fcntl(fd, F_DUPFD_CLOEXEC, LOG_FD_MIN);

	if (fd >= 0)
		close(fd);
	return high;
}

static void
open_bytes(const char *log_path)
{
	char path[2048];

	snprintf(path, sizeof(path), "%s.bytes", log_path);
	bytes_fd = high_fd(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
}

void
nth_log_open(struct nth_state *state)
{
	const char *path = getenv("ZM_NTH_LOG");

	plan = state;
	if (!state->is_logging || path == NULL)
		return;
	log_fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
	if (log_fd >= 0 && state->is_logging == NTH_BYTES)
		open_bytes(path);
	if (state->is_logging >= NTH_TRACE)
		log_fd = high_fd(log_fd);
}

bool
nth_log_is_open(void)
{
	return log_fd >= 0;
}

void
nth_log_put(const char *line, size_t n)
{
	if (write(log_fd, line, n) >= 0)
		return;
	if (plan->is_logging < NTH_TRACE)
		abort();
	/* a program that begins may close what it was given */
	nth_log_open(plan);
	if (log_fd >= 0 && write(log_fd, line, n) < 0)
		log_fd = -1;		/* the test limits its files */
}

long long
nth_log_bytes(const struct iovec *parts, int count, size_t n)
{
	long long first = __atomic_fetch_add(&plan->bytes, (int32_t)n,
	    __ATOMIC_SEQ_CST);
	off_t at = (off_t)first;

	for (int i = 0; i < count && n > 0; i++) {
		size_t piece = parts[i].iov_len < n ? parts[i].iov_len : n;

		if (pwrite(bytes_fd, parts[i].iov_base, piece, at) < 0)
			abort();
		at += (off_t)piece;
		n -= piece;
	}
	return first;
}
