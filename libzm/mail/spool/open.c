/* open.c - the spool's directories: made, checked, held open
 *
 * In     a directory's name
 * Out    a struct spool with a descriptor for each area
 * Holds  one descriptor an area for the life of the process
 * Trusts a local file system only; all areas must be on the same one
 * Spec   doc/INTERNALS.md sections 1 and 6
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/vfs.h>
#endif

#include "base/clock.h"
#include "base/fd.h"
#include "mail/spool/internal.h"

#include "base/banned.h"

#ifdef O_PATH
#define OPEN_SEARCH O_PATH	/* public/ may be written, not listed */
#else
#define OPEN_SEARCH O_RDONLY
#endif

enum { PINS_MAX = 4096, FILES_PER_PIN = 4, FORMAT_BYTES = 128 };

static const char hash_letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

enum { ROW_PLANS = AREA_COUNT, ROW_COUNT };	/* router/plans/ */

/* Who owns what when root makes a spool. */
static const struct area_row {
	const char	*owner, *group;
	mode_t		 mode;
} area_rows[ROW_COUNT] = {
	[AREA_PUBLIC] = { "zmrouter", "zmrouter", 03733 },
	[AREA_ROUTER] = { "zmrouter", "zmsubmit", 01730 },
	[AREA_QUEUE] = { "zmsched", "zmrouter", 02770 },
	[AREA_TRANSPORT] = { "zmsched", "zmrouter", 02770 },
	[AREA_DEFERRED] = { "zmrouter", "zmrouter", 02770 },
	[AREA_FREEZER] = { "zmrouter", "zmsubmit", 01730 },
	[AREA_POSTMAN] = { "zmrouter", "zmrouter", 02770 },
	[AREA_TRASH] = { "zmrouter", "zmrouter", 02770 },
	[ROW_PLANS] = { "zmrouter", "zmrouter", 0700 },
};

/* Owner, group and mode as section 6 has them.  An account that does not
 * exist leaves root as owner: nobody gets more than was meant; zmailer run
 * settles it by the accounts of the configuration.  Looked up once: there
 * are 1404 hash directories. */
static int
area_settle(int dir_fd, const struct area_row *row)
{
	static struct { bool is_known; uid_t uid; gid_t gid; }
	    accounts[ROW_COUNT];
	size_t i = (size_t)(row - area_rows);

	if (!accounts[i].is_known) {
		struct passwd *pw = getpwnam(row->owner);
		struct group *gr = getgrnam(row->group);

		accounts[i].uid = pw ? pw->pw_uid : 0;
		accounts[i].gid = gr ? gr->gr_gid : 0;
		accounts[i].is_known = true;
	}
	if (fchown(dir_fd, accounts[i].uid, accounts[i].gid) != 0)
		return -1;
	return fchmod(dir_fd, row->mode);
}

/* Open name below dir_fd; make it first if that is wanted.  Returns a
 * descriptor, -1 with errno. */
static int
dir_open(int dir_fd, const char *name, const struct area_row *row,
    enum spool_flags flags)
{
	int how = O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, fd;
	bool is_new = false;

	if (flags & SPOOL_CREATE) {
		is_new = mkdirat(dir_fd, name, 0700) == 0;
		if (!is_new && errno != EEXIST)
			return -1;
	}
	fd = openat(dir_fd, name, O_RDONLY | how);
	if (fd < 0 && errno == EACCES)
		fd = openat(dir_fd, name, OPEN_SEARCH | how);
	if (fd >= 0 && is_new && geteuid() == 0 && area_settle(fd, row) != 0) {
		int saved = errno;

		close(fd);
		errno = saved;
		return -1;
	}
	return fd;
}

static int
same_file_system(const struct spool *spool, int fd, const char *dir,
    const char *name, struct err *err)
{
	struct stat st;

	if (fstat(fd, &st) != 0)
		return err_sys(err, "stat %s/%s", dir, name);
	if (spool->device != st.st_dev)
		return err_set(err, "%s/%s is on another file system than %s; "
		    "messages move by rename: put all of the spool on one",
		    dir, name, dir);
	return 0;
}

