/* since.h - how long ago something was whose moment a file tells
 *
 * Files outlive the clock that was right when they were written: somebody sets
 * it back, and they are of tomorrow.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_BASE_SINCE_H
#define ZM_BASE_SINCE_H

#include <stdint.h>

enum { SINCE_AHEAD_S = 120, SINCE_MAX_S = INT32_MAX };

/* The seconds since a moment of the wall clock.  One that is ahead by more than
 * SINCE_AHEAD_S is of a clock that was set back: SINCE_MAX_S, so that nobody
 * waits until it comes; by less: 0. */
int64_t since_s(int64_t then_s);

#endif
