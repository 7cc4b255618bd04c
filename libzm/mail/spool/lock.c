/* lock.c - one of each role a spool
 *
 * In     the spool's directory
 * Out    locks on inodes of directories, until the last holder ends
 * Holds  a descriptor a room for life, closed by exec
 * Trusts the text of a file only as far as the system does not say better
 * Spec   doc/INTERNALS.md section 4
 *
 * The lock is on the directory that a role works in: who removes a file, or
 * moves the spool away, takes no lock away.  No room is a directory that
 * everybody may open: who can open it can lock it.  What stands in .lock is
 * for people.
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#ifdef __linux__
#include <sys/sysmacros.h>
#endif
#include <time.h>
#include <unistd.h>

#include "base/ascii.h"
#include "base/clock.h"
#include "mail/spool/internal.h"

#include "base/banned.h"

enum {
	LOCK_TRIES = 20,	/* somebody may only be looking */
	LOCK_NAP_MS = 10,
	LOCK_TEXT_BYTES = 256
};

static const struct { const char *dir, *text; } rooms[] = {
#define ROOM(symbol, dir, text) { dir, text },
	SPOOL_ROOMS(ROOM)
#undef ROOM
};

struct lock_holder {
	pid_t	pid;		/* 0: not known */
	char	text[LOCK_TEXT_BYTES];
};

/* ---- who it is ---------------------------------------------------------- */

/* "fe:00:4711" in a line of /proc/locks: this inode?  Some file systems tell
 * stat of another device; there the pid that is expected (or 0) counts. */
static bool
lock_line_is_of(struct slice line, const struct stat *st, pid_t expected,
    uint64_t *out_pid)
{
	struct slice word = { NULL, 0 };
	char wanted[64], inode[32];

	snprintf(inode, sizeof(inode), ":%ju", (uintmax_t)st->st_ino);
	snprintf(wanted, sizeof(wanted), "%02x:%02x:%ju", major(st->st_dev),
	    minor(st->st_dev), (uintmax_t)st->st_ino);
	/* "1: FLOCK ADVISORY WRITE 4711 fe:00:11210993 0 EOF" */
	for (int i = 0; i < 5; i++)
		if (!slice_word(&line, &word))
			return false;
	return slice_number(word, 1, INT32_MAX, out_pid) &&
	    slice_word(&line, &word) && (slice_is(word, wanted) ||
	    (*out_pid == (uint64_t)expected && slice_ends(word, inode)));
}

/* Who took the lock, as the system knows it; 0: it does not say. */
static pid_t
lock_taker(const struct stat *st, pid_t expected)
{
	FILE *in = fopen("/proc/locks", "re");
	char line[LOCK_TEXT_BYTES];
	uint64_t pid = 0, found = 0;

	if (in == NULL)
		return 0;
	while (fgets(line, sizeof(line), in) != NULL)
		if (strstr(line, "->") == NULL && lock_line_is_of(
		    slice_of(line), st, expected, &pid))
			found = pid;
	fclose(in);
	return (pid_t)found;
}

static void
lock_program(pid_t pid, char *out, size_t size)
{
	char path[64];
	ssize_t n = 0;
	int fd;

	snprintf(path, sizeof(path), "/proc/%jd/comm", (intmax_t)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = read(fd, out, size - 1);
		close(fd);
	}
	out[n > 0 ? n : 0] = '\0';
	out[strcspn(out, "\n")] = '\0';
	for (char *p = out; *p != '\0'; p++)
		if (!ascii_is_alnum(*p) && !ascii_is_among(*p, "-_.:/+"))
			*p = '?';
}

static int
lock_text_open(int spool_fd, enum spool_room room, int flags)
{
	return openat(spool_fd, rooms[room].text, flags | O_CLOEXEC |
	    O_NOFOLLOW | O_NONBLOCK, 0644);
}

static void
lock_text_read(int spool_fd, enum spool_room room, char *out, size_t size)
{
	int fd = lock_text_open(spool_fd, room, O_RDONLY);
	ssize_t n = 0;

	if (fd >= 0) {
		n = pread(fd, out, size - 1, 0);
		close(fd);
	}
	out[n > 0 ? n : 0] = '\0';
	out[strcspn(out, "\n")] = '\0';
}

