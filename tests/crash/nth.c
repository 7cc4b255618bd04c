/* nth.c - count, kill at, or fail the Nth call that changes the disk
 *
 * Preloaded into every process of an instance under test.  Counted are the
 * calls that change names or contents below ZM_NTH_DIR (the spool and the
 * mailboxes): create, write, rename, link, unlink, truncate, mkdir, sync.
 *
 * In     ZM_NTH_STATE (struct nth_state), ZM_NTH_DIR (prefixes, colons),
 *        ZM_NTH_LOG (with is_logging: a line a call, enough to undo it; with
 *        NTH_TRACE for tests/model/trace.py: who made it, when it ended; with
 *        NTH_CALLS only who made which call where, also those that failed)
 *        ZM_NTH_GRAVE (a directory where lost files are kept)
 * Out    the call's result, or the process's end
 *
 * SPDX-License-Identifier: ISC
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "nth.h"

static struct nth_state *state;
static const char *dirs, *grave;
static __thread bool is_inside;

/* The real functions, looked up once. */
#define REAL(type, name, ...) static type (*real_##name)(__VA_ARGS__)
REAL(int, open, const char *, int, ...);
REAL(int, openat, int, const char *, int, ...);
REAL(ssize_t, write, int, const void *, size_t);
REAL(ssize_t, pwrite, int, const void *, size_t, off_t);
REAL(ssize_t, writev, int, const struct iovec *, int);
REAL(int, rename, const char *, const char *);
REAL(int, renameat, int, const char *, int, const char *);
REAL(int, renameat2, int, const char *, int, const char *, unsigned);
REAL(int, link, const char *, const char *);
REAL(int, linkat, int, const char *, int, const char *, int);
REAL(int, unlink, const char *);
REAL(int, unlinkat, int, const char *, int);
REAL(int, fsync, int);
REAL(int, fdatasync, int);
REAL(int, syncfs, int);
REAL(int, ftruncate, int, off_t);
REAL(int, mkdirat, int, const char *, mode_t);
REAL(int, fchmod, int, mode_t);

static void
find_real(void)
{
	if (real_open != NULL)
		return;
#define FIND(name) *(void **)&real_##name = dlsym(RTLD_NEXT, #name)
	FIND(openat); FIND(write); FIND(pwrite); FIND(writev);
	FIND(rename); FIND(renameat); FIND(renameat2); FIND(link);
	FIND(linkat); FIND(unlink); FIND(unlinkat); FIND(fsync);
	FIND(fdatasync); FIND(syncfs); FIND(ftruncate);
	FIND(mkdirat); FIND(fchmod); FIND(open);
}

__attribute__((constructor))
static void
set_up(void)
{
	const char *path = getenv("ZM_NTH_STATE");
	int fd;

	find_real();
	dirs = getenv("ZM_NTH_DIR");
	grave = getenv("ZM_NTH_GRAVE");
	if (path == NULL || dirs == NULL)
		return;
	fd = real_open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return;
	state = mmap(NULL, sizeof(*state), PROT_READ | PROT_WRITE, MAP_SHARED,
	    fd, 0);
	close(fd);
	if (state == MAP_FAILED)
		state = NULL;
	if (state != NULL)
		nth_log_open(state);
}

static bool
fd_is_watched(int fd, char out_path[1024])
{
	struct stat st;

	if (fstat(fd, &st) < 0 || !(S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)))
		return false;
	nth_fd_path(fd, out_path);
	return nth_is_below(dirs, out_path);
}

/* ---- one counted call -------------------------------------------------- */

enum { GO_ON, FAIL, HALF };	/* HALF: of the bytes */

static void __attribute__((noreturn))
die(void)
{
	kill(getpid(), SIGKILL);
	/* A sandboxed agent may not call kill: end as abruptly without it. */
	__builtin_trap();
}

/* NTH_CALLS: a line for a call that begins. */
static void
note_call(const char *call, const char *path)
{
	char line[1200];

	if (!nth_log_is_open() || state->is_logging != NTH_CALLS)
		return;
	nth_log_put(line, (size_t)snprintf(line, sizeof(line),
	    "%s\t%s\t%.1000s\n", program_invocation_short_name, call,
	    path));
}

/* Is call number n one that the plan is about? */
static bool
is_planned(int n)
{
	int span = state->span > 1 ? state->span : 1;

	return state->target > 0 && n >= state->target &&
	    n - state->target < span;
}

/* Before the call: returns FAIL with errno set when it shall not be made, HALF
 * when it shall write half of its bytes.  *out_die is set when the process
 * shall die after it. */
