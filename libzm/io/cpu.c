/* cpu.c - processor time, for what a busy machine makes wait
 *
 * Out    microseconds
 * Holds  nothing
 *
 * SPDX-License-Identifier: ISC
 */
#include <time.h>

#include "io/cpu.h"

#include "base/banned.h"

int64_t
cpu_thread_us(void)
{
	struct timespec ts;

	if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts) != 0)
		return 0;
	return (int64_t)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}
