/* callers.h - connections to a process that daemons consult, over its socket
 *
 * A caller has a link of lines (ipc_link.h), and questions that wait for an
 * answer.  When the supervisor is gone, no new caller is accepted, and each
 * caller is closed once it has all its answers; then the loop stops.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_DAEMON_CALLERS_H
#define ZM_DAEMON_CALLERS_H

#include <sys/queue.h>

#include "daemon/skeleton.h"
#include "io/ipc_link.h"

struct callers;

/* The first member of the struct that a program has for each caller. */
struct caller {
	struct callers		*callers;
	void			*context;	/* of callers_new */
	struct ipc_link		*link;
	uid_t			 uid;		/* whose it is, by the kernel;
						 * (uid_t)-1: not known */
	size_t			 wait_count;	/* questions without an answer;
						 * the program counts */
	TAILQ_ENTRY(caller)	 entry;
};

/* What the callers of a program have in common; must live as long as they. */
struct callers_kind {
	/* A line has come, without its LF (struct ipc_link_kind). */
	enum ipc_link_taken (*take)(struct caller *caller, struct slice line);
	/* It is gone: forget what waits for it.  It is freed after this. */
	void	(*gone)(struct caller *caller);
	size_t	 caller_bytes;		/* of the program's struct; zeros */
	size_t	 line_bytes_max;
	size_t	 callers_max;		/* others are accepted and closed */
	int64_t	 leave_ms;		/* most time for answers at the end */
};

/* Accept callers at a listening socket until the other end of lifeline is
 * closed.  Both descriptors are borrowed.  returns what callers_free frees */
struct callers *callers_new(struct process *process,
    const struct callers_kind *kind, void *context, int socket, int lifeline);

/* Close all callers and free it.  NULL is harmless; sets *callers to NULL. */
void callers_free(struct callers **callers);

#endif
