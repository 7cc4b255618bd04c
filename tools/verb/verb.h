/* verb.h - what a verb is given and gives back
 *
 * The command line is parsed by the verb's usage (usage.h), so the verb gets
 * the form, the number of words and the values that the usage promises.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_VERB_H
#define ZM_TOOLS_VERB_H

#include "conf/conf.h"
#include "tools/verb/usage.h"

struct argument {		/* an option's value; NULL: not given */
	const char	*text;
	const char	*second;	/* of two values */
	int64_t		 number;	/* of a NUMBER; ms of a SPAN */
};

struct arguments {
	const char	*verb, *usage;
	const char	*conf_path;	/* -C, or NULL */
	const char	*form;		/* the word that chose it, or "" */
	char		**words;	/* all others, a NULL after them */
	int		 count;
	struct argument	 options[OPTIONS];
	int		 argc;		/* as it was given */
	char		**argv;
};

struct verb_row {		/* a row of tools/zmailer/verbs/verbs.h */
	const char	*name, *usage, *text;
	int		(*run)(struct arguments *arguments);
};

/* May this word of a command line be shown again?  0; -1: it has characters
 * that a terminal obeys (err shows them escaped) */
int argument_check(const char *text, struct err *err);

/* Parse argv (its words move to its front) by the row's usage.  returns 0; -1:
 * err says what is wrong */
int arguments_parse(struct arguments *out, const struct verb_row *row,
    int argc, char **argv, struct err *err);
/* The same; errors go to standard error, with where help is.
 * returns 0 or EX_USAGE */
int arguments_read(struct arguments *out, const struct verb_row *row,
    int argc, char **argv, const char *conf_path);

/* Was the option given?  Its text, or NULL.  Its number (milliseconds of a
 * span), or preset. */
bool arguments_has(const struct arguments *arguments, enum option_id id);
const char *arguments_text(const struct arguments *arguments,
    enum option_id id);
int64_t arguments_number(const struct arguments *arguments,
    enum option_id id, int64_t preset);
/* Was this form chosen? */
bool arguments_is(const struct arguments *arguments, const char *form);
/* The word at that place, or NULL. */
const char *arguments_word(const struct arguments *arguments, int at);

/* All words with a blank between them. */
void arguments_join(const struct arguments *arguments, struct str *out);

/* "zmailer: VERB: words" and where help is, on standard error.
 * returns EX_USAGE */
int arguments_refuse(const struct arguments *arguments, const char *format,
    ...) __attribute__((format(printf, 2, 3)));

/* The configuration for a verb: the one in force, even while the file is being
 * edited, else the file's; prints the report and exits 78 if it is bad. */
struct conf *verb_conf(const char *conf_path);
/* The same for verbs that only read the spool or the journal, or ask running
 * daemons: if the file has errors and nothing runs, they use the last run's
 * configuration, and say so. */
struct conf *verb_conf_spool(const char *conf_path);
/* The present file, by its absolute path: for verbs that start with it, load it
 * or show it. */
struct conf *verb_conf_file(const char *conf_path);

/* Say on standard error why a verb cannot go on, and who may do it if the
 * caller may not.  returns EX_NOPERM then, else status */
int verb_failed(const char *name, const struct err *err, int status);

/* Who may ask about all mail, and how to get that right: the end of a
 * refusal. */
extern const char verb_readers[];

/* Who gives the order, for the journal: the user for whom the desk runs a verb
 * (ZMAILER_WHO), else the calling user. */
void verb_who(char *out, size_t size);
/* The same for an event that the verb writes itself, as the scheduler writes it
 * of its orders: "alice(web)(root)", of a user himself his name alone. */
enum { VERB_BY_BYTES = 136 };
void verb_by(char out[VERB_BY_BYTES]);

/* Colour and boxes only on a terminal, never with NO_COLOR or TERM=dumb. */
bool verb_is_fancy(void);

#endif
