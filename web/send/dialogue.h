/* dialogue.h - a letter handed to our own submission listener, by SMTP
 *
 * The listener checks the password, judges and writes; the desk says what it
 * was told to say.  A dialogue stops twice and goes on when it is told to:
 * when the user is known, and when the recipients are, before DATA.
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
	char		 name[256];	/* its certificate's, if far */
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
	DIALOGUE_DOWN,			/* text says what is the matter */
	DIALOGUE_UNKNOWN		/* the message was on its way: nobody
					 * knows what became of it */
};

enum dialogue_news { DIALOGUE_KNOWN, DIALOGUE_RCPTS, DIALOGUE_OVER };

struct dialogue;
typedef void dialogue_fn(void *context, enum dialogue_news news);

struct dialogue_told {		/* what it is told; the caller's */
	struct event_base *base;
	const struct submit_place *place;
	struct slice	 user, password;
	const char	*client;	/* an address, for XCLIENT; NULL */
	struct letter	*letter;
	struct rcpt_outcome	*outcomes;	/* one for each recipient */
	dialogue_fn	*fn;
	void		*context;
	/* what came of it, when it is over */
	enum dialogue_end end;
	int		 code;
	struct slice	 text;		/* in the letter's arena */
	char		 id[SPOOL_ID_BYTES];	/* DIALOGUE_SENT; "-": it
						 * said none of ours */
};

/* Begin; fn is called from the loop, never from here. */
struct dialogue *dialogue_begin(struct dialogue_told *told);
/* Go on after DIALOGUE_KNOWN or DIALOGUE_RCPTS; not after DIALOGUE_OVER. */
void dialogue_go_on(struct dialogue *dialogue);
/* End it where it stands; fn is not called any more.  NULL: nothing. */
void dialogue_drop(struct dialogue **dialogue);

#endif
