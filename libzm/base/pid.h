/* pid.h - the number of this process
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_BASE_PID_H
#define ZM_BASE_PID_H

#include <sys/types.h>

/* As getpid(2), which is a system call each time: asked once a process, and
 * again after a fork. */
pid_t pid_own(void);

#endif
