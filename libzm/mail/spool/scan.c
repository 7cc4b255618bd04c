/* scan.c - looking around in an area
 *
 * In     an area
 * Out    each file's name, the directories below it included
 * Holds  one directory at a time a level; a walk in pieces keeps them open
 * Spec   doc/INTERNALS.md section 1
 *
 * SPDX-License-Identifier: ISC
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/ascii.h"
#include "mail/spool/internal.h"

#include "base/banned.h"

enum { HASH_LEVELS_MAX = 2 };

struct level {
	DIR	*dir;
	char	 prefix[8];	/* "", "A", "A/B", "plans/x" */
};

struct spool_walk {
	bool		 is_hashed;	/* capital letters are directories */
	const char	*spread;	/* NULL, or a directory in which all
					 * letters are */
	char		 label[SPOOL_NAME_BYTES];
	int		 top_fd;	/* the area's; not ours */
	unsigned	 depth;		/* levels in use; 0: it is over */
	struct level	 levels[HASH_LEVELS_MAX + 1];
};

static bool
scan_is_letter(const char *name)
{
	return ascii_is_upper(name[0]) && name[1] == '\0';
}

static bool
is_directory(const struct spool_walk *walk, const char *name)
{
	if (walk->depth > HASH_LEVELS_MAX)
		return false;
	if (walk->spread == NULL)
		return walk->is_hashed && scan_is_letter(name);
	if (walk->depth == 1)
		return strcmp(name, walk->spread) == 0;
	return name[0] != '\0' && name[1] == '\0' &&
	    strchr(SPOOL_SPREAD_LETTERS, name[0]) != NULL;
}