static int
before(const char *call, const char *path, bool *out_die, int *out_ticket)
{
	int number;

	*out_die = false;
	*out_ticket = __atomic_add_fetch(&state->ticket, 1, __ATOMIC_SEQ_CST);
	note_call(call, path);
	if (state->mode == NTH_STOP && state->fired)
		for (;;)
			pause();
	if (state->role[0] != '\0' &&
	    strcmp(state->role, program_invocation_short_name) != 0)
		return GO_ON;
	number = __atomic_add_fetch(&state->count, 1, __ATOMIC_SEQ_CST);
	if (!is_planned(number))
		return GO_ON;
	if (number == state->target) {
		snprintf(state->what, sizeof(state->what), "%s %s", call, path);
		state->pid = (int32_t)getpid();
	}
	__atomic_store_n(&state->fired, 1, __ATOMIC_SEQ_CST);
	switch (state->mode) {
	case NTH_KILL_BEFORE:
		die();
		break;
	case NTH_KILL_AFTER:
		*out_die = true;
		break;
	case NTH_FAIL:
		errno = state->error;
		return FAIL;
	case NTH_SHORT:
		return HALF;
	case NTH_STOP:
		for (;;)
			pause();
	}
	return GO_ON;
}

static bool
is_traced(void)
{
	return nth_log_is_open() && state->is_logging == NTH_TRACE;
}

__attribute__((format(printf, 2, 3)))
static void
note(int ticket, const char *format, ...)
{
	char line[6000];
	va_list ap;
	int n, saved = errno;

	if (!nth_log_is_open() || state->is_logging == NTH_CALLS)
		return;
	if (is_traced())
		n = snprintf(line, sizeof(line), "%d\t%d\t%d\t%s\t", ticket,
		    __atomic_add_fetch(&state->ticket, 1, __ATOMIC_SEQ_CST),
		    (int)getpid(), program_invocation_short_name);
	else
		n = snprintf(line, sizeof(line), "%d\t", ticket);
	va_start(ap, format);
	n += vsnprintf(line + n, sizeof(line) - (size_t)n - 1, format, ap);
	va_end(ap);
	line[n++] = '\n';
	nth_log_put(line, (size_t)n);
	errno = saved;
}

/* ---- create ------------------------------------------------------------ */

static int
do_open(int dir_fd, const char *name, int flags, mode_t mode)
{
	char path[2048];
	bool shall_die, is_new;
	int fd, ticket;

	nth_full_path(dir_fd, name, path);
	if (state == NULL || is_inside || !(flags & O_CREAT) ||
	    !nth_is_below(dirs, path))
		return real_openat(dir_fd, name, flags, mode);
	is_inside = true;
	is_new = nth_inode_of(path) == 0;
	if (before("create", path, &shall_die, &ticket) == FAIL) {
		is_inside = false;
		return -1;
	}
	fd = real_openat(dir_fd, name, flags, mode);
	if (fd >= 0 && is_new)
		note(ticket, "create\t%lu\t%s", nth_inode_of_fd(fd), path);
	if (shall_die)
		die();
	is_inside = false;
	return fd;
}

#define OPEN_MODE(flags, last) \
	mode_t mode = 0; \
	if ((flags) & (O_CREAT | O_TMPFILE)) { \
		va_list ap; \
		va_start(ap, last); \
		mode = va_arg(ap, mode_t); \
		va_end(ap); \
	}

int
open(const char *name, int flags, ...)
{
	find_real();
	OPEN_MODE(flags, flags)
	return do_open(AT_FDCWD, name, flags, mode);
}

int
open64(const char *name, int flags, ...)
{
	find_real();
	OPEN_MODE(flags, flags)
	return do_open(AT_FDCWD, name, flags, mode);
}

int
openat(int dir_fd, const char *name, int flags, ...)
{
	find_real();
	OPEN_MODE(flags, flags)
	return do_open(dir_fd, name, flags, mode);
}

int
openat64(int dir_fd, const char *name, int flags, ...)
{
	find_real();
	OPEN_MODE(flags, flags)
	return do_open(dir_fd, name, flags, mode);
}

/* ---- calls on a descriptor --------------------------------------------- */

static bool
is_kept(void)
{
	return nth_log_is_open() && state->is_logging == NTH_BYTES;
}

/* NTH_BYTES: what a write put where in the file. */
static void
keep_bytes(int ticket, int fd, const struct iovec *parts, int count,
    ssize_t written, off_t end)
{
	long long at;

	if (!is_kept() || written <= 0)
		return;
	at = nth_log_bytes(parts, count, (size_t)written);
	note(ticket, "bytes\t%lu\t%lld\t%zd\t%lld", nth_inode_of_fd(fd),
	    (long long)(end - written), written, at);
}

