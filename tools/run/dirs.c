/* dirs.c - the directories of an instance, and whose they are
 *
 * In     the configuration; as root the accounts of the roles
 * Out    directories that exist with owner, group and mode
 * Trusts no symbolic link below the spool
 * Spec   doc/INTERNALS.md section 6
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "daemon/skeleton.h"
#include "io/dns/dns.h"
#include "io/consult/notify_ask.h"
#include "io/consult/sts_ask.h"
#include "mail/spool/keep.h"
#include "tools/journal/record_bodies.h"
#include "tools/run/supervisor.h"

#include "base/banned.h"

#define SMTPSERVER_DIR "smtpserver"

enum { PATH_BYTES = 4200 };

/* owner, group: a role's account and its primary group. */
static const struct dir_row {
	enum spool_area	area;
	enum conf_role	owner, group;
	mode_t		mode;
} dir_rows[] = {
	{ AREA_PUBLIC, ROLE_ROUTER, ROLE_ROUTER, 03733 },
	{ AREA_ROUTER, ROLE_ROUTER, ROLE_SMTPSERVER, 01730 },
	{ AREA_QUEUE, ROLE_SCHEDULER, ROLE_ROUTER, 02770 },
	{ AREA_TRANSPORT, ROLE_SCHEDULER, ROLE_ROUTER, 02770 },
	{ AREA_DEFERRED, ROLE_ROUTER, ROLE_ROUTER, 02770 },
	{ AREA_FREEZER, ROLE_ROUTER, ROLE_SMTPSERVER, 01730 },
	{ AREA_POSTMAN, ROLE_ROUTER, ROLE_ROUTER, 02770 },
	{ AREA_TRASH, ROLE_ROUTER, ROLE_ROUTER, 02770 },
};

struct owners {
	uid_t	uid[ROLE_COUNT];
	gid_t	gid[ROLE_COUNT];
};

/* mkdir -p: parents 0755 whatever the umask, the last one with mode. */
static int
path_make(const char *path, mode_t mode, struct err *err)
{
	char part[PATH_BYTES];
	size_t n = strlen(path);
	mode_t before;
	int result = 0;

	if (n == 0 || n >= sizeof(part))
		return err_set(err, "'%s' is no name for a directory", path);
	memcpy(part, path, n + 1);
	before = umask(0);
	for (size_t i = 1; i <= n && result == 0; i++) {
		if (part[i] != '/' && part[i] != '\0')
			continue;
		part[i] = '\0';
		if (mkdir(part, i == n ? mode : 0755) < 0 && errno != EEXIST)
			result = err_sys(err, "cannot make %s", part);
		part[i] = path[i];
	}
	umask(before);
	return result;
}

