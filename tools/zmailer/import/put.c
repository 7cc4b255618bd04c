/* put.c - the new directory, which holds nothing before
 *
 * In     the text of zmailer.conf, tables
 * Out    NEW-DIR with them, each made for the first time (O_EXCL)
 * Holds  nothing
 * Spec   zmailer-import(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <string.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

#include "tools/zmailer/import/import.h"

#include "base/banned.h"

static int
put_problem(const char *what, const char *why)
{
	fprintf(stderr, "zmailer: import: %s: %s\n", what, why);
	return EX_CANTCREAT;
}

int
import_put_check(const char *to)
{
	DIR *dir = opendir(to);
	struct dirent *entry;
	int status = 0;

	if (dir == NULL)
		return errno == ENOENT ? 0 : put_problem(to, strerror(errno));
	while ((entry = readdir(dir)) != NULL && status == 0)
		if (strcmp(entry->d_name, ".") != 0 &&
		    strcmp(entry->d_name, "..") != 0)
			status = put_problem(to, "it holds files; name a new "
			    "directory, or an empty one");
	(void)closedir(dir);
	return status;
}

/* Passwords of next hops belong to the agents' account, which alone reads
 * them. */
static void
put_give(int fd, const char *path)
{
	struct passwd *account = getpwnam("zmagent");

	if (geteuid() != 0 || account == NULL ||
	    fchown(fd, account->pw_uid, account->pw_gid) != 0)
		fprintf(stderr, "zmailer: import: %s: let the agents' account "
		    "own it (chown zmagent): it has passwords\n", path);
}

static int
put_file(const char *to, const char *name, struct slice text,
    enum import_reader reader)
{
	struct str path = STR_INIT;
	size_t done = 0;
	ssize_t n = 0;
	int fd, status = 0;

	str_addf(&path, "%s/%s", to, name);
	fd = open(path.buf, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
	    reader == IMPORT_EVERYBODY ? 0644 : 0600);
	while (fd >= 0 && done < text.n && n >= 0) {
		n = write(fd, text.p + done, text.n - done);
		if (n < 0 && errno == EINTR)
			n = 0;
		done += n > 0 ? (size_t)n : 0;
	}
	if (fd < 0 || n < 0 || fsync(fd) != 0)
		status = put_problem(path.buf, strerror(errno));
	if (status == 0 && reader == IMPORT_AGENTS)
		put_give(fd, path.buf);
	if (fd >= 0 && close(fd) != 0 && status == 0)
		status = put_problem(path.buf, strerror(errno));
	str_release(&path);
	return status;
}

int
import_put(struct import *import, struct slice conf)
{
	int status = import_put_check(import->to);

	if (status == 0 && mkdir(import->to, 0755) != 0 && errno != EEXIST)
		status = put_problem(import->to, strerror(errno));
	for (size_t i = 0; i < import->file_count && status == 0; i++)
		status = put_file(import->to, import->files[i].name,
		    str_slice(&import->files[i].text),
		    import->files[i].reader);
	/* the last one: where it is, all is */
	if (status == 0)
		status = put_file(import->to, "zmailer.conf", conf,
		    IMPORT_EVERYBODY);
	return status;
}
