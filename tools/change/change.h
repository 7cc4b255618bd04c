/* change.h - verbs that change the configuration or a table, all alike
 *
 * Life cycle: change_open takes the common flags, change_file names a file
 * and gives its text to be edited, change_carry_out holds the result against
 * the checks, shows the difference, asks, keeps the version of before,
 * writes, tells the journal who and why, and has the daemons take it over.
 * Until it is carried out nothing was touched.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_CHANGE_H
#define ZM_TOOLS_CHANGE_H

#include "conf/conf.h"
#include "conf/edit.h"
#include "tools/verb/verb.h"

enum {
	CHANGE_FILES_MAX = 16,
	CHANGE_TABLE_BYTES_MAX = 64 << 20,	/* a table that is edited */
	VERSIONS_MAX = 20,		/* kept */
	VERSION_FILES_MAX = 200,	/* of one configuration */
	VERSION_BYTES_MAX = 16 << 20	/* of one version */
};

struct change_file {
	const char	*path;		/* as the configuration names it */
	const char	*target;	/* behind symbolic links */
	struct str	 before, after;
	bool		 is_new, is_table;
	bool		 is_secret;	/* a key: its text is never shown */
	unsigned	 mode;		/* of a new one */
	const char	*account;	/* owner of a new one, when we are
					 * root; NULL or "-": ours */
};

struct change {
	const struct arguments *arguments;
	const char	*verb, *reason;
	const char	*conf_path;	/* of the main file */
	struct arena	*arena;
	struct conf	*conf;		/* as it is */
	bool		 is_yes, is_dry, is_json;
	bool		 is_quiet_table;	/* tables are looked at again by
					 * themselves: no reload */
	unsigned	 was;		/* version that is brought back */
	struct change_file files[CHANGE_FILES_MAX];
	size_t		 file_count;
};

/* Load the configuration, and take what --yes, --dry-run, --json and --reason
 * say.  0, or an exit status after the words for it were printed. */
int change_open(struct change *change, const struct arguments *arguments);
/* A whole verb: run between change_open and change_release; what it returns,
 * or the exit status of change_open. */
typedef int change_run_fn(struct change *change,
    const struct arguments *arguments);
int change_verb(const struct arguments *arguments, change_run_fn *run);
/* As change_open, also with a configuration that cannot be read: then the
 * places of spool, log and run are what the main file says, all else preset. */
int change_open_any(struct change *change,
    const struct arguments *arguments);
void change_release(struct change *change);

/* The text of a file, to be edited in place; NULL after words on stderr.
 * A file that is not there is made with mode (0: it must be there). */
struct str *change_file(struct change *change, const char *path,
    bool is_table, unsigned mode);
/* The main file (it is made when there is none). */
struct str *change_main(struct change *change);

/* write.c: put a text in place of a file: a new one beside it, owner and
 * mode kept, synced, renamed over it, the directory synced
 * (doc/INTERNALS.md row E1).  0 or -1. */
int change_file_write(const struct change_file *file, struct err *err);
/* A name in the directory of target is durable behind this.  0; -1 errno. */
int change_directory_sync(const char *target);

/* The same text as before?  Nothing to do. */
bool change_is_empty(const struct change *change);

/* The difference of all files as unified hunks, controls escaped. */
void change_add_diff(struct str *out, const struct change *change);
/* diff.c: of two texts. */
void diff_add(struct str *out, const char *path, struct slice before,
    struct slice after);

/* Check, show, ask, write, tell, reload.  Returns an exit status: 0 done,
 * 1 nothing to do or the answer was no, 78 the result would be wrong. */
int change_carry_out(struct change *change);

/* ---- versions.c: the last VERSIONS_MAX configurations ----------------- */

struct version_file {
	const char	*path;
	struct slice	 text;
};
struct version {
	unsigned	 number;	/* from 1 */
	unsigned	 was;		/* it is this one again; 0: new */
	int64_t		 time_s;
	const char	*by, *verb, *reason;
	struct version_file *files;
	size_t		 file_count;
};

/* Keep what the configuration's files hold now, unless it is what the newest
 * version holds.  about says by, verb, reason and was.
 * 1 kept, 0 known, -1 err (no spool yet is no error: 0). */
int versions_keep(const struct conf *conf, const struct version *about,
    struct err *err);
/* Numbers of those there are, ascending; returns how many. */
size_t versions_list(const char *spool_dir, unsigned out[VERSIONS_MAX + 2]);
/* Read one; texts live in the arena.  1; 0 there is none; -1 err. */
int version_read(const char *spool_dir, unsigned number,
    struct arena *arena, struct version *out, struct err *err);
/* One writer at a time: a descriptor to be closed, -1 when somebody else
 * has it (errno EWOULDBLOCK), -2 when there is no spool. */
int versions_lock(const char *spool_dir);

#endif