static int
level_enter(struct spool_walk *walk, const char *name)
{
	struct level *level = &walk->levels[walk->depth];
	int fd;

	if (strlcpy(level->prefix, name, sizeof(level->prefix)) >=
	    sizeof(level->prefix)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	fd = openat(walk->top_fd, *name ? name : ".", O_RDONLY | O_DIRECTORY |
	    O_NOFOLLOW | O_CLOEXEC);
	level->dir = fd < 0 ? NULL : fdopendir(fd);
	if (level->dir == NULL) {
		if (fd >= 0)
			close(fd);
		return -1;
	}
	walk->depth++;
	return 0;
}

static void
level_leave(struct spool_walk *walk)
{
	closedir(walk->levels[--walk->depth].dir);
}

static void
walk_end(struct spool_walk *walk)
{
	while (walk->depth > 0)
		level_leave(walk);
}

static int
walk_begin(struct spool_walk *walk, const struct spool *spool,
    enum spool_area area, unsigned priority)
{
	*walk = (struct spool_walk){ .is_hashed = area == AREA_QUEUE ||
	    area == AREA_TRANSPORT, .spread = priority == 0 ?
	    spool_spread_dir(area) : NULL, .top_fd =
	    spool_dir_fd(spool, area, priority) };
	strlcpy(walk->label, spool_label(area, priority, ""),
	    sizeof(walk->label));
	if (walk->top_fd < 0 && area == AREA_ROUTER && priority > 0)
		return 0;		/* there is none: nothing in it */
	return walk->top_fd < 0 ? -1 : level_enter(walk, "");
}

/* The next name; 1 a file, 0 a directory was entered or left, -1 errno. */
static int
walk_next(struct spool_walk *walk, char *name, size_t size, ino_t *out_inode)
{
	const struct level *level = &walk->levels[walk->depth - 1];
	struct dirent *entry;
	size_t n;

	errno = 0;
	entry = readdir(level->dir);
	if (entry == NULL) {
		if (errno != 0)
			return -1;
		level_leave(walk);
		return 0;
	}
	if (strcmp(entry->d_name, ".") == 0 ||
	    strcmp(entry->d_name, "..") == 0)
		return 0;
	n = strlcpy(name, level->prefix, size);
	if (n > 0)
		name[n++] = '/';
	strlcpy(name + n, entry->d_name, size - n);
	if (is_directory(walk, entry->d_name))
		return level_enter(walk, name);
	*out_inode = entry->d_ino;
	return 1;
}

/* At most so many files more.  1 there may be others, 0 it is over, -1. */
static int
walk_on(struct spool_walk *walk, size_t most, spool_entry_fn *fn,
    void *context)
{
	char name[NAME_MAX + sizeof(walk->levels[0].prefix) + 2];
	ino_t inode = 0;

	while (walk->depth > 0 && most > 0) {
		int got = walk_next(walk, name, sizeof(name), &inode);

		if (got < 0)
			return -1;
		if (got == 0)
			continue;
		most--;
		if (!fn(context, name, inode))
			walk_end(walk);
	}
	return walk->depth > 0;
}

int
spool_scan_entries(const struct spool *spool, enum spool_area area,
    unsigned priority, spool_entry_fn *fn, void *context, struct err *err)
{
	struct spool_walk walk;
	int result = walk_begin(&walk, spool, area, priority);

	if (result == 0)
		result = walk_on(&walk, SIZE_MAX, fn, context);
	if (result < 0)
		err_sys(err, "read spool directory %s", walk.label);
	walk_end(&walk);
	return result;
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

/* ---- in pieces ----------------------------------------------------- */

int
spool_walk_new(const struct spool *spool, enum spool_area area,
    struct spool_walk **out, struct err *err)
{
	struct spool_walk *walk = mem_alloc(1, sizeof(*walk));

	*out = NULL;
	if (walk_begin(walk, spool, area, 0) < 0) {
		err_sys(err, "read spool directory %s", walk->label);
		mem_free(&walk);
		return -1;
	}
	*out = walk;
	return 0;
}

enum spool_stepped
spool_walk_step(struct spool_walk *walk, size_t most, spool_scan_fn *fn,
    void *context, struct err *err)
{
	struct plain_scan plain = { fn, context };
	int result = walk_on(walk, most, plain_entry, &plain);

	if (result < 0)
		err_sys(err, "read spool directory %s", walk->label);
	return result;
}

void
spool_walk_free(struct spool_walk **walk)
{
	if (*walk == NULL)
		return;
	walk_end(*walk);
	mem_free(walk);
}

void
spool_read_soon(int fd)
{
	(void)posix_fadvise(fd, 0, SPOOL_SOON_BYTES, POSIX_FADV_WILLNEED);
}

/* ---- files, opened ahead ------------------------------------------- */

enum { FILES_AHEAD = 64 };

struct open_file {
	int	fd;
	char	name[NAME_MAX + 16];
};

struct opening {
	int		 dir_fd;
	spool_file_fn	*fn;
	void		*context;
	struct open_file ring[FILES_AHEAD];
	size_t		 first, count;
	bool		 is_over;
};

/* Look at the oldest until so many are left. */
static void
files_end(struct opening *opening, size_t most)
{
	for (; opening->count > most; opening->count--) {
		struct open_file *file = &opening->ring[opening->first++ %
		    FILES_AHEAD];

		if (!opening->is_over && !opening->fn(opening->context,
		    file->name, file->fd))
			opening->is_over = true;
		close(file->fd);
	}
}

static bool
file_ahead(void *context, const char *name)
{
	struct opening *opening = context;
	struct open_file *file;
	int fd = spool_open_file(opening->dir_fd, name, O_RDONLY);

	if (fd < 0)
		return true;		/* it went on meanwhile */
	spool_read_soon(fd);
	files_end(opening, FILES_AHEAD - 1);
	file = &opening->ring[(opening->first + opening->count++) %
	    FILES_AHEAD];
	file->fd = fd;
	strlcpy(file->name, name, sizeof(file->name));
	return !opening->is_over;
}

int
spool_scan_files(const struct spool *spool, enum spool_area area,
    unsigned priority, spool_file_fn *fn, void *context, struct err *err)
{
	struct opening opening = { .fn = fn, .context = context,
	    .dir_fd = spool_dir_fd(spool, area, priority) };
	int result = spool_scan(spool, area, priority, file_ahead, &opening,
	    err);

	files_end(&opening, 0);
	return result;
}
