/* connection.h - a worker and its connections, between the files of this
 * folder
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SMTPSERVER_WORKER_CONNECTION_H
#define ZM_SMTPSERVER_WORKER_CONNECTION_H

#include <sys/queue.h>

#include "io/sync.h"
#include "smtpserver/worker/worker.h"

struct connection {
	struct worker		*worker;
	struct session		*session;
	struct stream		*stream;
	struct timer		 timer;
	uint32_t		 token;
	uint64_t		 ask_token;	/* 0: no question is out */
	bool			 is_stirred, is_storing;
	bool			 is_syncing;	/* its draft is at the syncer:
						 * nobody touches its session */
	struct sync_task	 sync;
	int			 sync_error;	/* errno */
	int64_t			 sync_us;	/* it took so long */
	TAILQ_ENTRY(connection)	 all, stirred, storing;
};

TAILQ_HEAD(connection_list, connection);

struct worker {
	struct loop		*loop;
	struct service		 service;
	struct connection_list	 all, stirred, storing;
	struct connection_list	 ended;		/* by all: to be closed */
	struct syncer		*syncer;	/* NULL: the loop waits */
	int64_t			 slow_us;
	unsigned		 syncing_count;	/* at threads of it */
	uint64_t		 stored_count;	/* messages, or that failed */
	unsigned		 slow_left;	/* drafts to be handed over */
	size_t			 count;
	struct str		 lines;		/* for the listener */
	bool			 is_urgent;	/* before the replies */
	loop_fn			*lines_fn;	/* NULL: they are fetched */
	void			*lines_context;
	struct asks		*asks;
	struct timer		 stop_timer;
	struct timer		 keep_timer;	/* what all machines share is
						 * held still */
	bool			 is_final;	/* stop_timer went off */
	bool			 is_leaving;	/* no more sessions come */
};

/* Something happened to the session: look at it at the end of the turn. */
void connection_stir(struct connection *connection);

/* Send its question on, once. */
void connection_ask(struct connection *connection);

/* Give the listener the lines for it. */
void worker_lines_say(struct worker *worker);

/* Ask for copies of what is complete, and make it durable (S0 to S1): now, or
 * beside the loop where the disk is slow.  Sessions go on afterwards, publish
 * it, and may join the next group. */
void worker_commit(struct worker *worker);

#endif
