/* old.h - a message in another mailer's queue
 *
 * Pure: bytes of files in, a struct old_message and the bytes of the message
 * out.  A reader trusts nothing: each length is checked against what is there,
 * and anything unknown is an error that says where.  Slices point into the
 * files or the arena.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_IMPORT_OLD_H
#define ZM_TOOLS_IMPORT_OLD_H

#include "mail/envelope.h"

enum {
	OLD_ID_BYTES = 32,		/* their id and a NUL */
	OLD_RCPTS_MAX = ENVELOPE_RCPTS_MAX
};

struct old_files {			/* all that there is of one message */
	struct slice	main;		/* Postfix: all; Exim: -H; qf */
	struct slice	body;		/* Exim: -D; df */
	struct slice	journal;	/* Exim: -J */
	const char	*id;
	int64_t		 mtime_s;	/* of main */
};

struct old_message {
	struct envelope	 envelope;	/* without its id; only recipients
					 * that wait */
	int64_t		 arrived_us;	/* wall */
	size_t		 done;		/* recipients that are finished */
	bool		 is_held;	/* a person or a rule there said so */
	bool		 is_wire;	/* the body's lines end in CR LF */
	struct str	 lost;		/* what cannot be kept here */
};

/* Where the bytes of a message go: header, empty line, body. */
struct old_sink {
	int		(*put)(void *context, struct slice bytes,
			    struct err *err);
	void		*context;
	uint64_t	 bytes, line;	/* what came out; the line it is in */
	uint64_t	 lone_crs;	/* each became an end of line */
	bool		 has_8bit;
	bool		 is_after_cr;
};
/* CR LF and CR become LF, as in our sendmail(1); a NUL is refused.
 * returns 0 or -1 */
int old_sink_add(struct old_sink *sink, struct slice bytes, struct err *err);
/* The end of the message, whose last byte may be a CR.  0 or -1 */
int old_sink_end(struct old_sink *sink, struct err *err);

struct old_kind {
	const char	*name;
	const char	*stop;		/* what ends the old mailer */
	const char	*empty;		/* what empties its queue */
	/* 0; -1: err says what is wrong with which file. */
	int		(*read)(struct arena *arena,
			    const struct old_files *files,
			    struct old_message *out, struct err *err);
	int		(*copy)(const struct old_files *files,
			    const struct old_message *message,
			    struct old_sink *sink, struct err *err);
};
extern const struct old_kind old_postfix, old_exim, old_sendmail;

/* ---- what the readers share (address.c) --------------------------------- */

/* Words about what is lost, once, separated by semicolons. */
void old_lost_add(struct old_message *message, const char *words);

/* Add a recipient, zeroed; NULL: there are too many. */
struct old_rcpts {
	struct envelope_rcpt	*rows;
	size_t			 count, room;
};
struct envelope_rcpt *old_rcpt_add(struct old_rcpts *rcpts);
/* Put them into the envelope, in the arena; the list is released. */
void old_rcpts_take(struct arena *arena, struct old_rcpts *rcpts,
    struct envelope *out);

/* Parse an address of an envelope, with or without < >.
 * returns 0 or -1 */
int old_address(struct arena *arena, struct slice text, struct path *out,
    struct err *err);
/* The same for one that lacks quotes where RFC 5321 requires them. */
int old_address_plain(struct arena *arena, struct slice text,
    struct path *out, struct err *err);
/* Parse the sender; empty or <>: null.  is_plain: as old_address_plain.
 * returns 0 or -1 */
int old_sender(struct arena *arena, struct slice text, bool is_plain,
    struct envelope *out, struct err *err);
/* ORCPT=, ENVID= of theirs; what cannot be kept is lost.  has_xtext: it is
 * xtext already. */
void old_orcpt(struct arena *arena, struct slice text, bool has_xtext,
    struct old_message *message, struct slice *out);
void old_envid(struct arena *arena, struct slice text, bool has_xtext,
    struct old_message *message);
/* Set where it came from, for Received: name and address may be empty. */
void old_came_from(struct arena *arena, const char *kind, const char *id,
    struct slice name, struct slice address, struct envelope *out);
/* Set the submitting user; a name that does not fit into a line is lost. */
void old_user(struct arena *arena, struct slice user,
    struct old_message *message);

#endif
