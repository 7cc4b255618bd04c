/* show.h - rows, settings and complaints as text
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_CONF_SHOW_H
#define ZM_CONF_SHOW_H

#include "conf/settings/conf.h"

struct guess;

/* Every setting with its value and where it was written, a line each; only
 * those that the file says unless all. */
void conf_show(const struct conf *conf, bool all, struct str *out);
/* The same as JSON, an object a line: statement, value, file, line. */
void conf_show_json(const struct conf *conf, bool all, struct str *out);
/* What follows the word schedule. */
void conf_show_clause(const struct conf_schedule *schedule, struct str *out);

/* A field of this width as its type is written; a text that is NULL and a
 * moment that is 0 add nothing. */
void conf_show_field(struct str *out, const char *type, const void *field,
    size_t width);

/* Sort by file in the order read, then by line and column. */
void conf_report_sort(struct conf_report *report,
    const struct conf_book *book);
/* "file:7:8: error: ..." with the source line, a caret and a hint for each
 * complaint; then the count.  path NULL: conf_default_path. */
void conf_report_print(const struct conf_report *report, const char *path,
    struct str *out);
/* Complaints as JSON, an object a line, for editors. */
void conf_report_json(const struct conf_report *report, struct str *out);

/* The places ("zmailer.conf:3, zmailer.conf:7") of rules that refuse, defer,
 * freeze or count mail of who logged in, too; and of those that do so with
 * clients on loopback or that may relay.  Rules that name such users, or
 * loopback, or say everybody are left out: they were meant.  Adds nothing
 * where there is none. */
void conf_rules_meet(const struct conf *conf, struct str *out_users,
    struct str *out_trusted);

/* What one statement does, or NULL: one line for each statement. */
void conf_help(struct str *out, const char *statement);
/* Offer the names of all statements to a guess. */
void conf_help_offer(struct guess *guess);
/* zmailer.conf(5) in roff: its sections about statements. */
void conf_manual(struct str *out);

#endif
