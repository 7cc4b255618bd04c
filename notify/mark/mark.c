/* mark.c - how far a receiver has events, on the disk
 *
 * In     places
 * Out    files; places again
 * Holds  a directory's descriptor (the caller's), locked
 * Trusts nothing it reads back: a file that is not whole is none
 * Spec   mark.h; doc/INTERNALS.md section 2.1
 *
 * SPDX-License-Identifier: ISC
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/fd.h"
#include "io/consult/notify_ask.h"
#include "notify/mark/mark.h"
#include "tls/digest.h"

#include "base/banned.h"

#define MARK_HEAD "zmailer-notify 1"
#define MARK_NEW ".new."

enum { PATH_BYTES = 4200, MARK_FILE_BYTES_MAX = 1024 };

int
mark_open(const char *spool_dir, struct err *err)
{
	char path[PATH_BYTES];
	int fd;

	snprintf(path, sizeof(path), "%s/" NOTIFY_DIR, spool_dir);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return err_sys(err, "cannot open %s", path);
	while (flock(fd, LOCK_EX) != 0)
		if (errno != EINTR) {
			err_sys(err, "cannot lock %s", path);
			close(fd);
			return -1;
		}
	return fd;
}

void
mark_name(const char *url, char out[MARK_NAME_BYTES])
{
	unsigned char sum[DIGEST_SHA256_BYTES];

	if (digest(DIGEST_SHA256, slice_of(url), sum) < 0)
		panic("this system has no SHA-256");
	for (size_t i = 0; i < (MARK_NAME_BYTES - 1) / 2; i++)
		snprintf(out + 2 * i, 3, "%02x", sum[i]);
}

static bool
mark_is_of(const struct conf *conf, const char *file)
{
	char name[MARK_NAME_BYTES];

	for (size_t i = 0; i < conf->notify_count; i++) {
		mark_name(conf->notifies[i].url, name);
		if (strcmp(name, file) == 0)
			return true;
	}
	return false;
}

void
mark_sweep(int dir_fd, const struct conf *conf)
{
	int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	const struct dirent *entry;

	if (dir == NULL) {
		warning("notify: what is kept cannot be read: %s",
		    strerror(errno));
		if (fd >= 0)
			close(fd);
		return;
	}
	while ((entry = readdir(dir)) != NULL)
		if (strcmp(entry->d_name, ".") != 0 &&
		    strcmp(entry->d_name, "..") != 0 &&
		    !mark_is_of(conf, entry->d_name))
			(void)unlinkat(dir_fd, entry->d_name, 0);
	closedir(dir);
}

/* ---- writing ----------------------------------------------------------- */

static void
mark_add(struct str *out, const struct mark *mark)
{
	str_adds(out, MARK_HEAD "\ntaken ");
	trail_place_add(out, &mark->taken);
	str_adds(out, "\nbatch ");
	if (mark->has_batch)
		trail_place_add(out, &mark->end);
	else
		str_addc(out, '-');
	str_adds(out, "\nend\n");
}

static int
mark_put(int dir_fd, const char *name, struct slice text, struct err *err)
{
	int fd = openat(dir_fd, name, O_WRONLY | O_CREAT | O_TRUNC |
	    O_NOFOLLOW | O_CLOEXEC, 0600);
	int result = 0;

	if (fd < 0)
		return err_sys(err, "cannot make %s", name);
	if (fd_write_all(fd, text.p, text.n) < 0 || fsync(fd) < 0)
		result = err_sys(err, "cannot write %s", name);
	close(fd);
	return result;
}

int
mark_write(int dir_fd, const char *name, const struct mark *mark,
    struct err *err)
{
	struct str text = STR_INIT;
	char fresh[MARK_NAME_BYTES + 8];
	int result;

	snprintf(fresh, sizeof(fresh), MARK_NEW "%s", name);
	mark_add(&text, mark);
	result = mark_put(dir_fd, fresh, str_slice(&text), err);
	str_release(&text);
	if (result == 0 && renameat(dir_fd, fresh, dir_fd, name) < 0)
		result = err_sys(err, "cannot rename %s", fresh);
	if (result == 0 && fsync(dir_fd) < 0)
		result = err_sys(err, "cannot sync the directory of %s", name);
	if (result < 0)
		(void)unlinkat(dir_fd, fresh, 0);
	return result;
}

/* ---- reading ----------------------------------------------------------- */

/* "WORD PLACE"; the place is the whole rest. */
static bool
mark_take_place(struct slice line, const char *word, struct trail_place *out)
{
	struct slice first;

	return slice_word(&line, &first) && slice_is(first, word) &&
	    trail_place_take(&line, out) && slice_trim(line).n == 0;
}

/* false: it is not whole, or of another version. */
static bool
mark_parse(struct slice text, struct mark *out)
{
	struct slice head, taken, batch, end;

	*out = (struct mark){ .has_batch = false };
	if (!slice_cut(&text, '\n', &head) || !slice_is(head, MARK_HEAD) ||
	    !slice_cut(&text, '\n', &taken) ||
	    !slice_cut(&text, '\n', &batch) || !slice_cut(&text, '\n', &end) ||
	    !slice_is(end, "end") || text.p == NULL || text.n > 0 ||
	    !mark_take_place(taken, "taken", &out->taken))
		return false;
	out->has_batch = !slice_is(batch, "batch -");
	return !out->has_batch || mark_take_place(batch, "batch", &out->end);
}

bool
mark_read(int dir_fd, const char *name, struct mark *out)
{
	int fd = openat(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK |
	    O_CLOEXEC);
	char text[MARK_FILE_BYTES_MAX];
	ssize_t n;

	if (fd < 0)
		return false;
	n = fd_read_at(fd, text, sizeof(text), 0);
	close(fd);
	if (n >= 0 && mark_parse((struct slice){ text, (size_t)n }, out))
		return true;
	warning("notify: the mark %s is damaged, and its receiver is told "
	    "from now on", name);
	return false;
}
