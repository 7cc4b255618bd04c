/* verb.h - the verbs of zmailer(8)
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_ZMAILER_VERB_H
#define ZM_TOOLS_ZMAILER_VERB_H

#include "tools/verb/verb.h"

/* Run a verb as the command line says.
 * returns the exit status: 0 done, 1 nothing matched, else <sysexits.h> */
#define VERB(name, usage, text) \
	int verb_##name(struct arguments *arguments);
#include "tools/zmailer/verbs/verbs.h"
#undef VERB

extern const struct verb_row verb_rows[];
extern const size_t verb_rows_count;

/* The row of a verb, NULL when there is none. */
const struct verb_row *verb_row_find(const char *name);
/* Parse the command line, whose argv[0] is the verb, and run it.
 * returns the exit status */
int verb_run_row(const struct verb_row *row, int argc, char **argv,
    const char *conf_path);

/* help.c: append the verbs on one screen, those of the first week with what
 * they do. */
void help_add_page(struct str *out);

/* classic.c: a word of ZMailer's script.  returns whether it is one; its
 * exit status is *out_status then */
bool classic_run(int argc, char **argv, const char *conf_path,
    int *out_status);
/* A verb that meant something else there without any words: freeze, thaw.
 * returns whether it is one; then *out_status is its exit status */
bool classic_alone(const char *verb, int *out_status);

#endif
