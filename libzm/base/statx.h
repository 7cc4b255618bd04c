/* statx.h - statx(2), which tells when a file was made
 *
 * C libraries of before 2024 that are not glibc (musl 1.2.3) lack the call;
 * the kernel has it, and its header says what it fills in.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_BASE_STATX_H
#define ZM_BASE_STATX_H

#include <sys/stat.h>

#ifndef HAVE_STATX
#include <linux/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define statx(dir, path, flags, mask, out) \
	((int)syscall(SYS_statx, dir, path, flags, mask, out))
#endif

#endif
