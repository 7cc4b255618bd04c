/* show.h - rows, settings and complaints as text
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_CONF_SHOW_H
#define ZM_CONF_SHOW_H

#include "conf/settings/conf.h"

struct guess;

/* Append a line for every setting, with its value and where it was written;
 * unless all, only for those that the file sets. */
void conf_show(const struct conf *conf, bool all, struct str *out);
/* The same as JSON, an object in each line: statement, value, file, line. */
void conf_show_json(const struct conf *conf, bool all, struct str *out);
/* Append what follows the word schedule. */
void conf_show_clause(const struct conf_schedule *schedule, struct str *out);

/* Append a field of this width as its type is written; nothing for a text that
 * is NULL or a moment that is 0. */
void conf_show_field(struct str *out, const char *type, const void *field,
    size_t width);

/* Sort by file in the order read, then by line and column. */
void conf_report_sort(struct conf_report *report,
    const struct conf_book *book);
/* Append "file:7:8: error: ..." with the source line, a caret and a hint for
 * each complaint; then their number.  path NULL: conf_default_path. */
void conf_report_print(const struct conf_report *report, const char *path,
    struct str *out);
/* Append the complaints as JSON, an object in each line, for editors. */
void conf_report_json(const struct conf_report *report, struct str *out);

/* Append the places ("zmailer.conf:3, zmailer.conf:7") of rules that refuse,
 * defer, freeze or count also mail of clients that logged in; and of rules that
 * do so with clients that are on loopback or may relay.  Rules that name such
 * users, or loopback, or say everybody are left out, because they are meant.
 * Appends nothing if there are none. */
void conf_rules_meet(const struct conf *conf, struct str *out_users,
    struct str *out_trusted);

/* Append what one statement does; statement NULL: a line for each. */
void conf_help(struct str *out, const char *statement);
/* Append what a statement does in the block of another one, if there is such a
 * one; the names of what is in the block are offered to the guess. */
void conf_help_in(struct str *out, const char *block, const char *statement,
    struct guess *guess);
/* Offer the names of all statements to a guess. */
void conf_help_offer(struct guess *guess);
/* Append the sections about statements of zmailer.conf(5), in roff. */
void conf_manual(struct str *out);

#endif
