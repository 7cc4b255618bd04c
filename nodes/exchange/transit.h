/* transit.h - one connection, and where it leads; internal to nodes/exchange
 *
 * Of a user:  CALL    "to NODE control|verb|config"
 *             DIAL    a connection to that node
 *             REACH   TLS, our hello, its answer
 *             RELAY   bytes, both ways
 * Of a node:  SHAKE   TLS; its certificate has a node's name
 *             HELLO   who asks for what, in whose name
 *             FOR     the scheduler hears whose connection it is
 *             RELAY   bytes, both ways; of a publish at once
 *             WORDS   or: a verb and its words
 *             VERB    which runs
 * Of both:    CLOSING the last words go out
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_NODES_TRANSIT_H
#define ZM_NODES_TRANSIT_H

#include <sys/queue.h>

#include "io/consult/nodes_line.h"
#include "nodes/answer/answering.h"
#include "nodes/exchange/exchange.h"

enum transit_at {
	AT_CALL, AT_DIAL, AT_REACH, AT_SHAKE, AT_HELLO, AT_FOR, AT_WORDS,
	AT_VERB, AT_RELAY, AT_CLOSING
};
enum transit_step {
	STEP_NEXT,			/* at has changed: go on there */
	STEP_WAIT,
	STEP_END			/* it is over: free it */
};
enum { SIDE_NEAR, SIDE_FAR, SIDES };

struct transit {
	TAILQ_ENTRY(transit) entry;
	struct exchange	*exchange;
	bool		 is_local;
	enum transit_at	 at;
	struct stream	*sides[SIDES];	/* who came; where it leads, or NULL */
	bool		 is_eof[SIDES];	/* it says no more */
	bool		 is_told[SIDES];	/* and the other knows it */
	int		 dial_fd;	/* -1 */
	struct watch	*dial;
	size_t		 node;		/* asked, or who asks */
	enum nodes_want	 want;
	char		 who[NODES_WHO_BYTES_MAX + 1];
	bool		 may_write, is_denied;
	bool		 is_owner;	/* root, or who runs this instance */
	struct answering *answering;
	struct timer	 timer;
};
TAILQ_HEAD(transit_list, transit);

struct exchange {
	struct process		*process;
	const struct conf_cluster *cluster;
	const struct exchange_means	*means;
	size_t			 self;
	int			 listeners[2];	/* of users, of nodes */
	struct watch		*watches[2], *lifeline;
	struct transit_list	 transits;
	size_t			 counts[2], denied_count;
	bool			 is_leaving;
	struct timer		 leave_timer;
};

/* A transit of this connection, which it owns. */
struct transit *transit_new(struct exchange *exchange, int fd, bool is_local);
void transit_free(struct transit **transit);
/* Do what can be done now; may free it. */
void transit_go(void *context);

/* The next line of that side, without its LF, at most max bytes; it is still to
 * be consumed (its bytes and the LF).  STEP_NEXT: there is one; STEP_WAIT;
 * STEP_END: there will be none. */
enum transit_step transit_line(struct transit *transit, int side, size_t max,
    struct slice *out);
/* Say "no WORDS" to who came, and close. */
enum transit_step transit_refuse(struct transit *transit, const char *format,
    ...) __attribute__((format(printf, 2, 3)));
/* From now on it has the longer time. */
void transit_settle(struct transit *transit, enum transit_at at);

/* A step each: calls.c, arriving.c. */
enum transit_step transit_call(struct transit *transit);
enum transit_step transit_reach(struct transit *transit);
enum transit_step transit_shake(struct transit *transit);
enum transit_step transit_hello(struct transit *transit);
enum transit_step transit_for(struct transit *transit);
enum transit_step transit_words(struct transit *transit);

#endif
