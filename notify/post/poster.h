/* poster.h - the process of one receiver: reads the journal and posts
 *
 * Straight-line code.  Each receiver has one, so that one that is slow or
 * away holds up no other.  It tells its parent, a line each:
 *
 *	waits MS	since then an event waits (ms since 1970); 0: none does
 *	good		the receiver accepts events
 *	failing WORDS	it does not
 *	over WORDS	it said 410: it is sent nothing any more
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_NOTIFY_POSTER_H
#define ZM_NOTIFY_POSTER_H

#include "notify/mark/mark.h"
#include "notify/post/post.h"

enum {
	POSTER_LOOK_MS = 200,		/* between two looks at the journal */
	POSTER_AGAIN_MS = 1000,		/* after the first failure; then twice
					 * as long */
	POSTER_AGAIN_MAX_MS = 300000,
	POSTER_SAVE_MS = 60000		/* events that are not sent are passed
					 * on the disk, too */
};

struct poster_order {
	const char	*host;		/* of this instance */
	const struct conf_notify *notify;
	struct post_goal goal;
	int		 log_fd, mark_fd;	/* directories */
};

/* Until the other end of the socket is closed. */
void poster_run(const struct poster_order *order, int socket);

#endif
