/* fixture.c - a spool in a directory of its own
 *
 * SPDX-License-Identifier: ISC
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/crc32c.h"
#include "tests/unit/mail/fixture.h"

struct faults faults;

/* These stand before the C library's: the test decides what fails. */
int renameat2(int, const char *, int, const char *, unsigned);
int fsync(int);

/* A worker comes at once to what is named in router/. */
static bool
is_locked_in_router(int dir_fd, const char *name)
{
	char link[64], path[4096];
	ssize_t n;
	bool is_locked;
	int fd;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", dir_fd);
	n = readlink(link, path, sizeof(path) - 1);
	if (n <= 0 || name[strspn(name, "0123456789")] != '\0')
		return false;
	path[n] = '\0';
	if (strstr(path, "/router") == NULL)
		return false;
	fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC);
	is_locked = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) != 0 &&
	    errno == EWOULDBLOCK;
	close(fd);
	return is_locked;
}

int
renameat2(int from_fd, const char *from, int to_fd, const char *to,
    unsigned flags)
{
	char own[32];

	faults.renames++;
	if (faults.rename_errno != 0 && faults.renames >= faults.rename_from &&
	    faults.renames <= faults.rename_to) {
		errno = faults.rename_errno;
		return -1;
	}
	if (syscall(SYS_renameat2, from_fd, from, to_fd, to, flags) != 0)
		return -1;
	snprintf(own, sizeof(own), "-%d", (int)getpid());
	if (strstr(from, own) == NULL)	/* a claim that is given back rests */
		faults.locked += is_locked_in_router(to_fd, to);
	return 0;
}

int
fsync(int fd)
{
	faults.fsyncs++;
	if (faults.fsync_errno != 0) {
		errno = faults.fsync_errno;
		return -1;
	}
	return (int)syscall(SYS_fsync, fd);
}

void
fixture_open(struct fixture *f, unsigned hash_levels)
{
	const char *tmp = getenv("TMPDIR");

	memset(f, 0, sizeof(*f));
	f->arena = arena_new();
	snprintf(f->dir, sizeof(f->dir), "%s/zm-mail-XXXXXX",
	    tmp ? tmp : "/tmp");
	cr_assert_not_null(mkdtemp(f->dir));
	cr_assert_eq(spool_open(f->dir, SPOOL_CREATE, hash_levels, &f->spool,
	    &f->err), 0, "%s", f->err.text);
}

static int
remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	return remove(path);
}

void
fixture_close(struct fixture *f)
{
	cr_expect_eq(faults.locked, 0, "named in router/ with its lock held");
	spool_close(&f->spool);
	arena_free(&f->arena);
	nftw(f->dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

const char *
at(const char *format, ...)
{
	static char buffers[8][256];
	static unsigned turn;
	char *buffer = buffers[turn++ % 8];
	va_list ap;

	va_start(ap, format);
	vsnprintf(buffer, sizeof(buffers[0]), format, ap);
	va_end(ap);
	return buffer;
}

static const char *
full(struct fixture *f, const char *path)
{
	return at("%s/%s", f->dir, path);
}

void
message_bytes(struct str *out, const char *id, const char *body)
{
	struct str text = STR_INIT;

	str_addf(&text, "id %s\nfrom <a@example.org>\nto <b@example.net>\n"
	    "env-end\nSubject: test\n\n%s\n", id, body);
	str_addf(out, "complete %012zu %08x\n", text.len,
	    crc32c(0, text.buf, text.len));
	str_add_slice(out, str_slice(&text));
	str_release(&text);
}

ino_t
put_file(struct fixture *f, const char *path, const void *bytes, size_t n)
{
	int fd = open(full(f, path), O_WRONLY | O_CREAT | O_TRUNC, 0600);
	struct stat st;

	cr_assert_geq(fd, 0, "%s", path);
	cr_assert_eq(write(fd, bytes, n), (ssize_t)n);
	cr_assert_eq(fstat(fd, &st), 0);
	close(fd);
	return st.st_ino;
}

ino_t
put_message(struct fixture *f, const char *path, char out_id[SPOOL_ID_BYTES],
    const char *body)
{
	ino_t inode = put_file(f, path, "", 0);
	struct str bytes = STR_INIT;

	spool_id_make(clock_wall_us(), inode, out_id);
	message_bytes(&bytes, out_id, body);
	cr_assert_eq(put_file(f, path, bytes.buf, bytes.len), inode);
	str_release(&bytes);
	return inode;
}

void
move_file(struct fixture *f, const char *from, const char *to)
{
	cr_assert_eq(rename(full(f, from), full(f, to)), 0, "%s -> %s", from,
	    to);
}

void
control_bytes(struct str *out, const char *id, ino_t inode)
{
	struct control_rcpt rcpt = { .channel = SLICE("smtp"),
	    .host = SLICE("example.net"), .user = SLICE("b@example.net"),
	    .uid = -2 };
	struct control_group group = { .sender = SLICE("a@example.org"),
	    .header = SLICE("Subject: test\n"), .rcpts = &rcpt,
	    .rcpt_count = 1 };
	struct control_file control = { .inode = inode, .groups = &group,
	    .group_count = 1 };
	struct err err;

	snprintf(control.id, sizeof(control.id), "%s", id);
	cr_assert_eq(control_file_format(&control, out, &err), 0, "%s",
	    err.text);
}

bool
file_exists(struct fixture *f, const char *path)
{
	return access(full(f, path), F_OK) == 0;
}

ino_t
file_inode(struct fixture *f, const char *path)
{
	struct stat st;

	return lstat(full(f, path), &st) == 0 ? st.st_ino : 0;
}

unsigned
count_files(struct fixture *f, const char *path)
{
	DIR *dir = opendir(full(f, path));
	struct dirent *entry;
	char below[512];
	unsigned count = 0;

	cr_assert_not_null(dir, "%s", path);
	while ((entry = readdir(dir)) != NULL) {
		if (strcmp(entry->d_name, ".") == 0 ||
		    strcmp(entry->d_name, "..") == 0)
			continue;
		snprintf(below, sizeof(below), "%s/%s", path, entry->d_name);
		if (entry->d_type == DT_DIR)
			count += count_files(f, below);
		else
			count++;
	}
	closedir(dir);
	return count;
}