/* A missing directory is an error; one that is not ours to open is -1. */
static int
area_open(struct spool *spool, const char *dir, const char *name,
    enum spool_area area, int *out_fd, struct err *err)
{
	int fd = dir_open(spool->dir_fd, name, &area_rows[area], spool->flags);

	*out_fd = fd;
	if (fd < 0 && errno == EACCES)
		return 0;
	if (fd < 0 && errno == ENOENT)
		return err_set(err, "%s/%s does not exist; zmailer init makes "
		    "a spool", dir, name);
	if (fd < 0)
		return err_sys(err, "open %s/%s", dir, name);
	return same_file_system(spool, fd, dir, name, err);
}

static int
hash_make(int parent, const char *letters, unsigned levels,
    const struct area_row *row)
{
	for (; *letters != '\0'; letters++) {
		const char name[] = { *letters, '\0' };
		int fd = dir_open(parent, name, row, SPOOL_CREATE), result = 0;

		if (fd < 0)
			return -1;
		if (levels > 1)
			result = hash_make(fd, hash_letters, levels - 1, row);
		close(fd);
		if (result != 0)
			return -1;
	}
	return 0;
}

/* Where drafts and plans are made: spread.c tells why. */
static int
spread_make(const struct spool *spool, enum spool_area area)
{
	const struct area_row *row = &area_rows[area == AREA_ROUTER ?
	    ROW_PLANS : area];
	int fd = dir_open(spool->area_fd[area], spool_spread_dir(area), row,
	    SPOOL_CREATE), result;

	if (fd < 0)
		return -1;
	spool_spread_flag(fd);
	result = hash_make(fd, SPOOL_SPREAD_LETTERS, 1, row);
	close(fd);
	return result;
}

/* Router's lower priorities: where one is missing, mail of that priority
 * goes to router/ itself. */
static int
priorities_open(struct spool *spool, const char *dir, struct err *err)
{
	char name[16];

	for (unsigned i = 1; i < SPOOL_PRIORITIES; i++) {
		snprintf(name, sizeof(name), "router.%u", i);
		spool->router_fd[i] = dir_open(spool->dir_fd, name,
		    &area_rows[AREA_ROUTER], spool->flags);
		if (spool->router_fd[i] < 0) {
			if (errno != EACCES && errno != ENOENT)
				return err_sys(err, "open %s/%s", dir, name);
			continue;
		}
		if (same_file_system(spool, spool->router_fd[i], dir, name,
			err) != 0)
			return -1;
	}
	return 0;
}

#ifdef __linux__
/* File systems whose rename, lock or append other hosts can see late. */
static const struct {
	unsigned long	 magic;
	const char	*name;
} network_rows[] = {
	{ 0x6969, "NFS" }, { 0x517b, "SMB" }, { 0xff534d42, "CIFS" },
	{ 0xfe534d42, "SMB2" }, { 0x65735546, "FUSE" },
	{ 0x5346414f, "AFS" }, { 0x73757245, "Coda" },
	{ 0x00c36400, "Ceph" }, { 0x01021997, "9P" },
	{ 0x7461636f, "OCFS2" }, { 0x01161970, "GFS2" },
	{ 0x0bd00bd0, "Lustre" },
};

enum { MAGIC_TMPFS = 0x01021994 };
#define MAGIC_BTRFS 0x9123683eul
#define MAGIC_RAMFS 0x858458f6ul

static bool
fs_is_in_memory(const struct statfs *fs)
{
	return (unsigned long)fs->f_type == MAGIC_TMPFS ||
	    (unsigned long)fs->f_type == MAGIC_RAMFS;
}

bool
spool_is_in_memory(const char *dir)
{
	struct statfs fs;

	return statfs(dir, &fs) == 0 && fs_is_in_memory(&fs);
}

/* btrfs replays the syncs of single files and directories, not what else was
 * done before them: the removal of a body that was moved since it was synced
 * may be forgotten although the directory it was in is synced. */
static void
look_at_btrfs(struct spool *spool)
{
	struct statfs fs;

	spool->is_btrfs = fstatfs(spool->dir_fd, &fs) == 0 &&
	    (unsigned long)fs.f_type == MAGIC_BTRFS;
}

