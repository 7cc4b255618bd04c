/* verb.h - what a verb is given and gives back
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_VERB_H
#define ZM_TOOLS_VERB_H

#include "conf/conf.h"

/* argv[0] is the verb's name; conf_path is what -C gave, or NULL.
 * Returns the exit status: 0 done, 1 nothing matched, else <sysexits.h>. */
#define VERB(name, usage, text) \
	int verb_##name(int argc, char **argv, const char *conf_path);
#include "tools/zmailer/verbs.h"
#undef VERB

struct verb_row {
	const char	*name, *usage, *text;
	int		(*run)(int argc, char **argv, const char *conf_path);
};
extern const struct verb_row verb_rows[];
extern const size_t verb_rows_count;

/* The configuration for a verb; prints the report and exits 78 when bad. */
struct conf *verb_conf(const char *conf_path);

/* "zmailer: VERB: text" and the usage line on stderr; returns EX_USAGE. */
int verb_usage(const char *name, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Why a verb cannot go on, on stderr; who lacks a right is told who has it.
 * returns EX_NOPERM then, else status */
int verb_failed(const char *name, const struct err *err, int status);

/* classic.c: a word of ZMailer's script.  false: it is none. */
bool classic_run(int argc, char **argv, const char *conf_path,
    int *out_status);

/* Colour and boxes only on a terminal, never with NO_COLOR or TERM=dumb. */
bool verb_is_fancy(void);

#endif
