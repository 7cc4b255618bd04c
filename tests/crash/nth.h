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

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum nth_mode {
	NTH_COUNT,		/* change nothing */
	NTH_KILL_BEFORE,	/* SIGKILL instead of the call */
	NTH_KILL_AFTER,		/* SIGKILL when the call has returned */
	NTH_FAIL,		/* the call fails with error */
	NTH_STOP,		/* every process stops at its next call */
	NTH_SHORT		/* a write writes half of its bytes */
};

enum {
	NTH_TRACE = 2,		/* is_logging: for tests/model/trace.py */
	NTH_CALLS,		/* is_logging: only who made which call */
	NTH_BYTES		/* is_logging: as 1, and what was written, in
				 * ZM_NTH_LOG.bytes: for replay.py */
};

struct nth_state {		/* nth.py packs the same: keep in step */
	char		role[32];	/* program counted; "" every one */
	int32_t		mode;
	int32_t		target;		/* from 1; 0 never */
	int32_t		error;		/* NTH_FAIL: errno */
	int32_t		is_logging;	/* write ZM_NTH_LOG, keep graves */
	int32_t		count;		/* calls so far in role */
	int32_t		fired;		/* 1 when the target was met */
	int32_t		ticket;		/* order over all processes */
	int32_t		pid;		/* who met it */
	int32_t		span;		/* NTH_FAIL, NTH_SHORT: so many calls
					 * from the target on; 0 as 1 */
	int32_t		bytes;		/* NTH_BYTES: so many are written */
	char		what[256];	/* the call that was met, in words */
};

/* nth_log.c: open what ZM_NTH_LOG names, as the plan wants it. */
void nth_log_open(struct nth_state *state);
bool nth_log_is_open(void);
void nth_log_put(const char *line, size_t n);
/* NTH_BYTES: n bytes of the parts into the other file; returns where. */
struct iovec;
long long nth_log_bytes(const struct iovec *parts, int count, size_t n);

/* " r126 X180 d126:outcome:failed": where recipients and their other ways
 * begin, and records, of n bytes that are written at that place of path.
 * returns one buffer a thread; "" when it is no control file, " +" when there
 * are too many. */
const char *nth_control_lines(const char *path, const char *bytes, size_t n,
    long long at);

/* Is path one of dirs (separated by colons), or below one? */
bool nth_is_below(const char *dirs, const char *path);

/* The path of an open file; "" when it has none. */
void nth_fd_path(int fd, char out[1024]);

/* name as openat takes it, as an absolute path. */
void nth_full_path(int dir_fd, const char *name, char out[2048]);

/* Inode number, and bytes, of a file; 0: it is not there. */
unsigned long nth_inode_of_fd(int fd);
unsigned long nth_inode_of(const char *path);
long long nth_size_of(int fd);

/* Is there something of that name?  Then errno is EEXIST.  A program makes sure
 * of some hundred directories when it starts: such a call changes nothing, and
 * does not count. */
bool nth_is_there(int dir_fd, const char *name);

#endif
