/* conf.h - zmailer.conf: one table of statements, one struct of settings
 *
 * statements/ has a row for each statement: name, positional arguments,
 * keywords, block items, default, text.  Parser, `zmailer check`,
 * `zmailer help`, `config show` and zmailer.conf(5) come from it.
 * settings/ has a header for each subject, as statements/ has: the structs that
 * its rows fill in, and functions about them.  This header is about the whole.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_CONF_H
#define ZM_CONF_H

#include "conf/settings/conf.h"
#include "conf/show/show.h"
#include "mail/spool/spool.h"

/* Read a configuration, or a snapshot of one (snapshot/snapshot.h), which has
 * the texts of all its files.  path NULL: conf_default_path; all defaults if
 * neither path nor the environment names a file and that one does not exist.
 * The report is in arena.
 * returns a conf, freed by conf_free; NULL: the report has errors */
struct conf *conf_load(const char *path, struct arena *arena,
    struct conf_report *out_report);
/* The same from memory (tests, fuzz); name is for messages.  The text cannot
 * include files. */
struct conf *conf_parse(const char *name, struct slice text,
    struct arena *arena, struct conf_report *out_report);
/* As conf_load, but with the texts of drafts in place of those files. */
struct conf *conf_load_drafts(const char *path,
    const struct conf_draft *drafts, size_t draft_count,
    struct arena *arena, struct conf_report *out_report);

/* Load the configuration in force, whatever its files contain by now:
 * RUN/zmailer.snapshot, if it is of this path, belongs to root or to the owner
 * of the file or of RUN, nobody else may write to it, and its supervisor lives.
 * Otherwise this is conf_load.  path may be a snapshot. */
struct conf *conf_load_in_force(const char *path, struct arena *arena,
    struct conf_report *out_report);
typedef struct conf *conf_load_fn(const char *path, struct arena *arena,
    struct conf_report *out_report);
/* For programs that must not fail while a person edits the files:
 * conf_load_in_force, else the snapshot of the last run, else a conf that has
 * only the directories and the host name in the file, whatever is wrong with
 * the rest of it.  *out_is_makeshift: it is one of the last two. */
struct conf *conf_load_makeshift(const char *path, struct arena *arena,
    struct conf_report *out_report, bool *out_is_makeshift);

/* conf_load and conf_load_in_force for a program that starts: the report is
 * written to standard error by conf_report_print.  NULL: there were errors. */
struct conf *conf_load_or_tell(const char *path);
struct conf *conf_in_force_or_tell(const char *path);
/* conf_load_makeshift for a program that reads the spool or asks what runs:
 * standard error is told what is wrong with the file and what is used instead.
 * NULL: there is nothing to use. */
struct conf *conf_makeshift_or_tell(const char *path);

/* spool_open as the configuration says.  All programs except `zmailer init`
 * open the spool by this, so that `sync` applies to all of them.
 * returns 0 or -1 */
int conf_spool_open(const struct conf *conf, enum spool_flags more,
    struct spool **out, struct err *err);
/* The spool id of a message with this inode that gets it now. */
void conf_make_id(const struct conf *conf, ino_t inode,
    char out_id[SPOOL_ID_BYTES]);

/* What one message needs of the configuration in force (conf_load_in_force),
 * which is not parsed; in the arena.  False: nothing is in force, it was not
 * found, or its snapshot does not say this: conf_load_makeshift knows more. */
bool conf_brief_in_force(const char *path, struct arena *arena,
    struct conf_brief *out);
/* As conf_spool_open. */
int conf_brief_spool_open(const struct conf_brief *brief,
    enum spool_flags more, struct spool **out, struct err *err);

/* How the files compare to the configuration that was read from them. */
enum conf_files {
	CONF_FILES_SAME,
	CONF_FILES_CHANGED,		/* not taken over yet, and good */
	CONF_FILES_BROKEN		/* not taken over yet, with errors */
};
enum conf_files conf_files_look(const struct conf *conf);
/* The configuration that a path means: the file itself, or the one that the
 * snapshot at this path was made of.  In the arena. */
const char *conf_path_of(struct arena *arena, const char *path);
/* Let programs that this process starts from now on read what conf was read
 * from. */
void conf_hand_on(const struct conf *conf);

#endif
