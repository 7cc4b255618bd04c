/* keep.c - a message as it came, kept for the record
 *
 * In     a draft; a day
 * Out    a second name of its file, DIR/record/DAY/ID
 * Holds  nothing
 * Trusts nobody: who keeps the directories is zmailer-replay(8)'s sweep
 * Spec   doc/INTERNALS.md row K1
 *
 * The file is written once, so the link costs no byte.  It bears a mark, the
 * group's bit x, by which everybody else knows that this name is none of the
 * spool's (row T1).
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "mail/spool/internal.h"
#include "mail/spool/keep.h"

#include "base/banned.h"

uintmax_t
spool_links(const struct stat *st)
{
	bool is_kept = (st->st_mode & S_IXGRP) != 0 && st->st_nlink > 1;

	return (uintmax_t)st->st_nlink - (is_kept ? 1 : 0);
}

/* The mark before the link: a crash between them leaves no link that nobody
 * knows of. */
static int
keep_link(struct draft *draft, const char *path, struct err *err)
{
	int dir_fd = draft->spool->dir_fd;

	if (fchmod(draft->fd, SPOOL_DRAFT_MODE | S_IXGRP) == 0 &&
	    linkat(draft->spool->area_fd[AREA_PUBLIC], draft->name, dir_fd,
	    path, 0) == 0)
		return 0;
	return err_sys(err, "link to %s", path);
}

enum draft_kept
draft_keep(struct draft *draft, const char *day, struct err *err)
{
	char path[sizeof(SPOOL_KEPT_DIR) + 32 + SPOOL_ID_BYTES];
	int saved;
	struct stat st;

	snprintf(path, sizeof(path), SPOOL_KEPT_DIR "/%.20s", day);
	if (fstatat(draft->spool->dir_fd, path, &st,
	    AT_SYMLINK_NOFOLLOW) != 0)
		return err_sys(err, "%s", path);
	if ((st.st_mode & S_IWUSR) == 0)
		return DRAFT_KEPT_NOT;
	if (draft_settle(draft, err) != 0)
		return DRAFT_KEPT_TROUBLE;
	snprintf(path, sizeof(path), SPOOL_KEPT_DIR "/%.20s/%s", day,
	    draft->id);
	if (keep_link(draft, path, err) == 0)
		return DRAFT_KEPT;
	saved = errno;
	(void)fchmod(draft->fd, SPOOL_DRAFT_MODE);
	errno = saved;
	return DRAFT_KEPT_TROUBLE;
}
