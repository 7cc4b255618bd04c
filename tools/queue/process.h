/* process.h - what the system says about a process
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_QUEUE_PROCESS_H
#define ZM_TOOLS_QUEUE_PROCESS_H

#include <stdbool.h>
#include <sys/types.h>

struct process_look {
	pid_t	parent;
	bool	is_stopped;	/* by a signal, or a debugger */
	char	name[32];	/* any bytes */
};

/* Look at a process.  False: there is none, or it is hidden from the caller.
 * proc(5) */
bool process_look(pid_t pid, struct process_look *out);

#endif
