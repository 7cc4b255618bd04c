/* faults.h - system calls that fail when a test says so
 *
 * faults.c defines fsync, fstatvfs, renameat and renameat2 of its own, in
 * front of the C library's: no code of the server knows of it.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TESTS_SMTPSERVER_FAULTS_H
#define ZM_TESTS_SMTPSERVER_FAULTS_H

#include <stdbool.h>
#include <stdint.h>

struct faults {
	int	fsync_error;		/* errno; 0: works */
	int	fsync_after;		/* the first so many work */
	int	rename_error;
	bool	is_full;		/* fstatvfs sees no free block */
	uint64_t free_bytes;		/* it sees so many; 0: as it is */
	int	fsyncs;			/* counted, while they may fail */
	_Atomic int calls;		/* of fsync, in all */
	int	statvfs_calls;
	_Atomic bool is_held;		/* fsync waits until it is not */
	_Atomic int held;		/* fsyncs that wait now */
};

extern struct faults faults;

#endif
