/* asked_link.h - the connection to the process that asks databases
 *
 * A process has one for all its tables that are asked.  What is expected is
 * not sent at once, but together with the next question that somebody waits
 * for: one write, and the process there wakes once.  When the connection ends,
 * as by a reload, all that was lent over it is forgotten.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_MAIL_TABLE_ASKED_LINK_H
#define ZM_MAIL_TABLE_ASKED_LINK_H

#include "base/cache.h"
#include "base/err.h"
#include "base/str.h"

struct asked {			/* a table */
	char		*name;
	char		*path;		/* of its definition */
	struct cache	*kept;		/* NULL: nothing was lent yet */
	unsigned	 kept_of;	/* which connection lent it */
	struct str	 line;		/* of its last answer */
};

/* Connect, unless there is a connection that still stands; answers that have
 * come over it are taken.  0, or -1 with err. */
int asked_link_connect(struct err *err);
/* Close it.  Nothing that was sent has an answer any more. */
void asked_link_forget(void);

/* After asked_link_connect: was the answer to key lent?  *out_answer, without
 * token and "ok MS", is valid until the next question to this table. */
bool asked_link_knows(const struct asked *asked, struct slice key,
    struct slice *out_answer);
/* After asked_link_connect: ask by verb ("lend", "test") unless that is under
 * way, and wait.  *out_answer, without its token, is valid until the next
 * question to this table.  0; -1 with err: the connection is closed. */
int asked_link_ask(struct asked *asked, const char *verb, struct slice key,
    struct slice *out_answer, struct err *err);
/* Somebody will soon ask for key. */
void asked_link_expect(struct asked *asked, const char *verb,
    struct slice key);

/* Ask for all names, over a connection on which nothing else is awaited.
 * *out_token begins the lines that will come.  0 or -1 with err. */
int asked_link_list(const struct asked *asked, uint64_t *out_token,
    struct err *err);
/* Wait until deadline_ms (clock_steady_ms) for a line; valid until the next
 * call.  0, or -1 with err. */
int asked_link_line(int64_t deadline_ms, struct slice *out_line,
    struct err *err);

/* The table is closed. */
void asked_link_leave(struct asked *asked);

#endif
