/* dialogue_internal.h - what the two files of a dialogue share
 *
 * dialogue.c has its connection and its end, dialogue_steps.c its commands and
 * the meaning of the replies.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_WEB_DIALOGUE_INTERNAL_H
#define ZM_WEB_DIALOGUE_INTERNAL_H

#include "grammar/smtp/reply.h"
#include "web/send/dial.h"
#include "web/send/dialogue.h"

struct bufferevent;
struct event;

#define DIALOGUE_STEPS(STEP) \
	STEP(GREETING) \
	STEP(EHLO) STEP(STARTTLS) STEP(HANDSHAKE) STEP(XCLIENT) STEP(AUTH) \
	    STEP(KNOWN) STEP(MAIL) STEP(RCPT) STEP(RCPTS) STEP(DATA) STEP(END) \
		STEP(OVER)
enum dialogue_step {
#define STEP(name) STEP_##name,
	DIALOGUE_STEPS(STEP)
#undef STEP
	STEPS
};
struct offers {			/* of EHLO */
	bool	plain, starttls, xclient, size, mime8, utf8, pipelining;
};

struct dialogue {
	struct dialogue_told *told;
	struct dial	*dial;		/* NULL: it is connected, or over */
	struct bufferevent *bev;	/* NULL: there is none */
	struct event	*timer;
	enum dialogue_step step;
	struct offers	 offers;
	bool		 is_tls, is_client_told;
	size_t		 asked, answered;	/* recipients */
};

/* End it: store the outcome in told and call fn.  Do not use the dialogue after
 * this, because fn drops it. */
void dialogue_over(struct dialogue *dialogue, enum dialogue_end end, int code,
    struct slice text);
/* The same if something is wrong with the listener or the way to it. */
void dialogue_down(struct dialogue *dialogue, const char *words);
/* Send a command with its CR LF; step waits for the reply. */
void dialogue_say_line(struct dialogue *dialogue, const char *line,
    enum dialogue_step step);
/* Use TLS from now on; EHLO follows the handshake. */
void dialogue_start_tls(struct dialogue *dialogue);
/* A reply came: do the next step. */
void dialogue_take(struct dialogue *dialogue, const struct reply *reply);

#endif
