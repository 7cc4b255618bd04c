/* closer.h - close in another thread what takes long to close
 *
 * The last close of a file without a name frees its blocks.  On a disk that
 * is mounted with discard that waits for the disk, 0.1 to 4 ms: two of them
 * a message were what a busy scheduler waited for most of its time.
 *
 * Nobody waits for a file to be gone here; a process that ends closes all.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_IO_CLOSER_H
#define ZM_IO_CLOSER_H

#include <stdbool.h>

enum {
	CLOSER_QUEUE_MAX = 256,		/* descriptors; more: closed at once */
	CLOSER_SLOW_US = 300,		/* what is long */
	CLOSER_SLOW_FOR = 64		/* closes that are handed over before
					 * the next one is timed again */
};

/* From now on this process may have threads that close; made at the first
 * slow close.  Without this call closer_close is close(2). */
void closer_start(void);

/* Close fd, which is nobody's any more; only from one thread. */
void closer_close(int fd);

/* Are closes slow at present?  Then it pays to hold a file open while it
 * loses its name, and to hand the descriptor to closer_close. */
bool closer_is_slow(void);

#endif