static int
refuse_network(const struct spool *spool, const char *dir, struct err *err)
{
	struct statfs fs;

	if (fstatfs(spool->dir_fd, &fs) != 0)
		return err_sys(err, "statfs %s", dir);
	if ((spool->flags & SPOOL_MEMORY) && !fs_is_in_memory(&fs))
		return err_set(err, "%s is on a disk: `sync ephemeral` is for "
		    "a spool in memory (tmpfs); say `sync group`, or name a "
		    "directory like /dev/shm/zmailer", dir);
	for (size_t i = 0; i < sizeof(network_rows) / sizeof(network_rows[0]);
	    i++)
		if ((unsigned long)fs.f_type == network_rows[i].magic)
			return err_set(err, "%s is on %s, which does not keep "
			    "the promises mail needs; use a local disk, or "
			    "say 'sync unsafe'", dir, network_rows[i].name);
	return 0;
}
#else
static void
look_at_btrfs(struct spool *spool)
{
	spool->is_btrfs = false;
}

bool
spool_is_in_memory(const char *dir)
{
	(void)dir;
	return false;
}

static int
refuse_network(const struct spool *spool, const char *dir, struct err *err)
{
	return 0;
}
#endif

/* "zmailer-spool N WRITER" in SPOOL/format: what a program that does not know
 * format N would take for damaged, and deliver once more.  Format 1 needs no
 * such file. */
static int
format_check(const struct spool *spool, const char *dir, struct err *err)
{
	char text[FORMAT_BYTES];
	struct slice rest, line, word;
	struct str writer = STR_INIT;
	uint64_t number = 0;
	ssize_t n;
	int fd = openat(spool->dir_fd, SPOOL_FORMAT_FILE, O_RDONLY |
	    O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0 && errno == ENOENT)
		return 0;
	n = fd < 0 ? -1 : fd_read_at(fd, text, sizeof(text), 0);
	if (n < 0)
		err_sys(err, "read %s/" SPOOL_FORMAT_FILE, dir);
	if (fd >= 0)
		close(fd);
	if (n < 0)
		return -1;
	rest = (struct slice){ text, (size_t)n };
	/* without its end the number may be the front of another */
	if (!slice_cut(&rest, '\n', &line) || rest.p == NULL ||
	    !slice_word(&line, &word) || !slice_is(word, "zmailer-spool") ||
	    !slice_word(&line, &word) ||
	    !slice_number(word, 1, UINT32_MAX, &number))
		return err_set(err, "%s/" SPOOL_FORMAT_FILE " does not say "
		    "which format the spool has: bring it back from the "
		    "backup", dir);
	if (number <= SPOOL_FORMAT)
		return 0;
	str_add_escaped(&writer, slice_word(&line, &word) ? word :
	    slice_of("newer"));
	err_set(err, "%s has format %" PRIu64 ", this program reads format %d: "
	    "run zmailer %s again, or let that deliver what waits first", dir,
	    number, SPOOL_FORMAT, writer.buf);
	str_release(&writer);
	return -1;
}

static int
areas_open(struct spool *spool, const char *dir, struct err *err)
{
	int end = spool->flags & SPOOL_SUBMIT ? AREA_ROUTER + 1 : AREA_COUNT;

	for (int i = 0; i < end; i++)
		if (area_open(spool, dir, spool_area_names[i],
			(enum spool_area)i, &spool->area_fd[i], err) != 0)
			return -1;
	spool->router_fd[0] = spool->area_fd[AREA_ROUTER];
	if ((spool->flags & SPOOL_SUBMIT) == 0 &&
	    priorities_open(spool, dir, err) != 0)
		return -1;
	/* drafts that stay in public/ must be where the router hears of them */
	spool->is_spread = faccessat(spool->dir_fd, "router", W_OK | X_OK,
	    AT_EACCESS) == 0;
	if ((spool->flags & SPOOL_CREATE) == 0)
		return 0;
	for (int i = AREA_PUBLIC; i <= AREA_ROUTER; i++)
		if (spread_make(spool, (enum spool_area)i) != 0)
			return err_sys(err, "make directories in %s/%s", dir,
			    spool_area_names[i]);
	for (int i = AREA_QUEUE; i <= AREA_TRANSPORT &&
	    spool->hash_levels > 0; i++)
		if (hash_make(spool->area_fd[i], hash_letters,
			spool->hash_levels, &area_rows[i]) != 0)
			return err_sys(err, "make hash directories in %s/%s",
			    dir, spool_area_names[i]);
	return 0;
}

