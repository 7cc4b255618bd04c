/* queued.c - the scheduler's end of a message
 *
 * In     the name of a routed message
 * Out    two descriptors for an agent; or, at the end, no files
 * Holds  bodies that were unlinked, open until their control file is gone,
 *        so that no new message gets the inode number meanwhile
 * Spec   doc/INTERNALS.md section 2, rows P4, F1 to F3, D4
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "io/closer.h"
#include "mail/spool/internal.h"

#include "base/banned.h"

#ifdef O_PATH
#define OPEN_PIN O_PATH
#else
#define OPEN_PIN O_RDONLY
#endif

enum { BARRIER_RECORDS_MAX = 8 };	/* more than these: one syncfs */

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
spool_control_is_idle(int control_fd)
{
	if (flock(control_fd, LOCK_EX | LOCK_NB) != 0)
		return false;
	flock(control_fd, LOCK_UN);
	return true;
}

/* ---- the end of a message ------------------------------------------- */

static void
pin_add(struct spool *spool, ino_t inode, int fd)
{
	if (spool->pin_first == spool->pin_count)
		spool->pin_first = spool->pin_count = 0;
	if (spool->pin_count == spool->pin_room) {
		spool->pin_room = spool->pin_room ? spool->pin_room * 2 : 64;
		spool->pins = mem_grow(spool->pins, spool->pin_room,
		    sizeof(*spool->pins));
	}
	spool->pins[spool->pin_count++] = (struct pin){ inode, fd };
}

/* Pins are taken away in the order in which they were made, nearly. */
static void
pin_drop(struct spool *spool, ino_t inode)
{
	for (size_t i = spool->pin_first; i < spool->pin_count; i++) {
		if (spool->pins[i].inode != inode || spool->pins[i].fd < 0)
			continue;
		closer_close(spool->pins[i].fd);
		spool->pins[i].fd = -1;
		break;
	}
	while (spool->pin_first < spool->pin_count &&
	    spool->pins[spool->pin_first].fd < 0)
		spool->pin_first++;
}

int
spool_unlink_body(struct spool *spool, const char *name, struct err *err)
{
	int dir_fd = spool->area_fd[AREA_QUEUE], fd = -1;

	/* Without a pin (too many, or no descriptor left) a new message may
	 * get the number; its router then waits for the control file to go. */
	if (spool->pin_count - spool->pin_first < spool->pin_max)
		fd = openat(dir_fd, name, OPEN_PIN | O_NOFOLLOW | O_CLOEXEC);
	/* F0 -> F1 */
	if (unlinkat(dir_fd, name, 0) != 0 && errno != ENOENT) {
		err_sys(err, "unlink %s", spool_label(AREA_QUEUE, 0, name));
		if (fd >= 0)
			close(fd);
		return -1;
	}
	if (fd >= 0)
		pin_add(spool, spool_name_inode(name), fd);
	return 0;
}

static bool
dir_note(struct spool_barrier *barrier, const char *dir)
{
	for (size_t i = 0; i < barrier->count; i++)
		if (strcmp(barrier->dirs[i], dir) == 0)
			return true;
	return barrier->count < SPOOL_BARRIER_DIRS &&
	    strlcpy(barrier->dirs[barrier->count++], dir,
	    sizeof(barrier->dirs[0])) < sizeof(barrier->dirs[0]);
}

/* The directories in which the names are, each once.  False: too many. */
static bool
dirs_note(const char *const names[], size_t count, struct spool_barrier *out)
{
	char dir[SPOOL_NAME_BYTES];

	out->count = 0;
	for (size_t i = 0; i < count; i++) {
		spool_parent(names[i], dir);
		if (!dir_note(out, dir))
			return false;
	}
	return true;
}

int
spool_sync(const struct spool *spool, struct err *err)
{
#ifdef HAVE_SYNCFS
	if (syncfs(spool->area_fd[AREA_QUEUE]) != 0)
		return err_sys(err, "syncfs of the spool");
#else
	sync();
#endif
	return 0;
}

int
spool_barrier_begin(struct spool *spool, const char *const names[],
    size_t name_count, const int control_fds[], size_t fd_count,
    struct spool_barrier *out, struct err *err)
{
	if (fd_count > BARRIER_RECORDS_MAX ||
	    !dirs_note(names, name_count, out)) {
		out->count = 0;
		return spool_sync(spool, err);	/* F1 -> F2 */
	}
	for (size_t i = 0; i < fd_count; i++)
		if (fdatasync(control_fds[i]) != 0)	/* P4: records */
			return err_sys(err, "fdatasync control file");
	return 0;
}

int
spool_barrier_step(struct spool *spool, struct spool_barrier *barrier,
    struct err *err)
{
	char name[sizeof(barrier->dirs[0]) + 2];

	if (barrier->count == 0)
		return 0;
	snprintf(name, sizeof(name), "%s/x",
	    barrier->dirs[--barrier->count]);
	if (spool_sync_parent(spool, AREA_QUEUE, name, err) != 0)
		return -1;			/* F1 -> F2 */
	return barrier->count > 0;
}

int
spool_barrier(struct spool *spool, const char *const names[],
    size_t name_count, const int control_fds[], size_t fd_count,
    struct err *err)
{
	struct spool_barrier barrier;
	int got = spool_barrier_begin(spool, names, name_count, control_fds,
	    fd_count, &barrier, err);

	if (got == 0)
		while ((got = spool_barrier_step(spool, &barrier, err)) == 1)
			;
	return got;
}

/* Its last close is the slow part of an unlink: where that is slow, a
 * descriptor takes it out of it. */
int
spool_unlink_control(struct spool *spool, const char *name, struct err *err)
{
	int dir_fd = spool->area_fd[AREA_TRANSPORT], fd = -1, saved = 0;

	if (closer_is_slow())
		fd = openat(dir_fd, name, OPEN_PIN | O_NOFOLLOW | O_CLOEXEC);
	/* F2 -> F3 */
	if (unlinkat(dir_fd, name, 0) != 0)
		saved = errno;
	if (fd >= 0)
		closer_close(fd);
	errno = saved;
	if (saved != 0 && saved != ENOENT)
		return err_sys(err, "unlink %s",
		    spool_label(AREA_TRANSPORT, 0, name));
	pin_drop(spool, spool_name_inode(name));
	return 0;
}

/* ---- aside, with its control file ------------------------------------ */

static void
sync_file(int dir_fd, const char *name)
{
	int fd = spool_open_file(dir_fd, name, O_RDONLY);

	if (fd < 0 || fsync(fd) != 0)
		warning("fsync %s after its rename: %s",
		    spool_label(AREA_POSTMAN, 0, name), strerror(errno));
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
	if (spool_rename(spool->area_fd[AREA_TRANSPORT], name, to_fd,
		control) != 0)
		return err_sys(err, "move %s to postman/%s",
		    spool_label(AREA_TRANSPORT, 0, name), control);
	sync_file(to_fd, control);
	sync_file(to_fd, target);
	return spool_sync_dirs(spool, spool->area_fd[AREA_QUEUE], to_fd, err);
}
