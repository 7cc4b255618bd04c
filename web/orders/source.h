/* source.h - where an answer comes from: a child, or a connection
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_WEB_SOURCE_H
#define ZM_WEB_SOURCE_H

#include <sys/types.h>

struct asker;

struct source {
	int	out_fd, err_fd;		/* the caller's to close; -1: none */
	pid_t	pid;			/* of the child, its own group; 0 */
};

/* Connect to RUN/scheduler.sock without blocking; out_fd -1: nobody listens. */
void source_connect(struct source *out, const char *run_dir);
/* Run a verb in the name of who (NULL, "": our own): words end with NULL,
 * standard input is empty, no descriptor of ours is open in it.  out_fd -1: it
 * cannot be run. */
void source_start(struct source *out, const struct asker *asker,
    const char *const *words, const char *who);

#endif
