/* fd.h - reads and writes that are complete
 *
 * Calls that a signal interrupted are repeated.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_BASE_FD_H
#define ZM_BASE_FD_H

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "base/str.h"

/* statx(2) tells when a file was made.  musl has it since 1.2.5; before, the
 * kernel's header says what the call fills in. */
#ifndef HAVE_STATX
#include <linux/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define statx(dir, path, flags, mask, out) \
	((int)syscall(SYS_statx, dir, path, flags, mask, out))
#endif

/* Write all n bytes, in as many calls as it takes.  0; -1 with errno (ENOSPC
 * when a call wrote nothing): some of them may have been written. */
int fd_write_all(int fd, const char *bytes, size_t n);

/* Read up to n bytes of a regular file from offset at in one call; the result
 * is short only at the end of the file.  returns how many, 0 after the end; -1
 * with errno. */
ssize_t fd_read_at(int fd, char *out, size_t n, uint64_t at);

/* The same, all n of them.  0; -1 with errno (EINVAL: the file ends before). */
int fd_read_whole_at(int fd, char *out, size_t n, uint64_t at);

/* Append what can be read until the end, or until out has `most` bytes.
 * 0; -1 with errno: what came before stays in out. */
int fd_read_all(int fd, size_t most, struct str *out);

/* Each program calls this first: open those of descriptors 0, 1 and 2 that its
 * caller had closed, so that no file opened later becomes one of them and gets
 * words meant for people.  Reading such a descriptor still fails; what is
 * written to it is dropped. */
void fd_claim_standard(void);

#endif
