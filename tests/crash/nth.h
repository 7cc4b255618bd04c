/* nth.h - what the crash tests and the interposed library share
 *
 * One file, mapped by every process of the instance under test
 * (ZM_NTH_STATE).  The test writes the plan before it starts the instance
 * and reads what happened.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TESTS_NTH_H
#define ZM_TESTS_NTH_H

#include <stddef.h>
#include <stdint.h>

enum nth_mode {
	NTH_COUNT,		/* change nothing */
	NTH_KILL_BEFORE,	/* SIGKILL instead of the call */
	NTH_KILL_AFTER,		/* SIGKILL when the call has returned */
	NTH_FAIL,		/* the call fails with error, once */
	NTH_STOP		/* every process stops at its next call */
};

enum { NTH_TRACE = 2 };		/* is_logging: for tests/model/trace.py */

struct nth_state {		/* crash.py packs the same: keep in step */
	char		role[32];	/* program counted; "" every one */
	int32_t		mode;
	int32_t		target;		/* from 1; 0 never */
	int32_t		error;		/* NTH_FAIL: errno */
	int32_t		is_logging;	/* write ZM_NTH_LOG, keep graves */
	int32_t		count;		/* calls so far in role */
	int32_t		fired;		/* 1 when the target was met */
	int32_t		ticket;		/* order over all processes */
	int32_t		pid;		/* who met it */
	char		what[256];	/* the call that was met, in words */
};

/* " r126 X180 d126:outcome:failed": where recipients and their other ways
 * begin, and records, of n bytes that are written at that place of path.
 * returns one buffer a thread; "" when it is no control file, " +" when there
 * are too many. */
const char *nth_control_lines(const char *path, const char *bytes, size_t n,
    long long at);

#endif
