/* moves.c - what a person has moved stays moved
 *
 * In     moves of this process, as aside.c, claim.c and trash.c note them
 * Out    their directories, durable
 * Holds  nothing
 * Trusts the file system's fsync of a directory, but not that of btrfs
 * Spec   doc/INTERNALS.md rows D3, D3a, D5
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <unistd.h>

#include "mail/spool/internal.h"
#include "mail/spool/moves.h"

#include "base/banned.h"

int
spool_sync_moves(struct spool *spool, struct err *err)
{
	unsigned areas = spool->moved_areas;

	spool->moved_areas = 0;
	if (areas == 0)
		return 0;
	if (spool->is_btrfs)
		return spool_sync(spool, err);
	/* D3, D5: one of the two names is there at any time, so their order
	 * does not matter.  EBADF: a directory that we may not read. */
	for (int area = 0; area < AREA_COUNT; area++)
		if ((areas & 1u << area) != 0 &&
		    fsync(spool->area_fd[area]) != 0 && errno != EBADF)
			return err_sys(err, "sync %s/: what was moved may be "
			    "where it was after a power cut",
			    spool_area_names[area]);
	return 0;
}