static int
dir_own(int at, const char *name, uid_t uid, gid_t gid, mode_t mode,
    struct err *err)
{
	int fd = openat(at, name,
	    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;
	int result = 0;

	if (fd < 0)
		return err_sys(err, "cannot open the directory %s", name);
	if (fstat(fd, &st) < 0 ||
	    ((st.st_uid != uid || st.st_gid != gid) &&
	    fchown(fd, uid, gid) < 0) ||
	    ((st.st_mode & 07777) != mode && fchmod(fd, mode) < 0))
		result = err_sys(err, "cannot give %s its owner and mode",
		    name);
	close(fd);
	return result;
}

/* The letters below name, and what is below these. */
static int
hash_own(int spool_fd, const char *name, const char *letters, unsigned levels,
    const struct owners *owners, const struct dir_row *row, struct err *err)
{
	char below[64];

	for (const char *p = letters; levels > 0 && *p != '\0'; p++) {
		snprintf(below, sizeof(below), "%s/%c", name, *p);
		if (dir_own(spool_fd, below, owners->uid[row->owner],
		    owners->gid[row->group], row->mode, err) < 0 ||
		    hash_own(spool_fd, below, letters, levels - 1, owners, row,
		    err) < 0)
			return -1;
	}
	return 0;
}

/* public/new/ and its letters as public/; router/plans/ the router's. */
static int
spread_own(int spool_fd, const struct owners *owners,
    const struct dir_row *row, struct err *err)
{
	static const struct dir_row plans = { AREA_ROUTER, ROLE_ROUTER,
	    ROLE_ROUTER, 0700 };
	const char *dir = spool_spread_dir(row->area);
	char name[64];

	if (dir == NULL)
		return 0;
	if (row->area == AREA_ROUTER)
		row = &plans;
	snprintf(name, sizeof(name), "%s/%s", spool_area_names[row->area],
	    dir);
	if (dir_own(spool_fd, name, owners->uid[row->owner],
	    owners->gid[row->group], row->mode, err) < 0)
		return -1;
	return hash_own(spool_fd, name, SPOOL_SPREAD_LETTERS, 1, owners, row,
	    err);
}

static int
area_own(int spool_fd, const struct dir_row *row, unsigned hash_levels,
    const struct owners *owners, struct err *err)
{
	bool is_hashed = row->area == AREA_QUEUE ||
	    row->area == AREA_TRANSPORT;
	unsigned copies = row->area == AREA_ROUTER ? SPOOL_PRIORITIES : 1;
	char name[32];

	for (unsigned i = 0; i < copies; i++) {
		snprintf(name, sizeof(name), i == 0 ? "%s" : "%s.%u",
		    spool_area_names[row->area], i);
		if (dir_own(spool_fd, name, owners->uid[row->owner],
		    owners->gid[row->group], row->mode, err) < 0)
			return -1;
	}
	if (spread_own(spool_fd, owners, row, err) < 0)
		return -1;
	return hash_own(spool_fd, spool_area_names[row->area],
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZ", is_hashed ? hash_levels : 0, owners,
	    row, err);
}

static int
spool_own(const struct conf *conf, const struct owners *owners,
    struct err *err)
{
	int fd = open(conf->spool_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int result = 0;

	if (fd < 0)
		return err_sys(err, "cannot open %s", conf->spool_dir);
	for (size_t i = 0; i < sizeof(dir_rows) / sizeof(dir_rows[0]) &&
	    result == 0; i++)
		result = area_own(fd, &dir_rows[i], conf->hash_levels, owners,
		    err);
	/* what smtpserver keeps for itself: the greylist */
	if (result == 0 && mkdirat(fd, SMTPSERVER_DIR, 0700) < 0 &&
	    errno != EEXIST)
		result = err_sys(err, "cannot make " SMTPSERVER_DIR);
	if (result == 0)
		result = dir_own(fd, SMTPSERVER_DIR,
		    owners->uid[ROLE_SMTPSERVER],
		    owners->gid[ROLE_SMTPSERVER], 0700, err);
	close(fd);
	if (result < 0)
		return err_prefix(err, "%s", conf->spool_dir);
	return 0;
}

/* As root with accounts: the table.  RUN: sockets of router and scheduler,
 * nobody removes another's; LOG: every role, agents too, appends to the
 * journal, so it is the agents' group (which owns nothing else). */
static int
owners_set(const struct conf *conf, struct err *err)
{
	struct owners owners = { { 0 }, { 0 } };

	for (enum conf_role role = 0; role < ROLE_COUNT; role++)
		if (conf_uses_role(conf, role) && daemon_account(conf, role,
		    &owners.uid[role], &owners.gid[role], err) < 0)
			return -1;
	if (dir_own(AT_FDCWD, conf->spool_dir, 0, 0, 0755, err) < 0 ||
	    dir_own(AT_FDCWD, conf->run_dir, 0, owners.gid[ROLE_ROUTER],
	    01775, err) < 0 ||
	    dir_own(AT_FDCWD, conf->log_dir, 0, owners.gid[ROLE_AGENT],
	    02770, err) < 0)
		return -1;
	return spool_own(conf, &owners, err);
}

/* What smtpserver keeps for itself, and its room. */
static int
smtpserver_make(const struct conf *conf, struct err *err)
{
	char path[PATH_BYTES];

	snprintf(path, sizeof(path), "%s/" SMTPSERVER_DIR, conf->spool_dir);
	return path_make(path, 0700, err);
}

int
dirs_prepare_record(const struct conf *conf, struct err *err)
{
	char path[PATH_BYTES];
	uid_t uid;
	gid_t gid;

	if (conf->record_ms == 0 || conf->record_bodies_max_bytes == 0)
		return 0;
	snprintf(path, sizeof(path), "%s/" SPOOL_KEPT_DIR, conf->spool_dir);
	if (path_make(path, 0700, err) < 0)
		return -1;
	if (!daemon_is_private(conf) && (daemon_account(conf, ROLE_SMTPSERVER,
	    &uid, &gid, err) < 0 ||
	    dir_own(AT_FDCWD, path, uid, gid, 0700, err) < 0))
		return -1;
	record_bodies_prepare(conf, clock_wall_us() / 1000);
	return 0;
}

int
dirs_prepare(const struct conf *conf, struct err *err)
{
	struct spool *spool;

	if (path_make(conf->spool_dir, 0700, err) < 0 ||
	    path_make(conf->run_dir, 0700, err) < 0 ||
	    path_make(conf->log_dir, 0700, err) < 0 ||
	    conf_spool_open(conf, SPOOL_CREATE, &spool,
	    err) < 0)
		return -1;
	spool_close(&spool);
	if ((daemon_is_private(conf) ? smtpserver_make(conf, err) :
	    owners_set(conf, err)) < 0)
		return -1;
	return dirs_prepare_record(conf, err);
}

/* What one role keeps for itself. */
static int
dirs_prepare_own(const struct conf *conf, const char *name,
    enum conf_role role, struct err *err)
{
	char path[PATH_BYTES];
	uid_t uid;
	gid_t gid;

