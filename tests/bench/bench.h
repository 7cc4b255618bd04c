/* bench.h - what each of the programs that make load, and that take it, needs
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_BENCH_H
#define ZM_BENCH_H

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Seconds of a clock that only goes on. */
static inline double
now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Ends the program with `what` and the words for errno. */
static inline _Noreturn void
die(const char *what)
{
	perror(what);
	exit(1);
}

#endif
