/* wire.h - a connection to the PostgreSQL, on which one job is under way
 *
 * A job is a transaction: statements that are sent one after another without
 * waiting for answers (pipeline mode), of which all are carried out, or none.
 * They are asked for as the socket takes them, so that a large message is never
 * in memory as a whole.  The places are tried in turn, each for
 * WIRE_CONNECT_MS; after a round there is a pause.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SHARE_COPIES_WIRE_H
#define ZM_SHARE_COPIES_WIRE_H

#include "base/err.h"
#include "io/loop.h"
#include "share/copies/goal.h"

enum {
	WIRE_CONNECT_MS = 3000,
	WIRE_VALUES_MAX = 10,
	WIRE_CODE_BYTES = 6
};

struct wire;
struct wire_rows;

struct wire_statement {		/* with $1, $2 ... */
	const char	*text;
	int		 count;		/* of values */
	struct {
		const char	*p;	/* NULL: null */
		size_t		 n;
		bool		 is_binary;
	}		 values[WIRE_VALUES_MAX];
	bool		 wants_binary;	/* columns of the answer */
};

enum wire_end {
	WIRE_DONE,		/* it is committed */
	WIRE_REFUSED,		/* nothing of it was done: wire_trouble */
	WIRE_LOST		/* nobody knows: the connection is gone */
};

struct wire_trouble {
	size_t	index;			/* of the statement, from 0 */
	char	code[WIRE_CODE_BYTES];	/* SQLSTATE; "": none */
	char	text[ERR_TEXT_BYTES];
};

struct wire_job {
	/* The next statement; what it points to is copied.  false: that was
	 * all. */
	bool	(*next)(void *context, struct wire_statement *out);
	/* The answer to statement index; NULL: nobody looks at it. */
	void	(*rows)(void *context, size_t index,
	    const struct wire_rows *rows);
	/* It is over; the next one may be run.  trouble: unless WIRE_DONE. */
	void	(*end)(void *context, enum wire_end end,
	    const struct wire_trouble *trouble);
};

struct wire_kind {
	void	(*open)(void *context);		/* a job may be run */
	/* After the end of the job, if one was under way; also of each round of
	 * places in vain. */
	void	(*lost)(void *context, const char *why);
};

/* Connect, in the loop.  All is borrowed. */
struct wire *wire_new(struct loop *loop, const struct copies_goal *goal,
    const struct wire_kind *kind, void *context);
/* No function is called any more.  Nulls *wire. */
void wire_free(struct wire **wire);

/* Would a job begin at once? */
bool wire_is_free(const struct wire *wire);
/* Run one, for the steady moment until_ms at most, else it is lost. */
void wire_run(struct wire *wire, const struct wire_job *job, void *context,
    int64_t until_ms);

/* It has answered to the end: if it is lost it is tried again soon. */
void wire_praise(struct wire *wire);
/* Give the connection up, and connect again after a pause; to be called when no
 * job is under way. */
void wire_give_up(struct wire *wire, const char *why);

/* Where it is connected to, or was last; borrowed. */
const char *wire_place(const struct wire *wire);

/* How many there are. */
size_t wire_row_count(const struct wire_rows *rows);
/* Borrowed from rows; empty: null, or no such row or column. */
struct slice wire_value(const struct wire_rows *rows, int row, int column);
bool wire_is_null(const struct wire_rows *rows, int row, int column);
/* A number of it.  false: it is none. */
bool wire_number(const struct wire_rows *rows, int row, int column,
    uint64_t *out);

#endif
