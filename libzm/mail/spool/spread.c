/* spread.c - new files far from one another on the disk
 *
 * In     the directories in which messages and plans are made
 * Out    fifty-two below public/new/ and router/plans/, which a file system
 *        that listens puts into as many regions of the disk; one of them in
 *        turn for each new file
 * Holds  whose turn it is
 * Spec   doc/INTERNALS.md section 1
 *
 * A file's inode lies in the region of the directory it is made in, for
 * life; renames do not move it.  ext4 looks for a free inode from the
 * region's beginning, and without a journal it steps over each one that was
 * freed within the last minutes.  A mail system frees two a message: all in one
 * region, and soon each new file costs thousands of steps.
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>
#include <unistd.h>
#ifdef __linux__
#include <linux/fs.h>
#include <sys/ioctl.h>
#endif

#include "mail/spool/internal.h"

#include "base/banned.h"

enum { SPREAD_KEEP = 64 };	/* files made in one directory in turn */

#if defined(__linux__) && defined(FS_IOC_SETFLAGS)
#ifndef FS_TOPDIR_FL
#define FS_TOPDIR_FL 0x00020000
#endif

/* "What is below belongs apart" (chattr +T).  File systems that do not know
 * it refuse, and nothing is lost. */
void
spool_spread_flag(int dir_fd)
{
	int flags = 0;

	if (ioctl(dir_fd, FS_IOC_GETFLAGS, &flags) != 0 ||
	    (flags & FS_TOPDIR_FL) != 0)
		return;
	flags |= FS_TOPDIR_FL;
	(void)ioctl(dir_fd, FS_IOC_SETFLAGS, &flags);
}
#else
void
spool_spread_flag(int dir_fd)
{
}
#endif

const char *
spool_spread_dir(enum spool_area area)
{
	return area == AREA_PUBLIC ? "new" :
	    area == AREA_ROUTER ? "plans" : NULL;
}

/* The processes begin at different letters, so that they seldom meet.  One
 * letter is kept for a while: the inodes that the last file was made to step
 * over are in the processor's cache for the next. */
void
spool_spread_name(struct spool *spool, enum spool_area area,
    const char *name, char out_name[SPOOL_NAME_BYTES])
{
	const size_t letters = sizeof(SPOOL_SPREAD_LETTERS) - 1;
	size_t n;

	if (spool->spread_turn == 0)
		spool->spread_turn = (unsigned)getpid() * 7 * SPREAD_KEEP;
	n = strlcpy(out_name, spool_spread_dir(area), SPOOL_NAME_BYTES);
	out_name[n++] = '/';
	out_name[n++] = SPOOL_SPREAD_LETTERS[spool->spread_turn++ /
	    SPREAD_KEEP % letters];
	out_name[n++] = '/';
	strlcpy(out_name + n, name, SPOOL_NAME_BYTES - n);
}
