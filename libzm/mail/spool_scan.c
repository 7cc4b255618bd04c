/* spool_scan.c - looking around in an area
 *
 * In     an area
 * Out    each file's name, the directories below it included
 * Holds  one directory at a time a level
 * Spec   doc/INTERNALS.md section 1
 *
 * SPDX-License-Identifier: ISC
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "mail/spool_internal.h"

#include "base/banned.h"

enum { HASH_LEVELS_MAX = 2 };

struct scan {
	spool_entry_fn	*fn;
	void		*context;
	bool		 is_hashed;	/* capital letters are directories */
	const char	*spread;	/* NULL, or a directory in which all
					 * letters are */
	bool		 is_stopped;
};

static bool
is_letter(const char *name)
{
	return name[0] >= 'A' && name[0] <= 'Z' && name[1] == '\0';
}

static bool
is_directory(const struct scan *scan, int level, const char *name)
{
	if (level >= HASH_LEVELS_MAX)
		return false;
	if (scan->spread == NULL)
		return scan->is_hashed && is_letter(name);
	if (level == 0)
		return strcmp(name, scan->spread) == 0;
	return name[0] != '\0' && name[1] == '\0' &&
	    strchr(SPOOL_SPREAD_LETTERS, name[0]) != NULL;
}

static int
scan_dir(struct scan *scan, int parent_fd, const char *prefix, int level)
{
	int fd = openat(parent_fd, *prefix ? prefix : ".", O_RDONLY |
	    O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), result = 0;
	char name[SPOOL_NAME_BYTES * 4];
	struct dirent *entry;
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (dir == NULL) {
		if (fd >= 0)
			close(fd);
		return -1;
	}
	while (!scan->is_stopped && result == 0) {
		errno = 0;
		entry = readdir(dir);
		if (entry == NULL) {
			result = errno == 0 ? 0 : -1;
			break;
		}
		if (strcmp(entry->d_name, ".") == 0 ||
		    strcmp(entry->d_name, "..") == 0)
			continue;
		snprintf(name, sizeof(name), "%s%s%s", prefix,
		    *prefix ? "/" : "", entry->d_name);
		if (is_directory(scan, level, entry->d_name)) {
			result = scan_dir(scan, parent_fd, name, level + 1);
			continue;
		}
		if (!scan->fn(scan->context, name, entry->d_ino))
			scan->is_stopped = true;
	}
	closedir(dir);
	return result;
}

int
spool_scan_entries(const struct spool *spool, enum spool_area area,
    unsigned priority, spool_entry_fn *fn, void *context, struct err *err)
{
	struct scan scan = { .fn = fn, .context = context, .is_hashed =
	    area == AREA_QUEUE || area == AREA_TRANSPORT,
	    .spread = priority == 0 ? spool_spread_dir(area) : NULL };
	int dir_fd = spool_dir_fd(spool, area, priority);

	if (dir_fd < 0 && area == AREA_ROUTER && priority > 0)
		return 0;
	if (dir_fd < 0 || scan_dir(&scan, dir_fd, "", 0) != 0)
		return err_sys(err, "read spool directory %s",
		    spool_label(area, priority, ""));
	return 0;
}

struct plain_scan {
	spool_scan_fn	*fn;
	void		*context;
};

static bool
plain_entry(void *context, const char *name, ino_t inode)
{
	struct plain_scan *plain = context;

	return plain->fn(plain->context, name);
}

int
spool_scan(const struct spool *spool, enum spool_area area,
    unsigned priority, spool_scan_fn *fn, void *context, struct err *err)
{
	struct plain_scan plain = { fn, context };

	return spool_scan_entries(spool, area, priority, plain_entry, &plain,
	    err);
}
