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

/* Read a configuration.  path NULL: conf_default_path; when neither path nor
 * the environment names a file and that one is not there: all defaults.
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

/* conf_load for a program that starts: what is wrong goes to standard error,
 * as conf_report_print words it.  NULL: there were errors. */
struct conf *conf_load_or_tell(const char *path);

#endif
