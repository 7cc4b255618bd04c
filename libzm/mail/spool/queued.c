/* queued.c - the scheduler's end of a message
 *
 * In     the name of a routed message
 * Out    two descriptors for an agent; or, at the end, no files
 * Holds  nothing; whoever ends a message holds its body open
 * Spec   doc/INTERNALS.md section 2, rows P4, F1 to F3, D4
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "mail/spool/internal.h"

#include "base/banned.h"

#ifdef O_PATH
#define OPEN_PIN O_PATH
#else
#define OPEN_PIN O_RDONLY
#endif

enum spool_opened
spool_open_queued(struct spool *spool, const char *name, int *out_control,
    int *out_body, struct err *err)
{
	int saved;

	*out_body = -1;
	*out_control = spool_open_file(spool->area_fd[AREA_TRANSPORT], name,
	    O_RDWR | O_APPEND);
	if (*out_control < 0) {
		err_sys(err, "open %s", spool_label(AREA_TRANSPORT, 0, name));
		return errno == ENOENT ? SPOOL_OPEN_ABSENT : SPOOL_OPEN_TROUBLE;
	}
	if (flock(*out_control, LOCK_SH | LOCK_NB) != 0) {
		err_sys(err, "lock %s", spool_label(AREA_TRANSPORT, 0, name));
		goto fail;
	}
	*out_body = spool_open_file(spool->area_fd[AREA_QUEUE], name,
	    O_RDONLY);
	if (*out_body >= 0)
		return SPOOL_OPEN_DONE;
	err_sys(err, "open %s", spool_label(AREA_QUEUE, 0, name));
fail:
	saved = errno;
	close(*out_control);
	*out_control = -1;
	errno = saved;
	return saved == ENOENT || saved == EWOULDBLOCK ? SPOOL_OPEN_ABSENT :
	    SPOOL_OPEN_TROUBLE;
}

bool
spool_control_hold(int control_fd)
{
	return flock(control_fd, LOCK_EX | LOCK_NB) == 0;
}

void
spool_control_unlock(int control_fd)
{
	if (control_fd >= 0)
		flock(control_fd, LOCK_UN);
}

/* ---- the end of a message ------------------------------------------- */

size_t
spool_pin_max(const struct spool *spool)
{
	return spool->pin_max;
}

void
spool_ending_body(const struct spool *spool, struct spool_ending *ending)
{
	int dir_fd = spool->area_fd[AREA_QUEUE];
	char name[SPOOL_NAME_BYTES];

	spool_hashed_name(spool, ending->inode, name);
	if (ending->control_fd >= 0)
		close(ending->control_fd);
	ending->control_fd = -1;
	/* Without it (no descriptor left) a new message may get the number;
	 * its router then waits for the control file to go. */
	if (ending->pin_fd < 0)
		ending->pin_fd = openat(dir_fd, name,
		    OPEN_PIN | O_NOFOLLOW | O_CLOEXEC);
	ending->error = 0;
	/* F0 -> F1 */
	if (unlinkat(dir_fd, name, 0) == 0 || errno == ENOENT)
		return;
	ending->error = errno;
	spool_ending_release(ending);
}

void
spool_ending_control(const struct spool *spool, struct spool_ending *ending)
{
	char name[SPOOL_NAME_BYTES];

	spool_hashed_name(spool, ending->inode, name);
	ending->error = 0;
	/* F2 -> F3 */
	if (unlinkat(spool->area_fd[AREA_TRANSPORT], name, 0) != 0 &&
	    errno != ENOENT)
		ending->error = errno;
}

/* Its last close frees its blocks: on a disk that is mounted with discard
 * that takes 0.1 to 4 ms. */
void
spool_ending_release(struct spool_ending *ending)
{
	if (ending->pin_fd >= 0)
		close(ending->pin_fd);
	ending->pin_fd = -1;
}

/* ---- the barrier ---------------------------------------------------- */

void
spool_barrier_init(struct spool_barrier *barrier)
{
	barrier->dir_count = barrier->fd_count = 0;
	barrier->is_whole = false;
}

void
spool_barrier_add(const struct spool *spool, struct spool_barrier *barrier,
    ino_t inode)
{
	char name[SPOOL_NAME_BYTES], dir[SPOOL_NAME_BYTES];

	spool_hashed_name(spool, inode, name);
	spool_parent(name, dir);
	for (size_t i = barrier->dir_count; i-- > 0;)
		if (strcmp(barrier->dirs[i], dir) == 0)
			return;
	if (spool->is_btrfs || barrier->dir_count == SPOOL_BARRIER_DIRS ||
	    strlcpy(barrier->dirs[barrier->dir_count], dir,
	    sizeof(barrier->dirs[0])) >= sizeof(barrier->dirs[0]))
		barrier->is_whole = true;
	else
		barrier->dir_count++;
}