	snprintf(path, sizeof(path), "%s/%s", conf->spool_dir, name);
	if (path_make(path, 0700, err) < 0)
		return -1;
	if (daemon_is_private(conf))
		return 0;
	if (daemon_account(conf, role, &uid, &gid, err) < 0)
		return -1;
	return dir_own(AT_FDCWD, path, uid, gid, 0700, err);
}

/* Agents read what is kept where the process does not answer, and do not list
 * it; files in it get their group. */
int
dirs_prepare_sts(const struct conf *conf, struct err *err)
{
	char path[PATH_BYTES];
	uid_t uid, agent;
	gid_t gid;

	if (dirs_prepare_own(conf, STS_DIR, ROLE_STS, err) < 0)
		return -1;
	if (daemon_is_private(conf))
		return 0;
	if (daemon_account(conf, ROLE_STS, &uid, &gid, err) < 0 ||
	    daemon_account(conf, ROLE_AGENT, &agent, &gid, err) < 0)
		return -1;
	snprintf(path, sizeof(path), "%s/" STS_DIR, conf->spool_dir);
	return dir_own(AT_FDCWD, path, uid, gid, 02710, err);
}

int
dirs_prepare_resolver(const struct conf *conf, struct err *err)
{
	return dirs_prepare_own(conf, RESOLVER_DIR, ROLE_RESOLVER, err);
}

int
dirs_prepare_notify(const struct conf *conf, struct err *err)
{
	return dirs_prepare_own(conf, NOTIFY_DIR, ROLE_NOTIFY, err);
}

/* ---- looking only ---------------------------------------------------- */

struct look {
	const struct conf	*conf;
	struct owners		 owners;
	bool			 is_private;
	dirs_say_fn		*say;
	void			*context;
	unsigned		 count;
};

static void
dirs_complain(struct look *look, const char *path, const char *what)
{
	look->count++;
	look->say(look->context, path, what);
}

/* A private instance belongs to one user; nobody else writes to its top
 * directories (those below are made with the modes of the table). */
static void
dir_look(struct look *look, const char *name, uid_t uid, gid_t gid,
    mode_t mode)
{
	char path[PATH_BYTES], what[128];
	struct stat st;

	snprintf(path, sizeof(path), "%s%s%s",
	    name[0] == '/' ? "" : look->conf->spool_dir,
	    name[0] == '/' ? "" : "/", name);
	if (lstat(path, &st) != 0) {
		dirs_complain(look, path, strerror(errno));
		return;
	}
	if (!S_ISDIR(st.st_mode)) {
		dirs_complain(look, path, "it is no directory");
	} else if (look->is_private && name[0] == '/' &&
	    (st.st_mode & 022) != 0) {
		dirs_complain(look, path,
		    "others than its owner may write to it");
	} else if (look->is_private && geteuid() != 0 &&
	    st.st_uid != geteuid()) {
		dirs_complain(look, path, "it belongs to another user");
	} else if (!look->is_private && (st.st_uid != uid ||
	    st.st_gid != gid || (st.st_mode & 07777) != mode)) {
		snprintf(what, sizeof(what), "it is %u:%u %04o, and should be "
		    "%u:%u %04o", (unsigned)st.st_uid, (unsigned)st.st_gid,
		    (unsigned)(st.st_mode & 07777), (unsigned)uid,
		    (unsigned)gid, (unsigned)mode);
		dirs_complain(look, path, what);
	}
}

static void
area_look(struct look *look, const struct dir_row *row)
{
	unsigned copies = row->area == AREA_ROUTER ? SPOOL_PRIORITIES : 1;
	char name[32];

	for (unsigned i = 0; i < copies; i++) {
		snprintf(name, sizeof(name), i == 0 ? "%s" : "%s.%u",
		    spool_area_names[row->area], i);
		dir_look(look, name, look->owners.uid[row->owner],
		    look->owners.gid[row->group], row->mode);
	}
}

unsigned
dirs_check(const struct conf *conf, dirs_say_fn *say, void *context)
{
	struct look look = { .conf = conf, .say = say, .context = context,
		.is_private = daemon_is_private(conf) };
	struct err err;

	for (enum conf_role role = 0; role < ROLE_COUNT && !look.is_private;
	    role++)
		if (conf_uses_role(conf, role) && daemon_account(conf, role,
		    &look.owners.uid[role],
		    &look.owners.gid[role], &err) < 0) {
			dirs_complain(&look, conf->spool_dir, err.text);
			return look.count;
		}
	dir_look(&look, conf->spool_dir, 0, 0, 0755);
	dir_look(&look, conf->run_dir, 0, look.owners.gid[ROLE_ROUTER],
	    01775);
	dir_look(&look, conf->log_dir, 0, look.owners.gid[ROLE_AGENT],
	    02770);
	for (size_t i = 0; i < sizeof(dir_rows) / sizeof(dir_rows[0]); i++)
		area_look(&look, &dir_rows[i]);
	return look.count;
}
