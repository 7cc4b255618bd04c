/* crew.h - the doorman's side of the session workers
 *
 * Holds the processes, what is on its way to them, and which seat (session)
 * is with whom.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SMTPSERVER_DOORMAN_CREW_H
#define ZM_SMTPSERVER_DOORMAN_CREW_H

#include "daemon/skeleton.h"
#include "mail/spool/spool.h"
#include "smtpserver/doorman/clients.h"

struct crew;

/* What the crew needs of the doorman; context is given to all. */
struct crew_owner {
	loop_fn	*child_fn;	/* in each child after the fork: close what
				 * is the doorman's; calls crew_in_child */
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

struct crew *crew_new(struct process *process, struct spool *spool,
    struct clients *clients, const struct crew_owner *owner);
/* Workers get SIGTERM and are waited for.  The loop is not turned again. */
void crew_free(struct crew **crew);

/* Have this many workers: fork, or tell the last ones to leave; what they
 * have begun goes on to its end.  A worker that dies is replaced; one that
 * dies at once, after a second. 0 or -1. */
int crew_resize(struct crew *crew, unsigned workers, struct err *err);

/* Is there a worker that can take a connection now?  crew_give needs one. */
bool crew_has_room(const struct crew *crew);

/* Has every worker as many sessions as it has descriptors for?  Then a
 * connection is better refused than left waiting. */
bool crew_is_full(const struct crew *crew);

/* Hand a connection (taken) to the least busy worker.  client: counted,
 * left when the session ends (taken).  is_tls: from its first byte. */
void crew_give(struct crew *crew, int fd, const char *endpoint,
    const char *listener, bool is_tls, struct client_count *client);

/* A line for the worker that asked; nothing when that has gone. */
void crew_answer(struct crew *crew, uint64_t asker, struct slice line);

/* In a child: close our sockets. */
void crew_in_child(struct crew *crew);

/* Tell every worker, also those that leave. */
void crew_tell(struct crew *crew, const char *word);
/* All stop, also those that leave; no replacements from now on. */
void crew_stop(struct crew *crew);
/* Stop waiting for them: SIGKILL. */
void crew_kill(struct crew *crew);

unsigned crew_session_count(const struct crew *crew);
unsigned crew_worker_count(const struct crew *crew);

#endif