void
spool_barrier_add_records(struct spool_barrier *barrier, int control_fd)
{
	int fd = -1;

	if (barrier->is_whole)
		return;
	if (barrier->fd_count < SPOOL_BARRIER_RECORDS)
		fd = fcntl(control_fd, F_DUPFD_CLOEXEC, 0);
	if (fd < 0)
		barrier->is_whole = true;
	else
		barrier->fds[barrier->fd_count++] = fd;
}

size_t
spool_barrier_parts(const struct spool_barrier *barrier)
{
	return barrier->is_whole ? 1 : barrier->dir_count + barrier->fd_count;
}

static int
barrier_sync_all(const struct spool *spool)
{
#ifdef HAVE_SYNCFS
	return syncfs(spool->area_fd[AREA_QUEUE]) == 0 ? 0 : errno;
#else
	sync();
	return 0;
#endif
}

static int
barrier_sync_dir(const struct spool *spool, const char *dir)
{
	int fd = openat(spool->area_fd[AREA_QUEUE], dir,
	    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), error;

	if (fd < 0)
		return errno;
	error = fsync(fd) == 0 ? 0 : errno;	/* F1 -> F2 */
	close(fd);
	return error;
}

int
spool_barrier_part(const struct spool *spool,
    const struct spool_barrier *barrier, size_t part)
{
	if (barrier->is_whole)
		return barrier_sync_all(spool);		/* F1 -> F2 */
	if (part < barrier->dir_count)
		return barrier_sync_dir(spool, barrier->dirs[part]);
	/* P4: records; and the name, which may still be that of the plan */
	return fsync(barrier->fds[part - barrier->dir_count]) == 0 ? 0 : errno;
}

void
spool_barrier_release(struct spool_barrier *barrier)
{
	while (barrier->fd_count > 0)
		close(barrier->fds[--barrier->fd_count]);
	spool_barrier_init(barrier);
}

int
spool_sync(const struct spool *spool, struct err *err)
{
	errno = barrier_sync_all(spool);
	return errno == 0 ? 0 : err_sys(err, "syncfs of the spool");
}

/* ---- aside, with its control file ------------------------------------ */

void
spool_sync_name(const struct spool *spool, enum spool_area area,
    const char *name)
{
	int fd = spool_open_file(spool->area_fd[area], name, O_RDONLY);

	if (fd < 0 || fsync(fd) != 0)
		warning("fsync %s after its rename: %s",
		    spool_label(area, 0, name), strerror(errno));
	if (fd >= 0)
		close(fd);
}

static void
keep_reason(int dir_fd, const char *name, const char *reason)
{
	int fd = spool_open_file(dir_fd, name, O_RDONLY);

	if (fd < 0)
		return;
	(void)spool_reason_write(fd, reason);
	close(fd);
}

int
spool_shelve_queued(struct spool *spool, const char *name, const char *why,
    const char *reason, struct err *err)
{
	int to_fd = spool->area_fd[AREA_POSTMAN];
	char target[SPOOL_NAME_BYTES], control[SPOOL_NAME_BYTES];

	if (!spool_why_is(why, false))
		return err_set(err, "'%s' cannot be a reason in a file name",
		    why);
	keep_reason(spool->area_fd[AREA_QUEUE], name, reason);
	/* P4 -> D4: the body first; recovery lets the control file follow */
	if (spool_rename_aside(spool->area_fd[AREA_QUEUE], name, to_fd,
		spool_name_inode(name), why, target) != 0)
		return err_sys(err, "move %s to postman/",
		    spool_label(AREA_QUEUE, 0, name));
	if ((size_t)snprintf(control, sizeof(control), "%s.control", target) >=
	    sizeof(control))
		return err_set(err, "name %s is too long", target);
	/* before it follows: were its move alone kept, the body in queue/ would
	 * be routed again (P6) */
	spool_sync_name(spool, AREA_POSTMAN, target);
	if (spool_rename(spool->area_fd[AREA_TRANSPORT], name, to_fd,
		control) != 0)
		return err_sys(err, "move %s to postman/%s",
		    spool_label(AREA_TRANSPORT, 0, name), control);
	spool_sync_name(spool, AREA_POSTMAN, control);
	return spool_sync_dirs(spool, spool->area_fd[AREA_QUEUE], to_fd, err);
}