/* Where the room is; its directory need not be one that we may open. */
static bool
lock_room_stat(int spool_fd, enum spool_room room, struct stat *out)
{
	return fstatat(spool_fd, rooms[room].dir, out, AT_SYMLINK_NOFOLLOW) ==
	    0;
}

/* What a file says of who is not there any more, or was removed, is no help:
 * the system's word counts, where it has one.  false: it has none. */
static bool
lock_describe(int spool_fd, enum spool_room room, struct lock_holder *out)
{
	struct slice rest, word;
	struct stat st;
	char program[32];
	uint64_t told = 0;
	pid_t taker;

	lock_text_read(spool_fd, room, out->text, sizeof(out->text));
	rest = slice_of(out->text);
	if (slice_word(&rest, &word) && slice_is(word, "pid") &&
	    slice_word(&rest, &word))
		slice_number(word, 1, INT32_MAX, &told);
	out->pid = (pid_t)told;
	taker = lock_room_stat(spool_fd, room, &st) ?
	    lock_taker(&st, out->pid) : 0;
	if (taker == 0 || taker == out->pid)
		return taker != 0;
	out->pid = taker;
	lock_program(taker, program, sizeof(program));
	snprintf(out->text, sizeof(out->text), "pid %jd %s", (intmax_t)taker,
	    program);
	return true;
}

/* ---- taking ------------------------------------------------------------- */

static int
lock_spool_open(const char *dir, struct err *err)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd >= 0 ? fd : err_sys(err, "open %s", dir);
}

static int
lock_room_open(int spool_fd, enum spool_room room)
{
	return openat(spool_fd, rooms[room].dir, O_RDONLY | O_DIRECTORY |
	    O_NOFOLLOW | O_CLOEXEC);
}

static bool
lock_take(int fd)
{
	const struct timespec nap = { 0, LOCK_NAP_MS * 1000000L };

	for (int i = 0; i < LOCK_TRIES; i++) {
		if (flock(fd, LOCK_EX | LOCK_NB) == 0)
			return true;
		nanosleep(&nap, NULL);
	}
	return false;
}

static int
lock_text_write(int spool_fd, enum spool_room room, struct err *err)
{
	char text[LOCK_TEXT_BYTES], stamp[CLOCK_TEXT_BYTES];
	int fd = lock_text_open(spool_fd, room, O_RDWR | O_CREAT);
	int n, result = 0;

	clock_rfc3339(clock_wall_us(), stamp);
	n = snprintf(text, sizeof(text), "pid %jd %s run since %s\n",
	    (intmax_t)getpid(), err_program_name(), stamp);
	if (fd < 0 || ftruncate(fd, 0) != 0 || pwrite(fd, text, (size_t)n, 0) !=
	    n)
		result = err_sys(err, "write %s in the spool",
		    rooms[room].text);
	if (fd >= 0) {
		(void)fchmod(fd, 0644);
		close(fd);
	}
	return result;
}

/* Who has it, and what to do about that. */
static void
lock_refused(const char *dir, int spool_fd, enum spool_room room,
    struct err *err)
{
	struct lock_holder instance, holder;

	(void)lock_describe(spool_fd, room, &holder);
	(void)lock_describe(spool_fd, SPOOL_ROOM_INSTANCE, &instance);
	if (holder.pid == 0)
		err_set(err, "spool %s is in use (%s); stop that one first",
		    dir, holder.text[0] != '\0' ? holder.text :
		    "the system does not say by whom");
	else if (kill(holder.pid, 0) < 0 && errno == ESRCH)
		err_set(err, "spool %s is in use (%s, which is gone: what it "
		    "had started still runs); try later", dir, holder.text);
	else if (room == SPOOL_ROOM_INSTANCE || holder.pid == instance.pid)
		err_set(err, "spool %s is in use (%s); stop that one first: "
		    "zmailer stop (or, for a changed configuration: zmailer "
		    "reload)", dir, holder.text);
	else
		err_set(err, "spool %s is in use (%s); stop that one first: "
		    "kill %jd", dir, holder.text, (intmax_t)holder.pid);
}

