/* snapshot.h - the configuration in force: what a running zmailer took over
 *
 * RUN/zmailer.snapshot: a line of JSON {"zmailer-snapshot":1,"pid":N,
 * "started":N,"t":N,"aliases":N,"conf":PATH}, which has what one message needs
 * as well ("host" to "received", settings/brief.h), then a bundle (bundle.h) of
 * every file that was read; the first is PATH.  The supervisor writes it before
 * a daemon starts and before daemons are told to reload; they and the programs
 * that they start read it instead of the files, which a person may edit until
 * the next reload.  It is in force while its supervisor lives.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_CONF_SNAPSHOT_H
#define ZM_CONF_SNAPSHOT_H

#include <sys/stat.h>

#include "base/err.h"
#include "conf/settings/conf.h"

#define SNAPSHOT_NAME "zmailer.snapshot"

enum {
	SNAPSHOT_VERSION = 1,
	SNAPSHOT_FILES_MAX = 201,		/* as the loader has it */
	SNAPSHOT_BYTES_MAX = 64 << 20
};

enum snapshot_aliases {
	SNAPSHOT_ALIASES_UNKNOWN = 0,		/* of an older version */
	SNAPSHOT_ALIASES_THERE = 1,
	SNAPSHOT_ALIASES_ABSENT = 2
};

struct conf_snapshot {
	pid_t		 pid;		/* the supervisor, */
	int64_t		 started;	/* field 22 of /proc/PID/stat; 0: not
					 * known */
	int64_t		 time_s;	/* when it came into force, wall */
	enum snapshot_aliases aliases;	/* /etc/aliases at that time */
	const char	*path;		/* of the configuration, absolute;
					 * "": no file, all defaults */
	struct conf_draft *files;
	size_t		 file_count;
	bool		 has_brief;	/* else an older one, or one whose
					 * words are not UTF-8 */
	struct conf_brief brief;
};

/* Is the text meant to be a snapshot? */
bool conf_snapshot_is(struct slice text);
/* Parse a snapshot into the arena.  0; -1 with err: it is damaged, or of
 * another version. */
int conf_snapshot_parse(struct slice text, struct arena *arena,
    struct conf_snapshot *out, struct err *err);

/* Parse its first line alone; no files.  0 or -1 as above. */
int conf_snapshot_parse_front(struct slice text, struct arena *arena,
    struct conf_snapshot *out, struct err *err);

/* The value for a file that existed, or did not. */
enum snapshot_aliases conf_snapshot_aliases(bool has_aliases);
/* Append a snapshot as text. */
void conf_snapshot_add(struct str *out,
    const struct conf_snapshot *snapshot);
/* Write conf, which was read by its absolute path, to RUN/zmailer.snapshot as
 * that of this process; the old one is replaced when the new one is complete.
 * By its owner, group and mode, only those can read it who can read every one
 * of the files.  0 or -1. */
int conf_snapshot_write(const struct conf *conf, struct err *err);

/* Who may read all of some files, with the directories above them: an owner,
 * one group, and others. */
struct conf_readers {
	uid_t	uid;			/* of the first file */
	gid_t	gid;
	mode_t	mode;			/* of 0644 */
};
/* Look at paths, which are absolute.  0 or -1. */
int conf_readers_find(const char *const *paths, size_t count,
    struct conf_readers *out, struct err *err);

/* The start time of a process (field 22 of /proc/PID/stat); 0: there is none,
 * or it is unknown; -1: it has ended, and its parent has not waited for it. */
int64_t conf_process_started(pid_t pid);
/* Does the supervisor that wrote it live? */
bool conf_snapshot_is_live(const struct conf_snapshot *snapshot);

#endif
