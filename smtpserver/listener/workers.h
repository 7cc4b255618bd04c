/* workers.h - the listener's side of the session workers
 *
 * Holds the processes, what is on its way to them, and which slot (session)
 * is with whom.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SMTPSERVER_LISTENER_WORKERS_H
#define ZM_SMTPSERVER_LISTENER_WORKERS_H

#include "daemon/skeleton.h"
#include "mail/spool/spool.h"
#include "smtpserver/listener/clients.h"

struct workers;

/* What the pool needs of the listener; context is given to all. */
struct workers_owner {
	loop_fn	*child_fn;	/* in each child after the fork: close what
				 * is the listener's */
	loop_fn	*changed_fn;	/* a worker has room again or is gone */
	/* A worker asks: "TOKEN KIND QUESTION".  false: nonsense. */
	bool	(*ask_fn)(void *context, uint64_t asker, struct slice line);
	void	*context;
	/* A new worker's socket to the keys; -1: there are no keys.  NULL: as
	 * -1 always. */
	int	(*keys_fn)(void *context, bool is_submission);
	bool	is_submission;	/* workers for our own users alone */
	struct failures	*failures;	/* of logins, for all workers */
	struct space_shared *space;	/* in the spool; or NULL */
};

/* A pool without workers (workers_resize).  owner is copied, the rest
 * borrowed. */
struct workers *workers_new(struct process *process, struct spool *spool,
    struct clients *clients, const struct workers_owner *owner);
/* Workers get SIGTERM and are waited for.  The loop is not turned again. */
void workers_free(struct workers **pool);

/* Have this many workers: fork, or tell the last ones to leave; what they
 * have begun goes on to its end.  A worker that dies is replaced, one that
 * dies at once after a while (child.h).  0; or -1 when one could not be
 * forked: that is tried again. */
int workers_resize(struct workers *pool, unsigned wanted, struct err *err);

/* Is there a worker that can take a connection now?  workers_give needs one. */
bool workers_has_room(const struct workers *pool);

/* Has every worker as many sessions as it has descriptors for?  Then a
 * connection is better refused than left waiting. */
bool workers_is_full(const struct workers *pool);

/* Hand a connection (taken) to the least busy worker.  client: counted,
 * left when the session ends (taken).  is_tls: from its first byte. */
void workers_give(struct workers *pool, int fd, const char *endpoint,
    const char *bound_to, bool is_tls, struct client_count *client);

/* A line for the worker that asked; nothing when that has gone. */
void workers_answer(struct workers *pool, uint64_t asker, struct slice line);

/* Tell every worker, also those that leave. */
void workers_tell(struct workers *pool, const char *word);
/* All stop, also those that leave; no replacements from now on. */
void workers_stop(struct workers *pool);
/* Stop waiting for them: SIGKILL. */
void workers_kill(struct workers *pool);

/* Sessions that workers have now. */
unsigned workers_session_count(const struct workers *pool);
/* Processes that run now, also those that leave. */
unsigned workers_count(const struct workers *pool);

#endif
