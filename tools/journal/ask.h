/* ask.h - a question to the verbs trace and events: about what, and when
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_JOURNAL_ASK_H
#define ZM_TOOLS_JOURNAL_ASK_H

#include "grammar/net.h"
#include "past/frame.h"
#include "tools/journal/journal.h"
#include "tools/verb/usage.h"

enum ask_kind {
	ASK_ALL,		/* whatever happened in the window */
	ASK_ID,			/* a spool id */
	ASK_ADDRESS,		/* from, to, orcpt, or in a refused command */
	ASK_FROM, ASK_TO,	/* "from:a@b", "to:a@b" */
	ASK_MSGID,		/* "<a@b>", "msgid:a@b" */
	ASK_CLIENT,		/* "client:192.0.2.1", "client:192.0.2.0/24" */
	ASK_SESSION,		/* "session:361gd1me6d1" */
	ASK_SELECTOR		/* "from:@a.test and dest:smtp/b*" */
};

struct journal_ask {
	enum ask_kind	 kind;
	struct slice	 text;		/* without its prefix, < and > */
	struct net	 net;		/* of a client */
	bool		 is_many;	/* a net of more than one address */
	struct journal_span span;
	struct frame_key keys[2];	/* of text; of a user of host */
	const char	*host;		/* NULL, or the domain of recipients
					 * whose address has none */
	const char	*owner;		/* NULL; only mail that this user
					 * submitted */
	struct facts	*facts;		/* of a selector; the caller's */
};

/* Parse what, from which out borrows; NULL or "" is ASK_ALL.  The window is all
 * times.  0; -1: err says what it could have been. */
int ask_parse(const char *what, struct journal_ask *out, struct err *err);

/* Recipients without a domain are users of this host, which is borrowed. */
void ask_set_host(struct journal_ask *ask, const char *host);
/* How many of keys are in use. */
size_t ask_key_count(const struct journal_ask *ask);

/* Is it a selector (grammar/selector.h) instead?  The caller parses it and sets
 * kind and facts. */
bool ask_is_selector(struct slice what);

/* Parse "2026-11-20", "2026-11-20T21:04", "2026-11-20 21:04:00", "21:04"
 * (today), "today", "yesterday", "2h" (ago); UTC as in the journal.
 * *out_for_ms is how long the moment lasts: a day for a day.  0 or -1. */
int ask_moment(const char *text, int64_t now_ms, int64_t *out_at_ms,
    int64_t *out_for_ms, struct err *err);

/* Put the value of OPT_DAY, OPT_SINCE or OPT_UNTIL into the window.  0; -1: it
 * is not a moment. */
int ask_option(enum option_id option, const char *value,
    struct journal_ask *ask, struct err *err);

/* Does a line answer the question, and is its time in the window? */
bool ask_fits(const struct journal_ask *ask, struct slice line);
/* Is it a line about one recipient, and another one than "to:" asks for?  The
 * lines about a message as a whole are not. */
bool ask_is_of_another(const struct journal_ask *ask, struct slice line);

#endif