/* Where the last write to it ended. */
static off_t
end_of(int fd)
{
	return is_kept() ? lseek(fd, 0, SEEK_CUR) : 0;
}

#define ON_FD(type, call, fd, make, ...) \
	ON_FD_KEEP(type, call, fd, make, (void)0, __VA_ARGS__)

#define ON_FD_KEEP(type, call, fd, make, keep, ...) \
	char path[1024]; \
	bool shall_die; \
	int ticket, fate = GO_ON; \
	type result; \
	find_real(); \
	if (state == NULL || is_inside || !fd_is_watched(fd, path)) \
		return make; \
	is_inside = true; \
	fate = before(call, path, &shall_die, &ticket); \
	if (fate == FAIL) { \
		is_inside = false; \
		return -1; \
	} \
	long long size_before = nth_size_of(fd); \
	result = make; \
	if (result >= 0) \
		note(ticket, __VA_ARGS__); \
	keep; \
	if (shall_die) \
		die(); \
	is_inside = false; \
	return result

static size_t
part_of(size_t n, int fate)
{
	return fate == HALF && n > 1 ? n / 2 : n;
}

ssize_t
write(int fd, const void *bytes, size_t n)
{
	struct iovec part = { (void *)bytes, n };

	ON_FD_KEEP(ssize_t, "write", fd,
	    real_write(fd, bytes, part_of(n, fate)),
	    keep_bytes(ticket, fd, &part, 1, result, end_of(fd)),
	    "write\t%lu\t%lld\t%zd\t%s%s%s", nth_inode_of_fd(fd), size_before,
	    result, path, is_traced() ? "\t" : "", is_traced() ?
	    nth_control_lines(path, bytes, n, size_before) : "");
}

ssize_t
writev(int fd, const struct iovec *parts, int count)
{
	ON_FD_KEEP(ssize_t, "write", fd, fate == HALF && count > 0 ?
	    real_write(fd, parts[0].iov_base, part_of(parts[0].iov_len, fate)) :
	    real_writev(fd, parts, count),
	    keep_bytes(ticket, fd, parts, count, result, end_of(fd)),
	    "write\t%lu\t%lld\t%zd\t%s", nth_inode_of_fd(fd), size_before,
	    result, path);
}

ssize_t
pwrite(int fd, const void *bytes, size_t n, off_t offset)
{
	struct iovec part = { (void *)bytes, n };

	ON_FD_KEEP(ssize_t, "pwrite", fd, real_pwrite(fd, bytes,
	    part_of(n, fate), offset),
	    keep_bytes(ticket, fd, &part, 1, result, offset + result),
	    "pwrite\t%lu\t%lld\t%zd\t%s\t%lld", nth_inode_of_fd(fd),
	    size_before < (long long)offset ? size_before : (long long)offset,
	    result, path, size_before);
}

ssize_t
pwrite64(int fd, const void *bytes, size_t n, off64_t offset)
{
	return pwrite(fd, bytes, n, (off_t)offset);
}

int
fsync(int fd)
{
	ON_FD(int, "fsync", fd, real_fsync(fd),
	    "sync\t%lu\t%lld\t%s", nth_inode_of_fd(fd), size_before, path);
}

int
fdatasync(int fd)
{
	ON_FD(int, "fdatasync", fd, real_fdatasync(fd),
	    "datasync\t%lu\t%lld\t%s", nth_inode_of_fd(fd), size_before, path);
}

int
syncfs(int fd)
{
	ON_FD(int, "syncfs", fd, real_syncfs(fd),
	    "syncfs\t%lld", size_before);
}

int
ftruncate(int fd, off_t length)
{
	ON_FD(int, "ftruncate", fd, real_ftruncate(fd, length),
	    "truncate\t%lu\t%lld\t%lld", nth_inode_of_fd(fd), size_before,
	    (long long)length);
}

int
ftruncate64(int fd, off64_t length)
{
	return ftruncate(fd, (off_t)length);
}

/* Not counted: a file's mode comes with its first name or its contents. */
int
fchmod(int fd, mode_t mode)
{
	char path[1024];
	int result;

	find_real();
	result = real_fchmod(fd, mode);
	if (result == 0 && state != NULL && !is_inside && is_kept() &&
	    fd_is_watched(fd, path))
		note(__atomic_add_fetch(&state->ticket, 1, __ATOMIC_SEQ_CST),
		    "mode\t%lu\t%o", nth_inode_of_fd(fd), (unsigned)mode);
	return result;
}

/* ---- calls on names ---------------------------------------------------- */

