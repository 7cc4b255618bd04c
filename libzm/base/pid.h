/* pid.h - the number of this process
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_BASE_PID_H
#define ZM_BASE_PID_H

#include <sys/types.h>

/* As getpid(2), but the system is asked only once in each process, also after
 * a fork. */
pid_t pid_own(void);

#endif
