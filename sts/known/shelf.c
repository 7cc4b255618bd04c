/* shelf.c - policies on the disk, for the time after a restart
 *
 * In     policies
 * Out    files; policies again
 * Holds  a directory's descriptor (the caller's)
 * Trusts nothing it reads back: a file that is not whole is none
 * Spec   shelf.h, io/consult/sts_shelf.h; doc/INTERNALS.md section 2.1
 *
 * SPDX-License-Identifier: ISC
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "sts/known/shelf.h"

#include "base/banned.h"

#define SHELF_NEW ".new."

enum { PATH_BYTES = 4200 };

int
shelf_open(const char *spool_dir, struct err *err)
{
	char path[PATH_BYTES];
	int fd;

	snprintf(path, sizeof(path), "%s/" STS_DIR, spool_dir);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd >= 0 ? fd : err_sys(err, "cannot open %s", path);
}

/* ---- writing ----------------------------------------------------------- */

static int
shelf_write(int shelf, const char *name, struct slice text, struct err *err)
{
	int fd = openat(shelf, name, O_WRONLY | O_CREAT | O_TRUNC |
	    O_NOFOLLOW | O_CLOEXEC, 0640);
	int result = 0;

	if (fd < 0)
		return err_sys(err, "cannot make %s", name);
	if (fd_write_all(fd, text.p, text.n) < 0 || fsync(fd) < 0)
		result = err_sys(err, "cannot write %s", name);
	close(fd);
	return result;
}

int
shelf_put(int shelf, const char *domain, int64_t fetched_s,
    const struct sts_policy *policy, struct err *err)
{
	struct str text = STR_INIT;
	char name[32];
	int result;

	snprintf(name, sizeof(name), SHELF_NEW "%d", (int)getpid());
	str_addf(&text, STS_SHELF_HEAD "\n%s %" PRId64 " ", domain, fetched_s);
	sts_policy_add_words(&text, policy);
	str_adds(&text, "\nend\n");
	result = shelf_write(shelf, name, str_slice(&text), err);
	if (result == 0 && renameat(shelf, name, shelf, domain) < 0)
		result = err_sys(err, "cannot rename %s", name);
	if (result < 0)
		(void)unlinkat(shelf, name, 0);
	str_release(&text);
	return result;
}

void
shelf_remove(int shelf, const char *domain)
{
	(void)unlinkat(shelf, domain, 0);
}

/* ---- reading ----------------------------------------------------------- */

/* One file.  A policy that cannot be read now may hold: it stays. */
static void
shelf_take(int shelf, const char *name, size_t *io_max, shelf_take_fn *take,
    void *context)
{
	struct sts_policy policy;
	enum sts_shelf found;
	int64_t fetched_s;
	struct err err;

	found = sts_shelf_read(shelf, name, &fetched_s, &policy, &err);
	if (found == STS_SHELF_POLICY && *io_max > 0) {
		--*io_max;
		take(context, name, fetched_s, &policy);
	} else if (found == STS_SHELF_TROUBLE) {
		warning("the policy of %s: %s", name, err.text);
	} else if (found == STS_SHELF_DAMAGED) {
		if (name[0] != '.')
			warning("the policy of %s is forgotten: %s", name,
			    err.text);
		(void)unlinkat(shelf, name, 0);
	}
}

void
shelf_read(int shelf, size_t max, shelf_take_fn *take, void *context)
{
	int fd = openat(shelf, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	const struct dirent *entry;

	if (dir == NULL) {
		warning("the policies that are kept cannot be read: %s",
		    strerror(errno));
		if (fd >= 0)
			close(fd);
		return;
	}
	while ((entry = readdir(dir)) != NULL) {
		if (strcmp(entry->d_name, ".") == 0 ||
		    strcmp(entry->d_name, "..") == 0)
			continue;
		shelf_take(shelf, entry->d_name, &max, take, context);
	}
	closedir(dir);
}
