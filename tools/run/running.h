/* running.h - the running instance, and orders to it; internal to tools/run
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_RUN_RUNNING_H
#define ZM_TOOLS_RUN_RUNNING_H

#include <sys/types.h>

#include "conf/conf.h"

enum { RUNNING_LOOK_MS = 20 };

/* Between two looks: RUNNING_LOOK_MS. */
void running_nap(void);
/* The pid of the instance.  0: none runs; -1: unknown (errno). */
pid_t running_pid(const struct conf *conf);
/* The lock cannot be looked at; errno says why.
 * returns an exit status, after words about it */
int running_unknown(const char *verb, const struct conf *conf);
/* It runs, and a signal was refused (errno).
 * returns an exit status, after words about it */
int running_not_ours(const char *verb, pid_t pid);

#endif
