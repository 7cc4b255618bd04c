/* databases.h - the process that asks databases; internal to tools/run
 *
 * There when a table of the configuration is in a database, else not.  The
 * socket RUN/tables.sock stays open while the process is replaced, at a
 * reload or after its end: who asks then waits a moment.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_RUN_DATABASES_H
#define ZM_TOOLS_RUN_DATABASES_H

#include "conf/conf.h"
#include "daemon/sidecar.h"

enum { DATABASES_END_MS = 7000 };

struct databases {
	struct sidecar		 sidecar;
	struct conf *const	*conf;		/* where the one in force is */
	const char		*conf_path;	/* its snapshot */
};

/* Listen and start it, if *conf says so. */
void databases_start(struct databases *databases, struct loop *loop,
    struct conf *const *conf, const char *conf_path);
/* The configuration is another: a fresh process reads it, and the one before
 * answers what it was asked. */
void databases_reload(struct databases *databases);
/* Nobody asks any more.  true: there is none; else ended_fn is called. */
bool databases_stop(struct databases *databases, loop_fn *ended_fn,
    void *context);
/* pid was waited for: maybe it was that process. */
void databases_ended(struct databases *databases, pid_t pid);

#endif
