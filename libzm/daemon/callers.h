/* callers.h - who asks a process that daemons consult, over its socket
 *
 * A caller has a link of lines (ipc_link.h), and its questions that wait for
 * an answer.  When the supervisor is gone, no new caller is accepted, and each
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

/* The first member of what a program keeps of each. */
struct caller {
	struct callers		*callers;
	void			*context;	/* of callers_new */
	struct ipc_link		*link;
	size_t			 wait_count;	/* questions without an answer;
						 * the program counts */
	TAILQ_ENTRY(caller)	 entry;
};

/* Of a program; must live as long as its callers. */
struct callers_kind {
	/* A line has come, without its LF (struct ipc_link_kind). */
	enum ipc_link_taken (*take)(struct caller *caller, struct slice line);
	/* He is gone: what waits for him is forgotten.  He is freed then. */
	void	(*gone)(struct caller *caller);
	size_t	 caller_bytes;		/* of the program's struct; zeros */
	size_t	 line_bytes_max;
	size_t	 callers_max;		/* beyond that one is let in and out */
	int64_t	 leave_ms;		/* at most, for what was asked */
};

/* Let them in at a listening socket until the other end of lifeline is closed.
 * The descriptors are not taken.  returns what callers_free frees */
struct callers *callers_new(struct process *process,
    const struct callers_kind *kind, void *context, int socket, int lifeline);

/* All of them are gone; NULL is harmless. */
void callers_free(struct callers **callers);

#endif