/* A power cut may bring back the file that loses this name: its inode. */
static unsigned long
keep_in_grave(const char *path, int ticket)
{
	char keep[2048];

	snprintf(keep, sizeof(keep), "%s/%d", grave ? grave : "", ticket);
	if (nth_log_is_open() && grave != NULL)
		(void)real_link(path, keep);
	return nth_inode_of(path);
}

static int
do_rename(int from_fd, const char *from, int to_fd, const char *to,
    unsigned flags)
{
	char from_path[2048], to_path[2048];
	bool shall_die;
	int ticket, result;
	unsigned long inode, over;

	find_real();
	nth_full_path(from_fd, from, from_path);
	nth_full_path(to_fd, to, to_path);
	if (state == NULL || is_inside || !nth_is_below(dirs, to_path))
		return flags ? real_renameat2(from_fd, from, to_fd, to, flags) :
		    real_renameat(from_fd, from, to_fd, to);
	is_inside = true;
	inode = nth_inode_of(from_path);
	if (before("rename", to_path, &shall_die, &ticket) == FAIL) {
		is_inside = false;
		return -1;
	}
	over = flags != 0 ? 0 : keep_in_grave(to_path, ticket);
	result = flags ? real_renameat2(from_fd, from, to_fd, to, flags) :
	    real_renameat(from_fd, from, to_fd, to);
	if (result == 0 && over > 0)
		note(ticket, "unlink\t%lu\t%s", over, to_path);
	if (result == 0)
		note(ticket, "rename\t%lu\t%s\t%s", inode, from_path, to_path);
	if (shall_die)
		die();
	is_inside = false;
	return result;
}

int
rename(const char *from, const char *to)
{
	return do_rename(AT_FDCWD, from, AT_FDCWD, to, 0);
}

int
renameat(int from_fd, const char *from, int to_fd, const char *to)
{
	return do_rename(from_fd, from, to_fd, to, 0);
}

int
renameat2(int from_fd, const char *from, int to_fd, const char *to,
    unsigned flags)
{
	return do_rename(from_fd, from, to_fd, to, flags);
}

int
linkat(int from_fd, const char *from, int to_fd, const char *to, int flags)
{
	char from_path[2048], to_path[2048];
	bool shall_die;
	int ticket, result;

	find_real();
	nth_full_path(from_fd, from, from_path);
	nth_full_path(to_fd, to, to_path);
	if (state == NULL || is_inside || !nth_is_below(dirs, to_path))
		return real_linkat(from_fd, from, to_fd, to, flags);
	is_inside = true;
	if (before("link", to_path, &shall_die, &ticket) == FAIL) {
		is_inside = false;
		return -1;
	}
	result = real_linkat(from_fd, from, to_fd, to, flags);
	if (result == 0)
		note(ticket, "link\t%lu\t%s", nth_inode_of(to_path), to_path);
	if (shall_die)
		die();
	is_inside = false;
	return result;
}

int
link(const char *from, const char *to)
{
	return linkat(AT_FDCWD, from, AT_FDCWD, to, 0);
}

int
unlinkat(int dir_fd, const char *name, int flags)
{
	char path[2048];
	bool shall_die;
	int ticket, result;
	unsigned long inode;

	find_real();
	nth_full_path(dir_fd, name, path);
	if (state == NULL || is_inside || !nth_is_below(dirs, path))
		return real_unlinkat(dir_fd, name, flags);
	is_inside = true;
	if (before("unlink", path, &shall_die, &ticket) == FAIL) {
		is_inside = false;
		return -1;
	}
	inode = keep_in_grave(path, ticket);
	result = real_unlinkat(dir_fd, name, flags);
	if (result == 0)
		note(ticket, "unlink\t%lu\t%s", inode, path);
	if (shall_die)
		die();
	is_inside = false;
	return result;
}

int
unlink(const char *name)
{
	return unlinkat(AT_FDCWD, name, 0);
}

int
mkdirat(int dir_fd, const char *name, mode_t mode)
{
	char path[2048];
	bool shall_die;
	int ticket, result;

	find_real();
	if (nth_is_there(dir_fd, name))
		return -1;
	nth_full_path(dir_fd, name, path);
	if (state == NULL || is_inside || !nth_is_below(dirs, path))
		return real_mkdirat(dir_fd, name, mode);
	is_inside = true;
	if (before("mkdir", path, &shall_die, &ticket) == FAIL) {
		is_inside = false;
		return -1;
	}
	result = real_mkdirat(dir_fd, name, mode);
	if (shall_die)
		die();
	is_inside = false;
	return result;
}

int
mkdir(const char *name, mode_t mode)
{
	return mkdirat(AT_FDCWD, name, mode);
}
