/* draft.h - the control file of a message in the making
 *
 * Recipients become lines in the order in which they come.  The text stays in
 * memory until it is large; then it goes to its sink piece by piece, so that a
 * list of a million members needs no memory for their addresses.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_ROUTER_CONTROL_DRAFT_H
#define ZM_ROUTER_CONTROL_DRAFT_H

#include "mail/control_file/control_file.h"

enum {
	RCPT_UID_NOBODY = CONTROL_UID_NOBODY,
	CONTROL_PIECE_BYTES = 256 << 10,	/* written at a time */
	CONTROL_DONE_MAX = 10000		/* recipients with an outcome */
};

/* The rule that led there, for the journal and for `zmailer route`. */
struct rcpt_rule {
	const char	*kind;	/* "domain" "alias" "route" "default" ... */
	const char	*where;	/* file or table; NULL: built in */
	unsigned	 line;	/* 0: none */
};

struct draft_rcpt {		/* what ZMailer calls a quad, and how it came */
	struct slice	  channel, host, user;
	int64_t		  uid;
	unsigned	  notify;	/* enum dsn_notify bits */
	struct slice	  orcpt;	/* xtext, or empty */
	struct slice	  given;	/* xtext of `to` for the control file;
					 * empty: orcpt or user is it */
	const struct control_way *ways;	/* after this one, in order; they
					 * stay as long as the control file */
	size_t		  way_count;
	struct slice	  zone;		/* the configuration's; or empty */
	unsigned	  sender;	/* number of a rcpt_sender */
	unsigned	  header;	/* 0, or the number of the generic
					 * statement whose header it gets */
	enum rcpt_done { RCPT_OPEN, RCPT_EXPANDED, RCPT_DELIVERED }
			  done;		/* its outcome is known: an alias or
					 * list that became other recipients */
	struct slice	  to;		/* the recipient as it came */
	struct rcpt_rule rule;
};

struct rcpt_sender {		/* of a group of recipients */
	struct slice	address;	/* on the wire; empty: null */
	struct slice	errors_to;	/* empty: the address */
	struct slice	verp;		/* not empty: the domain after the
					 * local part in address; each
					 * recipient gets its own sender */
	char		delimiter;	/* of VERP */
};

/* Where bytes go that leave memory.  Each function returns 0 or -1 with err. */
struct control_sink {
	void	*context;
	int	(*write)(void *context, struct slice bytes, struct err *err);
	/* Truncate what was written to this size. */
	int	(*back)(void *context, uint64_t bytes, struct err *err);
	/* Overwrite the first bytes with the first line. */
	int	(*first)(void *context, struct slice line, struct err *err);
};

/* The headers of recipients that do not get the message's own.  number: of a
 * struct draft_rcpt, not 0.  out must stay as long as the draft; it is the
 * message's own if nothing would differ.  0, or -1 with err. */
struct control_headers {
	void	*context;
	size_t	 count;			/* numbers end here */
	int	(*find)(void *context, unsigned number, struct slice *out,
	    struct err *err);
};

/* A header for one recipient only, made from text, the header that it would
 * get; sender: as it will be on the wire.  *out: the header, which must stay as
 * long as the draft, or text itself.  0, or -1 with err. */
struct control_stamps {
	void	*context;
	int	(*find)(void *context, const struct draft_rcpt *rcpt,
	    struct slice sender, struct slice text, struct slice *out,
	    struct err *err);
};

struct control_header {
	struct slice	text;
	uint32_t	offset;		/* of the text in the file; 0: it is
					 * not there yet */
};

struct control_done {
	uint32_t	offset;
	enum rcpt_done	done;
};

/* Where the control file stood. */
struct control_mark {
	uint64_t	bytes;
	uint32_t	crc;		/* of these; once they are written */
	size_t		rcpts, done_count;
	struct control_header *header;
	const struct rcpt_sender *sender;
	bool		is_begun;
};

struct control_draft {
	struct control_writer	 writer;
	struct str		*out;
	const struct control_sink *sink;	/* NULL: all in memory */
	/* its common lines */
	const struct control_file	*control;
	struct control_header	 own;
	const struct control_headers *others;	/* NULL: own is for all */
	const struct control_stamps *stamps;	/* NULL: no recipient has its
						 * own */
	struct control_header	*headers;	/* [others->count + 1]; in
						 * arena at the first need */
	struct control_header	*header;	/* of the open groups */
	struct control_done	*done;		/* in arena */
	size_t			 done_count, done_capacity;
	struct arena		*arena;
	const struct rcpt_sender *sender;	/* of the open group */
	struct control_mark	 mark;
	bool			 is_begun;
	int			 result;	/* -1: err has it */
	bool			 is_unwritten;	/* the error is the sink's */
	bool			 is_deferred;	/* it is of the headers */
	struct err		 err;
	size_t			 rcpts;
};

/* Begin a draft.  control has the common lines and must stay; header is for all
 * recipients except those that others names (set after this).  out is the
 * caller's buffer. */
void control_draft_init(struct control_draft *draft, struct arena *arena, struct
    str *out, const struct control_sink *sink,
    const struct control_file *control, struct
    slice header);

/* Add a recipient; sender must stay as long as the draft.  control_draft_end
 * reports errors. */
void control_draft_add(struct control_draft *draft,
    const struct draft_rcpt *rcpt, const struct rcpt_sender *sender);

/* Mark the place to which control_draft_back returns, any number of times.  It
 * is cheap, as it is called for each recipient. */
void control_draft_mark(struct control_draft *draft);
void control_draft_back(struct control_draft *draft);

/* Finish: write header, first line, outcomes.  What did not go to the sink is
 * in out.  returns 0; -1 with err: too large, a value that does not fit into a
 * line, or the sink's error. */
int control_draft_end(struct control_draft *draft, struct err *err);

#endif
