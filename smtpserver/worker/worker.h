/* worker.h - many sessions in one loop, one group commit a turn
 *
 * A turn: read all that can be read and let the sessions take their steps; then
 * make what became complete durable together, publish it, and only then write
 * the replies, one write a session.  If the disk is slow, threads sync each
 * message by itself, and the others go on.  The listener is told what a session
 * frees (places of limit parallel, itself) before its client can notice.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SMTPSERVER_WORKER_WORKER_H
#define ZM_SMTPSERVER_WORKER_WORKER_H

#include <stdint.h>

#include "daemon/skeleton.h"
#include "smtpserver/session/session.h"

struct worker;

/* A worker in a loop.  spool stays the caller's, settings are taken. */
struct worker *worker_new(struct loop *loop, struct spool *spool,
    struct settings *settings);
/* Drops the sessions that are left. */
void worker_free(struct worker **worker);

/* Serve a client on fd (taken).  token: what worker_take_lines names
 * when it has gone. */
void worker_open(struct worker *worker, int fd, uint32_t token,
    const struct client *client);

/* Certificates from this keyring (taken), failed logins into failures
 * (borrowed); the sessions are our own users' alone. */
void worker_equip(struct worker *worker, struct keyring *keyring,
    struct failures *failures, bool is_submission);

/* Threads (io/sync.h) make messages durable while that takes slow_us or
 * longer, so that no session waits for the disk of another; a quick disk is
 * not worth the way there and back.  To be called after the last fork;
 * without it the end of a turn waits for each. */
enum { WORKER_SLOW_US = 100000 };
void worker_sync_beside(struct worker *worker, int64_t slow_us);

/* What it promises room for is known to others (both borrowed, or NULL). */
void worker_share(struct worker *worker, struct space_shared *shared,
    struct space_part *part);

/* For sessions to come (taken). */
void worker_reload(struct worker *worker, struct settings *settings);

enum { WORKER_STOP_FOR_MS = 10000 };

/* Tell idle sessions 421, let those in DATA finish, at the most for
 * WORKER_STOP_FOR_MS; then the loop is stopped. */
void worker_stop(struct worker *worker);

/* No more sessions come: the loop is stopped when those that are there are
 * over.  Each has its own limits of time. */
void worker_leave(struct worker *worker);

/* Sessions that it has now. */
size_t worker_session_count(const struct worker *worker);
/* Append what the listener is to hear since the last call: "closed TOKEN\n"
 * for each session that ended, "ask TOKEN KIND QUESTION\n" for each
 * question. */
void worker_take_lines(struct worker *worker, struct str *out);
/* Call fn whenever lines are to go out now: before replies that tell clients
 * that something is free again, and before connections are closed. */
void worker_on_lines(struct worker *worker, loop_fn *fn, void *context);
/* There are many sessions (enum shed_level), or no more. */
void worker_press(struct worker *worker, int pressure);
/* The answer to a question; nothing when nobody waits for it any more. */
void worker_answer(struct worker *worker, uint64_t token,
    enum ask_state state, struct slice answer);

struct worker_sockets {
	int	listener;
	int	keys;		/* keys.h; -1: there are none */
	bool	is_submission;	/* serves our own users, nobody else */
	struct failures	*failures;	/* failures.h; or NULL */
	struct space_shared *space;	/* space.h; or NULL */
	struct space_part *part;	/* this worker's; or NULL */
};

/* The process: serve what the listener sends; never returns.
 *
 * From the listener	open TOKEN ENDPOINT LISTENER N [tls]
 *			with a descriptor; N: sessions of its address
 *			answer TOKEN ok ANSWER		to an ask
 *			answer TOKEN trouble WHY
 *			pressure LEVEL			enum shed_level
 *			reload				read the file again
 *			leave				no more sessions come
 *			stop				finish
 * To the listener	closed TOKEN
 *			ask TOKEN KIND QUESTION
 *			leaving		cannot read the file: say leave
 * End of file there means stop. */
void worker_process(struct process *process,
    const struct worker_sockets *sockets, struct spool *spool)
	__attribute__((noreturn));

#endif
