/* change.h - verbs that change the configuration or a table, all alike
 *
 * Life cycle: change_open takes the common flags, change_file names a file
 * and gives its text to be edited, change_carry_out checks the result, shows
 * the difference, asks, keeps the old version, writes, tells the journal who
 * and why, and has the daemons take it over.  Before that nothing is changed.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_CHANGE_H
#define ZM_TOOLS_CHANGE_H

#include "conf/conf.h"
#include "conf/edit.h"
#include "tools/verb/verb.h"
#include "tools/versions/versions.h"
#include "tools/versions/write.h"

enum {
	CHANGE_FILES_MAX = 513,	/* as many as are published, and one */
	CHANGE_TABLE_BYTES_MAX = 64 << 20	/* a table that is edited */
};

struct change {
	const struct arguments *arguments;
	const char	*verb, *reason;
	const char	*conf_path;	/* of the main file */
	struct arena	*arena;
	struct conf	*conf;		/* as it is */
	bool		 is_yes, is_dry, is_json;
	bool		 is_quiet_table;	/* daemons re-read tables
					 * themselves: no reload */
	bool		 is_forced;	/* what stood there before stands there
					 * again: it is not checked */
	bool		 wants_restart;	/* it is written, and no reload can
					 * take it over */
	unsigned	 was;		/* the version to be restored */
	struct change_file files[CHANGE_FILES_MAX];
	size_t		 file_count;
};

/* Load the configuration, and take --yes, --dry-run, --json and --reason.
 * returns 0, or an exit status after words about it were printed */
int change_open(struct change *change, const struct arguments *arguments);
/* A whole verb: call run between change_open and change_release.  returns what
 * run returns, or the exit status of change_open */
typedef int change_run_fn(struct change *change,
    const struct arguments *arguments);
int change_verb(const struct arguments *arguments, change_run_fn *run);
/* As change_open, also if the configuration cannot be read: then only the
 * directories of spool, log and run are as in the main file. */
int change_open_any(struct change *change,
    const struct arguments *arguments);
void change_release(struct change *change);

/* The text of a file, to be edited in place; NULL after words on stderr.
 * A missing file is created with mode (0: it must exist). */
struct str *change_file(struct change *change, const char *path,
    bool is_table, unsigned mode);
/* The same for the main file (created if it is missing). */
struct str *change_main(struct change *change);

/* Are the texts as before, so that there is nothing to do? */
bool change_is_empty(const struct change *change);

/* Append the difference of all files as unified hunks, controls escaped. */
void change_add_diff(struct str *out, const struct change *change);
/* diff.c: the same for two texts. */
void diff_add(struct str *out, const char *path, struct slice before,
    struct slice after);

/* Check, show, ask, write, tell, reload.  Returns an exit status: 0 done,
 * 1 nothing to do or the answer was no, 78 the result would be wrong. */
int change_carry_out(struct change *change);

#endif
