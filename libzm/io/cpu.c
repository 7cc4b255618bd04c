/* cpu.c - processor time, for what a busy machine makes wait
 *
 * Out    microseconds
 * Holds  nothing
 *
 * SPDX-License-Identifier: ISC
 */
#include <sys/resource.h>

#include "io/cpu.h"

#include "base/banned.h"

int64_t
cpu_thread_us(void)
{
#ifdef RUSAGE_THREAD
	struct rusage used;

	if (getrusage(RUSAGE_THREAD, &used) == 0)
		return (int64_t)(used.ru_utime.tv_sec +
		    used.ru_stime.tv_sec) * 1000000 +
		    used.ru_utime.tv_usec + used.ru_stime.tv_usec;
#endif
	return 0;
}
