/* cold.h - how many files are opened ahead after one that was not in memory
 *
 * Pure.  On a cold disk all are: the disk reads many at a time.  Where one of
 * a thousand is not in memory, hardly any: each costs four system calls.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SCHEDULER_COLD_H
#define ZM_SCHEDULER_COLD_H

enum {
	COLD_FILES_LEAST = 64,	/* after one that comes alone */
	COLD_FILES_MOST = 1024	/* it doubles with each that comes soon after
				 * those before it were read */
};

struct cold {
	unsigned	left;	/* so many are to be opened ahead */
	unsigned	span;	/* so many it were the last time */
	unsigned	since;	/* files read since then, none of them ahead */
};

/* A file was read. */
void cold_pass(struct cold *cold);
/* It had to wait for the disk. */
void cold_wait(struct cold *cold);

#endif
