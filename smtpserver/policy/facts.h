/* facts.h - what was asked and answered, kept so that it is asked once
 *
 * A command that needs several answers is run again from its start with each of
 * them, and finds the earlier ones here.  A fact is a question with its answer,
 * even if that is trouble.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SMTPSERVER_POLICY_FACTS_H
#define ZM_SMTPSERVER_POLICY_FACTS_H

#include "smtpserver/helper/ask.h"

enum fact_scope {		/* how long an answer holds */
	FACT_TURN,		/* for the command under way */
	FACT_MESSAGE,		/* for the transaction */
	FACT_SESSION,
	FACT_SCOPES
};

enum { FACTS_MAX = 256 };	/* more: the oldest are forgotten, all */

struct fact {
	const char	*kind;		/* static */
	struct slice	 question, answer;
	enum ask_state	 state;		/* ANSWERED or TROUBLE */
	struct fact	*next;
};

struct facts {			/* zeroed: empty, costs nothing */
	struct arena	*arena;
	struct fact	*first;
	unsigned	 count;
};

/* Forget all of them. */
void facts_release(struct facts *facts);
/* The fact about a question; NULL: it was not asked yet. */
const struct fact *facts_find(const struct facts *facts, const char *kind,
    struct slice question);
/* Add one (copied). */
void facts_add(struct facts *facts, const char *kind, struct slice question,
    enum ask_state state, struct slice answer);

#endif
