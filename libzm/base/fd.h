/* fd.h - all of some bytes to a descriptor, or a part of a file
 *
 * Calls that a signal interrupted are repeated.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_BASE_FD_H
#define ZM_BASE_FD_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/str.h"

/* Write all n bytes, in as many calls as it takes.  0; -1 errno (ENOSPC when
 * a call took nothing): some of them may have been written. */
int fd_write_all(int fd, const char *bytes, size_t n);

/* Up to n bytes of a regular file, from at on, in one call: it is short only
 * at the end of the file.  returns how many, 0 after the end; -1 errno. */
ssize_t fd_read_at(int fd, char *out, size_t n, uint64_t at);

/* Append what comes until the end, or until out has most bytes.
 * 0; -1 errno: what came before stays. */
int fd_read_all(int fd, size_t most, struct str *out);

/* The first act of each program: 0, 1 and 2 that its caller had closed are
 * taken, so that no file opened later becomes one of them and has what was
 * said to people written into it.  What was closed can be read as little as
 * before; what is written there goes nowhere. */
void fd_claim_standard(void);

#endif
