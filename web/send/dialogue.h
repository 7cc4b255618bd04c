/* dialogue.h - hand a letter to our own submission listener, by SMTP
 *
 * The listener checks the password, applies the rules and writes the message;
 * the desk only passes on what it was given.  A dialogue pauses twice, until it
 * is told to continue: when the user is known, and when the recipients are,
 * before DATA.
 *
 *   dialogue_begin ... DIALOGUE_KNOWN ... dialogue_go_on ...
 *   DIALOGUE_RCPTS ... dialogue_go_on ... DIALOGUE_OVER, once, in any case
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_WEB_DIALOGUE_H
#define ZM_WEB_DIALOGUE_H

#include <sys/socket.h>

#include "mail/spool_id.h"
#include "web/send/letter.h"

struct event_base;
struct ssl_ctx_st;

enum { DIALOGUE_S = 60, DIALOGUE_LOGIN_BYTES_MAX = 1000 };

struct submit_place {		/* where the listener is */
	struct sockaddr_storage address;
	socklen_t	 length;
	bool		 is_tls;	/* from the first byte */
	bool		 is_near;	/* this machine: a path, loopback */
	char		 name[256];	/* in its certificate, if not near */
	struct ssl_ctx_st *tls;
};

struct rcpt_outcome {		/* of a recipient */
	int		 code;		/* 0: not known */
	struct slice	 text;		/* one line, safe to show */
};

enum dialogue_end {
	DIALOGUE_SENT,
	DIALOGUE_LOGIN,			/* name or password is wrong */
	DIALOGUE_REFUSED,		/* code and text say why */
	DIALOGUE_DOWN,			/* text says what is wrong */
	DIALOGUE_UNKNOWN		/* the message was on its way: it is
					 * not known if it was accepted */
};

enum dialogue_news { DIALOGUE_KNOWN, DIALOGUE_RCPTS, DIALOGUE_OVER };

struct dialogue;
typedef void dialogue_fn(void *context, enum dialogue_news news);

struct dialogue_told {		/* what it is given; the caller's */
	struct event_base *base;
	const struct submit_place *place;
	struct slice	 user, password;
	const char	*client;	/* an address, for XCLIENT; NULL */
	struct letter	*letter;
	struct rcpt_outcome	*outcomes;	/* one for each recipient */
	dialogue_fn	*fn;
	void		*context;
	/* the outcome, after DIALOGUE_OVER */
	enum dialogue_end end;
	int		 code;
	struct slice	 text;		/* in the letter's arena */
	char		 id[SPOOL_ID_BYTES];	/* DIALOGUE_SENT; "-": the
						 * reply has no id of ours */
};

/* Begin; fn is called from the loop, never from here. */
struct dialogue *dialogue_begin(struct dialogue_told *told);
/* Continue after DIALOGUE_KNOWN or DIALOGUE_RCPTS; not after DIALOGUE_OVER. */
void dialogue_go_on(struct dialogue *dialogue);
/* End it at once; fn is not called any more.  NULL is harmless; sets *dialogue
 * to NULL. */
void dialogue_drop(struct dialogue **dialogue);

#endif