enum spool_lock_state
spool_lock_room(const char *dir, enum spool_room room, int *out_fd,
    struct err *err)
{
	int spool_fd = lock_spool_open(dir, err), fd;
	enum spool_lock_state got = SPOOL_LOCK_FREE;

	if (spool_fd < 0)
		return SPOOL_LOCK_TROUBLE;
	fd = lock_room_open(spool_fd, room);
	if (fd < 0) {
		err_sys(err, "open %s/%s", dir, rooms[room].dir);
		got = errno == ENOENT ? SPOOL_LOCK_FREE : SPOOL_LOCK_TROUBLE;
	} else if (!lock_take(fd)) {
		lock_refused(dir, spool_fd, room, err);
		got = SPOOL_LOCK_HELD;
	} else if (lock_text_write(spool_fd, room, err) < 0) {
		got = SPOOL_LOCK_TROUBLE;
	}
	close(spool_fd);
	if (got != SPOOL_LOCK_FREE && fd >= 0) {
		close(fd);
		fd = -1;
	}
	*out_fd = fd;
	return got;
}

bool
spool_lock_is_room(const char *dir, enum spool_room room, int fd)
{
	int spool_fd = lock_spool_open(dir, NULL), ours = -1;
	struct stat theirs, st;
	bool is_same;

	if (spool_fd >= 0)
		ours = lock_room_open(spool_fd, room);
	is_same = ours >= 0 && fstat(ours, &st) == 0 &&
	    fstat(fd, &theirs) == 0 && st.st_dev == theirs.st_dev &&
	    st.st_ino == theirs.st_ino && flock(fd, LOCK_EX | LOCK_NB) == 0;
	if (ours >= 0)
		close(ours);
	if (spool_fd >= 0)
		close(spool_fd);
	return is_same;
}

int
spool_lock(const char *dir, struct err *err)
{
	int fds[SPOOL_ROOM_COUNT];

	for (int room = 0; room < SPOOL_ROOM_COUNT; room++) {
		if (spool_lock_room(dir, (enum spool_room)room, &fds[room],
		    err) == SPOOL_LOCK_FREE)
			continue;
		while (--room >= 0)
			if (fds[room] >= 0)
				close(fds[room]);
		return -1;
	}
	return 0;	/* they stay open: the locks are the process's */
}

/* As far as we may look.  Who may not open the room cannot try its lock. */
static enum spool_lock_state
lock_look(int spool_fd, struct lock_holder *out)
{
	int fd = lock_room_open(spool_fd, SPOOL_ROOM_INSTANCE);
	enum spool_lock_state state = SPOOL_LOCK_HELD;

	*out = (struct lock_holder){ .pid = 0 };
	if (fd < 0 && errno != EACCES)
		return errno == ENOENT ? SPOOL_LOCK_FREE : SPOOL_LOCK_TROUBLE;
	if (fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) == 0)
		state = SPOOL_LOCK_FREE;
	else if (!lock_describe(spool_fd, SPOOL_ROOM_INSTANCE, out) && fd < 0)
		state = SPOOL_LOCK_FREE;
	if (fd >= 0)
		close(fd);
	return state;
}

enum spool_lock_state
spool_lock_holder(const char *dir, char *out_text, size_t size,
    pid_t *out_pid)
{
	int fd = lock_spool_open(dir, NULL);
	enum spool_lock_state state;
	struct lock_holder holder;

	if (fd < 0)
		return errno == ENOENT ? SPOOL_LOCK_FREE : SPOOL_LOCK_TROUBLE;
	state = lock_look(fd, &holder);
	close(fd);
	if (state != SPOOL_LOCK_HELD)
		return state;
	if (out_pid != NULL)
		*out_pid = holder.pid;
	snprintf(out_text, size, "%s", holder.text);
	return SPOOL_LOCK_HELD;
}
