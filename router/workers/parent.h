/* parent.h - the process that watches the router's directories
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_ROUTER_PARENT_H
#define ZM_ROUTER_PARENT_H

#include "daemon/skeleton.h"

/* The daemon's functions, see struct daemon: fork processes that need root's
 * rights, open files (0 or -1 each), take a new configuration, end the
 * workers. */
int parent_open(struct process *process, struct err *err);
int parent_start(struct process *process, struct err *err);
void parent_reload(struct process *process, const struct conf *old);
void parent_stop(struct process *process);

#endif
