/* fd.c - all of some bytes to a descriptor, or a part of a file
 *
 * In     descriptors of the caller
 * Out    bytes; errno
 * Holds  nothing
 * Spec   write(2), pread(2)
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/fd.h"

#include "base/banned.h"

enum { READ_BYTES = 65536 };

int
fd_write_all(int fd, const char *bytes, size_t n)
{
	while (n > 0) {
		ssize_t done = write(fd, bytes, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return -1;
		if (done == 0) {
			errno = ENOSPC;
			return -1;
		}
		bytes += done;
		n -= (size_t)done;
	}
	return 0;
}

ssize_t
fd_read_at(int fd, char *out, size_t n, uint64_t at)
{
	ssize_t got;

	do
		got = pread(fd, out, n, (off_t)at);
	while (got < 0 && errno == EINTR);
	return got;
}

int
fd_read_whole_at(int fd, char *out, size_t n, uint64_t at)
{
	ssize_t got = fd_read_at(fd, out, n, at);

	if (got >= 0 && (size_t)got < n)
		errno = EINVAL;
	return got == (ssize_t)n ? 0 : -1;
}

int
fd_read_all(int fd, size_t most, struct str *out)
{
	while (out->len < most) {
		size_t want = most - out->len < READ_BYTES ? most - out->len :
		    READ_BYTES;
		ssize_t got = read(fd, str_room(out, want), want);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got == 0 ? 0 : -1;
		out->len += (size_t)got;
		out->buf[out->len] = '\0';
	}
	return 0;
}

/* open(2) gives the lowest number that is free.  Where there is no /dev/null,
 * a directory can be neither read nor written. */
void
fd_claim_standard(void)
{
	int fd;

	do {
		fd = open("/dev/null", O_WRONLY);
		if (fd < 0)
			fd = open("/", O_RDONLY | O_DIRECTORY);
	} while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd > STDERR_FILENO)
		close(fd);
}
