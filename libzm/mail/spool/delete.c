/* delete.c - routed messages deleted, brought back, routed again
 *
 * In     names of routed messages; of files in trash/
 * Out    both files moved, the body first out of the queue and last into it
 * Holds  nothing
 * Trusts a pair only when the control file names the body's spool id
 * Spec   doc/INTERNALS.md rows D4, D7, D8
 *
 * SPDX-License-Identifier: ISC
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mail/spool/internal.h"

#include "base/banned.h"

int
spool_trash_queued(struct spool *spool, const char *name, struct err *err)
{
	int to_fd = spool->area_fd[AREA_TRASH];
	char target[SPOOL_NAME_BYTES], control[SPOOL_NAME_BYTES + 16];

	/* P4 -> D7: the body first; recovery lets the control file follow.
	 * Not synced: the records that cancel are, and bring it here again */
	if (spool_rename_aside(spool->area_fd[AREA_QUEUE], name, to_fd,
		spool_name_inode(name), SPOOL_DELETED, target) != 0)
		return err_sys(err, "move %s to trash/",
		    spool_label(AREA_QUEUE, 0, name));
	snprintf(control, sizeof(control), "%s.control", target);
	if (spool_rename(spool->area_fd[AREA_TRANSPORT], name, to_fd,
		control) != 0)
		return err_sys(err, "move %s to trash/%s",
		    spool_label(AREA_TRANSPORT, 0, name), control);
	return spool_sync_dirs(spool, spool->area_fd[AREA_QUEUE], to_fd, err);
}

int
spool_untrash_queued(struct spool *spool, const char *name,
    char out_name[SPOOL_NAME_BYTES], struct err *err)
{
	int trash_fd = spool->area_fd[AREA_TRASH];
	char control[SPOOL_NAME_BYTES + 16];
	struct stat st;

	if (fstatat(trash_fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
	    !S_ISREG(st.st_mode) || strchr(name, '/') != NULL)
		return err_sys(err, "trash/%s", name);
	spool_hashed_name(spool, st.st_ino, out_name);
	snprintf(control, sizeof(control), "%s.control", name);
	/* D7 -> P4: the control file first: cut here, it is the first
	 * half of D7 again.  A body alone in queue/ would be routed anew. */
	if (spool_rename(trash_fd, control, spool->area_fd[AREA_TRANSPORT],
		out_name) != 0)
		return err_sys(err, "move trash/%s back", control);
	if (spool_rename(trash_fd, name, spool->area_fd[AREA_QUEUE],
		out_name) != 0) {
		err_sys(err, "move trash/%s back", name);
		(void)spool_rename(spool->area_fd[AREA_TRANSPORT], out_name,
		    trash_fd, control);
		return -1;
	}
	return 0;
}

int
spool_reroute_queued(struct spool *spool, const char *name, struct err *err)
{
	char target[SPOOL_NAME_BYTES];

	snprintf(target, sizeof(target), "%ju",
	    (uintmax_t)spool_name_inode(name));
	/* P4 -> P5: cut here, recovery takes the body back to queue/; a
	 * router that is quicker finds the control file's name taken */
	if (spool_rename(spool->area_fd[AREA_QUEUE], name,
		spool->area_fd[AREA_ROUTER], target) != 0)
		return err_sys(err, "move %s to router/",
		    spool_label(AREA_QUEUE, 0, name));
	/* P5 -> S2 (D8) */
	if (unlinkat(spool->area_fd[AREA_TRANSPORT], name, 0) != 0)
		return err_sys(err, "unlink %s",
		    spool_label(AREA_TRANSPORT, 0, name));
	return spool_sync_dirs(spool, spool->area_fd[AREA_QUEUE],
	    spool->area_fd[AREA_ROUTER], err);
}
