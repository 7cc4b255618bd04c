/* cpu.h - processor time, for what a busy machine makes wait
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_IO_CPU_H
#define ZM_IO_CPU_H

#include <stdint.h>

/* What this thread has used since it began; 0: the system does not tell. */
int64_t cpu_thread_us(void);

#endif
