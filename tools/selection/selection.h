/* selection.h - shared by all verbs that select messages
 *
 * A verb says which areas it works on; the selector of the command line selects
 * messages there.  The choice is fixed then: the confirmation shows it, and
 * later messages are not touched.
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

/* Take the options that these verbs have in common; selection_options_release
 * frees words.
 * returns 0, or the exit status after the usage was printed */
int selection_options_take(const struct arguments *arguments,
    struct selection_options *out);
void selection_options_release(struct selection_options *options);

/* Parse the selector that was typed; if it is wrong, print it with a caret and
 * return EX_USAGE, else 0.  Without words *out is NULL. */
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
	const char	*trouble;	/* NULL; why it cannot be read */
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
/* Prepare to test which messages a selector selects. */
void selection_test_init(struct selection_test *test,
    const struct selector *selector,
    const struct conf *conf, int64_t now_s);
/* Has every key of the selector the same meaning for the scheduler, so that it
 * can find its own mail by itself?  States, areas and words of files have
 * not. */
bool selection_is_shared(const struct selector *selector);
/* Is this recipient of the view selected?  rcpt NULL: a view without any. */
bool selection_is_meant(const struct selection_test *test,
    const struct view *view,
    const struct view_rcpt *rcpt);

/* Go through the areas (a bit 1 << enum spool_area each) and take what the
 * selector selects; NULL: everything.  selection_choice_release closes and
 * frees, also after -1.
 * returns 0; -1: the spool cannot be read, err says why */
int selection_choose(const struct conf *conf, unsigned areas,
    const struct selector *selector, struct selection_choice *out,
    struct err *err);
void selection_choice_release(struct selection_choice *choice);

/* Say on stderr that nothing matches; returns the exit status.  With --quiet
 * this is no error. */
int selection_none(const struct selection_options *options);

/* Show count and samples and ask: on a terminal by a question; elsewhere --yes
 * is needed; --dry-run shows and stops.
 * returns true: go on; false: *out_status is the exit status. */
bool selection_confirm(const struct selection_options *options,
    const struct selection_choice *choice, int *out_status);

/* aside.c: print why the selected messages in router/, deferred/, freezer/ and
 * postman/ are there.
 * returns 0; -1: the spool cannot be read */
int selection_why_aside(const struct conf *conf,
    const struct selector *selector,
    bool is_json, size_t *out_count, struct err *err);

/* Say on standard error what the selector selects in places that a verb which
 * works on areas (bits) does not look at, and which verb helps there.
 * returns false, and says nothing: it selects nothing there, or the caller may
 * not look */
bool selection_say_aside(const char *verb, const struct conf *conf,
    unsigned areas, const struct selector *selector);

/* Append one line: "361g… freezer 2h alice@x -> bob@y +3 cause". */
void selection_add_item(struct str *out, const struct selection_item *item,
    int64_t now_s);
/* The same as a line of JSON, with what was done: "deleted". */
void selection_add_json(struct str *out, const struct selection_item *item,
    const char *done, const char *trouble);

/* act.c: act on one message that was set aside, and note it in the journal.  1,
 * or -1 with err (the message is where it was). */
typedef int selection_act_fn(struct selection_choice *choice,
    const struct selection_item *item, const struct selection_options *options,
    struct err *err);
selection_act_fn selection_act_delete, selection_act_undelete,
    selection_act_release;
/* away.c: give it up with a report to its sender; send it to options->to as
 * part of a new message; note options->reason about it in the journal.  Except
 * for bounce the message stays where it is. */
selection_act_fn selection_act_bounce, selection_act_forward,
    selection_act_note;
/* Write the event of an act, with who did it and why. */
void selection_tell(enum event_kind kind, const struct selection_item *item,
    enum spool_area area, const char *name,
    const struct selection_options *options);

/* allow.c: add a rule that accepts the senders, before all others of the
 * configuration; shows the change, and asks on a terminal.  Returns an exit
 * status.  Call it before the right to write the file is given up. */
int selection_allow(const char *conf_path, const struct slice *senders,
    size_t count, bool is_yes);

struct selection_order {		/* a row of orders.h */
	const char	*op;		/* NULL: for files alone */
	const char	*done;
	unsigned	 areas;		/* bits of 1 << enum spool_area */
	selection_act_fn	*act;
};

/* A whole verb: read the command line, select, confirm; then order the
 * scheduler about its mail, and act on files that were set aside under the
 * router's account.  Exit status: 0 all done, 1 nothing matched or some failed,
 * 64 usage, 69 the scheduler is needed and does not run. */
int selection_order(const struct arguments *arguments,
    const struct selection_order *order);

#endif
