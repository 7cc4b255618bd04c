/* rcpts.h - the recipients of one message, each once
 *
 * The list grows while recipients are routed; two with the same channel, host
 * and user make one.  Up to RCPTS_HELD_MAX are kept here (for the journal,
 * tests).  If more come and the control file has a sink, all of them go there
 * and only their fingerprints stay.  If there is no control file (a question),
 * those above are only counted.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_ROUTER_RCPTS_H
#define ZM_ROUTER_RCPTS_H

#include "mail/envelope.h"
#include "router/rcpts/memo.h"
#include "router/rcpts/control_draft.h"
#include "router/rcpts/fingerprints.h"

enum { RCPTS_HELD_MAX = 4096 };

struct rcpts {
	struct arena	*arena;
	struct control_draft *draft;	/* NULL: a question, no message */
	struct draft_rcpt	*list;		/* unless is_streaming */
	size_t		 held;		/* of count, in list */
	size_t		 count;		/* all of them */
	size_t		 capacity;
	bool		 is_streaming;
	struct fingerprints known;	/* same numbers as list */
	struct str	 key;
	struct memo	 expanded;	/* alias names that were opened */
	struct memo	 sender_keys;
	struct rcpt_sender **senders;	/* same numbers; 0: as it came */
	size_t		 sender_capacity;
	bool		 is_check;	/* lists need not be opened: one
					 * recipient is enough (ask/check.h) */
	bool		 is_from_null;	/* then all senders are 0 */
	/* What a script (router/route/hooks.h) is told, and what it did. */
	const struct envelope *envelope;	/* NULL: a question */
	struct rcpts_asker {		/* of a question */
		struct slice	client, user;
	}		 asker;
	struct slice	 deferral;	/* it said: not now, and why */
	bool		 is_released;	/* by a person: not frozen again */
	bool		 is_frozen;	/* a person is to look */
	bool		 met_death;	/* its process died of this message */
	struct {
		size_t		 count, expanded;
	}		 mark;		/* the draft has one of its own */
	char		 id[SPOOL_ID_BYTES];	/* for the journal, or "" */
	struct str	*notes;		/* what was asked and answered, for
					 * people (explain.h); NULL: not
					 * wanted */
	struct {
		unsigned from, header, to;
	}		 generic;	/* sender of the last one (rewrite.h) */
	struct slice	 user;		/* who submitted it, or logged in */
	bool		*copies;	/* of conf->copies: a recipient asked
					 * for it; NULL: none did */
	bool		 was_redirected;	/* redirect is known */
	unsigned	 redirect;	/* sender of what is sent on */
	unsigned	 bad_lines;	/* of list files, in the journal */
	/* After a routing function returned -1: the why in the name of the
	 * file in deferred/, [a-z0-9-]+. */
	char		 trouble[64];
};

/* Begin; the arena may be reset between two messages, before rcpts_reset. */
void rcpts_init(struct rcpts *rcpts, struct arena *arena);
void rcpts_release(struct rcpts *rcpts);
/* Begin a message.  expected: number of recipients; draft: takes recipients
 * over, or NULL; sender: on the wire, empty for null. */
void rcpts_reset(struct rcpts *rcpts, size_t expected, struct control_draft
    *draft, struct slice sender);

/* Give each recipient a sender of its own, "from+user=domain@host" (VERP),
 * after rcpts_reset.  delimiters: the configuration's. */
void rcpts_verp(struct rcpts *rcpts, const char *delimiters);

/* The number of a sender, which is added if it is new (its slices are kept). */
unsigned rcpts_sender(struct rcpts *rcpts,
    const struct rcpt_sender *sender);

/* Add a recipient; its slices are copied (orcpt and to are kept).  False if it
 * is there already. */
bool rcpts_add(struct rcpts *rcpts, const struct draft_rcpt *rcpt);

/* Mark the present number of recipients and expanded names / go back to it. */
void rcpts_mark(struct rcpts *rcpts);
void rcpts_back(struct rcpts *rcpts);

/* Put the recipients that are still here into the draft, grouped by sender. */
void rcpts_finish(struct rcpts *rcpts);

/* Append "alias aliases:12", "default". */
void rcpt_rule_add(struct str *out, const struct rcpt_rule *rule);

#endif