static void
read_umask(struct spool *spool)
{
	mode_t mask = umask(077);

	umask(mask);
	spool->must_chmod = (mask & SPOOL_CONTROL_MODE) != 0;
}

static void
limit_pins(struct spool *spool)
{
	struct rlimit limit;

	spool->pin_max = PINS_MAX;
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 &&
	    limit.rlim_cur / FILES_PER_PIN < PINS_MAX)
		spool->pin_max = (size_t)limit.rlim_cur / FILES_PER_PIN;
}

int
spool_open(const char *dir, enum spool_flags flags, unsigned hash_levels,
    struct spool **out, struct err *err)
{
	struct spool *spool = mem_alloc(1, sizeof(*spool));
	int how = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
	struct stat st;

	*out = spool;
	memset(spool->area_fd, -1, sizeof(spool->area_fd));
	memset(spool->router_fd, -1, sizeof(spool->router_fd));
	clock_file_now(&spool->opened, NULL);
	spool->flags = flags;
	spool->hash_levels = hash_levels;
	read_umask(spool);
	if ((flags & SPOOL_SUBMIT) == 0)	/* which pins nothing */
		limit_pins(spool);
	if ((flags & SPOOL_CREATE) &&
	    mkdir(dir, geteuid() == 0 ? 0755 : 0700) != 0 &&
	    errno != EEXIST) {
		err_sys(err, "make %s", dir);
		spool->dir_fd = -1;
		goto fail;
	}
	spool->dir_fd = open(dir, how);
	if (spool->dir_fd < 0 && errno == EACCES)
		spool->dir_fd = open(dir,
		    OPEN_SEARCH | O_DIRECTORY | O_CLOEXEC);
	if (spool->dir_fd < 0 || fstat(spool->dir_fd, &st) != 0) {
		err_sys(err, "open spool %s", dir);
		goto fail;
	}
	spool->device = st.st_dev;
	look_at_btrfs(spool);
	if (hash_levels > 2) {
		err_set(err, "hash %u: 0, 1 or 2 levels", hash_levels);
		goto fail;
	}
	if (((flags & SPOOL_UNSAFE_FS) == 0 &&
	    refuse_network(spool, dir, err) != 0) ||
	    format_check(spool, dir, err) != 0 ||
	    areas_open(spool, dir, err) != 0)
		goto fail;
	return 0;
fail:
	spool_close(out);
	return -1;
}

void
spool_set_size(struct spool *spool, uint64_t size_max)
{
	spool->size_max = size_max;
}

void
spool_set_node(struct spool *spool, const char *node)
{
	snprintf(spool->node, sizeof(spool->node), "%s", node);
}

void
spool_make_id(const struct spool *spool, ino_t inode,
    char out_id[SPOOL_ID_BYTES])
{
	spool_id_make(clock_wall_us(), inode, out_id);
	spool_id_add_node(spool->node, out_id);
}

void
spool_close(struct spool **spool)
{
	struct spool *old = *spool;

	if (old == NULL)
		return;
	for (unsigned i = 1; i < SPOOL_PRIORITIES; i++)
		if (old->router_fd[i] >= 0)
			close(old->router_fd[i]);
	for (int i = 0; i < AREA_COUNT; i++)
		if (old->area_fd[i] >= 0)
			close(old->area_fd[i]);
	if (old->dir_fd >= 0)
		close(old->dir_fd);
	mem_free(spool);
}

int
spool_dir_fd(const struct spool *spool, enum spool_area area,
    unsigned priority)
{
	if (area == AREA_ROUTER && priority < SPOOL_PRIORITIES)
		return spool->router_fd[priority];
	return spool->area_fd[area];
}

uint64_t
spool_free_bytes(const struct spool *spool)
{
	struct statvfs fs;

	if (fstatvfs(spool->area_fd[AREA_PUBLIC], &fs) != 0)
		return UINT64_MAX;
	if (fs.f_files > 0 && fs.f_favail == 0)
		return 0;
	return (uint64_t)fs.f_bavail * fs.f_frsize;
}

unsigned
spool_hash_levels(const struct spool *spool)
{
	return spool->hash_levels;
}
