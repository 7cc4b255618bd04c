/* selection.h - what all verbs that choose messages share
 *
 * A verb says which areas it can work on; the selector of the command line
 * chooses among them.  What was chosen is fixed then: confirming shows it,
 * and nothing that came later is touched.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_SELECTION_H
#define ZM_TOOLS_SELECTION_H

#include "journal/event.h"
#include "conf/conf.h"
#include "grammar/selector.h"
#include "mail/spool/spool.h"
#include "tools/queue/view.h"
#include "tools/verb/verb.h"

enum { SELECTION_SAMPLES = 5 };

struct selection_options {
	const struct arguments *arguments;	/* NULL: nobody typed them */
	const char	*verb;
	bool		 is_json, is_yes, is_dry;
	bool		 is_quiet;	/* none to be found is no fault */
	bool		 allows;	/* --allow */
	bool		 is_failed;	/* --failed */
	const char	*reason;	/* "" when none was given */
	const char	*until;		/* --for: "+SPAN"; NULL not given */
	const char	*next, *expire;	/* moments; NULL */
	const char	*to;		/* --to; NULL */
	int64_t		 per_second;	/* -1: not given */
	int64_t		 limit;		/* messages; -1: not given */
	const char	*after;		/* a spool id; NULL */
	char		 until_text[64];
	struct str	 words;		/* the selector as it was typed */
};

/* The options that these verbs have in common; selection_options_release frees
 * words.
 * returns 0, or the exit status after the usage was printed */
int selection_options_take(const struct arguments *arguments,
    struct selection_options *out);
void selection_options_release(struct selection_options *options);

/* Parse the selector that was typed; when it is wrong print it with a caret
 * and return EX_USAGE, else 0.  No words at all: *out is NULL. */
int selection_selector(const struct selection_options *options,
    struct arena *arena,
    struct selector **out);

struct selection_item {		/* a message that was chosen */
	enum spool_area	 area;
	const char	*name;		/* below the area */
	const char	*id, *why, *state;
	struct slice	 reason;	/* as in struct view */
	struct slice	 sender, first_rcpt;
	uint64_t	 size_bytes;
	int64_t		 time_s;
	const char	*tls;		/* as in struct view */
	bool		 is_copy;	/* postman's "_": the message went on */
	size_t		 rcpt_count;	/* that the selector means */
	size_t		 rcpt_total;
	uint32_t	*offsets;	/* transport/: of those meant */
};

struct selection_choice {
	struct arena	*arena;
	struct selection_item *items;	/* sorted by id */
	size_t		 count, rcpts;
	struct spool	*spool;
	struct live	 live;
	int64_t		 now_s;
};

struct selection_test {		/* meant.c */
	const struct selector	*selector;	/* NULL: everything */
	const struct conf	*conf;		/* zones, classes */
	int64_t			 now_s;
	uint32_t		 keys;		/* that it asks for */
	enum view_flags		 flags;		/* for view_each */
};
/* Begin to ask which messages a selector means. */
void selection_test_init(struct selection_test *test,
    const struct selector *selector,
    const struct conf *conf, int64_t now_s);
/* Every key that it asks for means the same to the scheduler: it can find
 * its own mail by itself.  States, areas and words of files alone do not. */
bool selection_is_shared(const struct selector *selector);
/* Is this recipient of the view meant?  rcpt NULL: a view without any. */
bool selection_is_meant(const struct selection_test *test,
    const struct view *view,
    const struct view_rcpt *rcpt);

/* Go through the areas (a bit 1 << enum spool_area each) and take what the
 * selector means; NULL means everything.  selection_choice_release closes
 * and frees, also after -1.
 * returns 0; -1: the spool cannot be read, err says why */
int selection_choose(const struct conf *conf, unsigned areas,
    const struct selector *selector, struct selection_choice *out,
    struct err *err);
void selection_choice_release(struct selection_choice *choice);

/* The exit status when nothing matches, said on stderr; with --quiet that is
 * none of the things that are wrong. */
int selection_none(const struct selection_options *options);

/* Show count and samples and ask, as ux has it: on a terminal a question;
 * elsewhere --yes is needed; --dry-run shows and stops.
 * returns true: go on; false: *out_status is the exit status. */
bool selection_confirm(const struct selection_options *options,
    const struct selection_choice *choice, int *out_status);

/* aside.c: print why what the selector means in router/, deferred/, freezer/
 * and postman/ lies there.
 * returns 0; -1: the spool cannot be read */
int selection_why_aside(const struct conf *conf,
    const struct selector *selector,
    bool is_json, size_t *out_count, struct err *err);

/* "361g… freezer 2h alice@x -> bob@y +3  cause": one line. */
void selection_add_item(struct str *out, const struct selection_item *item,
    int64_t now_s);
/* The same as a line of JSON, with what was done: "deleted". */
void selection_add_json(struct str *out, const struct selection_item *item,
    const char *done, const char *trouble);

/* act.c: do one message that was set aside, and say so in the journal.
 * 1, or -1 with err (the message is where it was). */
typedef int selection_act_fn(struct selection_choice *choice,
    const struct selection_item *item, const struct selection_options *options,
    struct err *err);
selection_act_fn selection_act_delete, selection_act_undelete,
    selection_act_release;
/* away.c: give it up with a report to its sender; send it to options->to as
 * a part of a new message; write options->reason beside it in the journal.
 * The message stays where it is, but for bounce. */
selection_act_fn selection_act_bounce, selection_act_forward,
    selection_act_note;
/* The event of an act, with who and why. */
void selection_tell(enum event_kind kind, const struct selection_item *item,
    enum spool_area area, const char *name,
    const struct selection_options *options);

/* allow.c: have the senders of a choice accepted by a rule before all others
 * of the configuration; shows the change, and asks on a terminal.  Exit
 * status.  Needs the right to write it: call it where that is still had. */
int selection_allow(const char *conf_path, const struct slice *senders,
    size_t count, bool is_yes);

struct selection_order {		/* a row of orders.h */
	const char	*op;		/* NULL: for files alone */
	const char	*done;
	unsigned	 areas;		/* bits of 1 << enum spool_area */
	selection_act_fn	*act;
};

/* A whole verb: read the command line, choose, confirm; the scheduler is
 * told of its own mail, files that were set aside are acted on with the
 * router's account.  Exit status: 0 all done, 1 nothing matched or some
 * failed, 64 usage, 69 the scheduler is needed and does not run. */
int selection_order(const struct arguments *arguments,
    const struct selection_order *order);

#endif
