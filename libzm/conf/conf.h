/* conf.h - zmailer.conf: one table of statements, one struct of settings
 *
 * statements/ has a row for each statement: name, positional arguments,
 * keywords, block items, default, text.  Parser, `zmailer check`,
 * `zmailer help`, `config show` and zmailer.conf(5) come from it.
 * settings/ has a header for each subject, as statements/ has: what its rows
 * fill in and what can be asked about that.  This one has the whole.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_CONF_H
#define ZM_CONF_H

#include "conf/settings/conf.h"
#include "conf/show/show.h"
#include "mail/spool/spool.h"

/* Read a configuration, or the snapshot of one (snapshot/snapshot.h), which
 * stands for all its files.  path NULL: conf_default_path; when neither path
 * nor the environment names a file and that one is not there: all defaults.
 * arena receives the report.
 * returns a conf; NULL when there were errors (the report has them). */
struct conf *conf_load(const char *path, struct arena *arena,
    struct conf_report *out_report);
/* The same from memory (tests, fuzz); name stands in messages.  It cannot
 * include files. */
struct conf *conf_parse(const char *name, struct slice text,
    struct arena *arena, struct conf_report *out_report);
/* conf_load as if the files of drafts had these texts. */
struct conf *conf_load_drafts(const char *path,
    const struct conf_draft *drafts, size_t draft_count,
    struct arena *arena, struct conf_report *out_report);

/* What a running zmailer took over of the configuration path, whatever its
 * files hold by now: RUN/zmailer.snapshot, when it is of this path, belongs
 * to root, to the owner of the file or to RUN's, nobody else may write to it,
 * and its supervisor lives.  Else conf_load.  path may be a snapshot. */
struct conf *conf_load_in_force(const char *path, struct arena *arena,
    struct conf_report *out_report);
typedef struct conf *conf_load_fn(const char *path, struct arena *arena,
    struct conf_report *out_report);
/* For who must not fail because somebody edits: conf_load_in_force, else a
 * snapshot of the last run, else one that has only the directories and the
 * host name that the file says, whatever is wrong with the rest of it.
 * *out_is_makeshift: it was one of the last two. */
struct conf *conf_load_makeshift(const char *path, struct arena *arena,
    struct conf_report *out_report, bool *out_is_makeshift);

/* conf_load, conf_load_in_force for a program that starts: what is wrong goes
 * to standard error, as conf_report_print words it.  NULL: there were
 * errors. */
struct conf *conf_load_or_tell(const char *path);
struct conf *conf_in_force_or_tell(const char *path);
/* conf_load_makeshift for who reads the spool or asks what runs: what is wrong
 * with the file and what is gone by instead goes to standard error.  NULL:
 * there is nothing to go by. */
struct conf *conf_makeshift_or_tell(const char *path);

/* spool_open, the way that the configuration says: everybody but `zmailer init`
 * opens it by this, so that `sync` holds for all of them.
 * returns 0 or -1. */
int conf_spool_open(const struct conf *conf, enum spool_flags more,
    struct spool **out, struct err *err);

/* What one message needs of the configuration in force (conf_load_in_force),
 * which is not parsed; in the arena.  False: nothing is in force, it was not
 * found, or its snapshot does not say this: conf_load_makeshift knows more. */
bool conf_brief_in_force(const char *path, struct arena *arena,
    struct conf_brief *out);
/* As conf_spool_open. */
int conf_brief_spool_open(const struct conf_brief *brief,
    enum spool_flags more, struct spool **out, struct err *err);

/* How the files stand to a configuration that was read. */
enum conf_files {
	CONF_FILES_SAME,
	CONF_FILES_CHANGED,		/* not taken over yet, and good */
	CONF_FILES_BROKEN		/* not taken over yet, with errors */
};
enum conf_files conf_files_look(const struct conf *conf);
/* The configuration that a path means: the file itself, or what the snapshot
 * at this path was made of.  Lives in the arena. */
const char *conf_path_of(struct arena *arena, const char *path);
/* What this process starts from now on reads what conf was read from. */
void conf_hand_on(const struct conf *conf);

#endif
