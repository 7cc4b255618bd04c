/* pool.h - the router's workers, and which messages each has
 *
 * Each worker is sent up to POOL_BATCH names ahead.  A name is a line, and a
 * worker has the message only when it has claimed it.  What waits unclaimed
 * after a long list for POOL_STEAL_MS is also given to an idle worker; the
 * rename decides which gets it.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_ROUTER_POOL_H
#define ZM_ROUTER_POOL_H

#include "daemon/skeleton.h"
#include "router/workers/queue.h"

enum {
	POOL_BATCH = 16,		/* names ahead of one worker */
	POOL_TASKS = 256,		/* waiting, of those that can wait */
	POOL_STEAL_MS = 50,
	POOL_NAP_MS = 100,
	POOL_STOP_MS = 10000		/* then they are no longer waited for */
};

struct pool;

/* Called in the child: serve socket until end of file. */
typedef void pool_worker_fn(void *context, int socket);
/* Called in the parent: a worker died (pid is reaped, descriptors closed). */
typedef void pool_death_fn(void *context, pid_t pid, int status);

/* Called in the parent before the worker of this number is forked, and
 * (is_done) after it was, or could not be.  Numbers count from 1; a process
 * that replaces one that died has the same. */
typedef void pool_fork_fn(void *context, unsigned ordinal, bool is_done);

/* Called in the parent: a task (pool_add_task) was answered; is_later: it could
 * not be done now. */
typedef void pool_task_fn(void *context, struct slice line, bool is_later);

struct pool_rows {
	pool_worker_fn	*worker;
	pool_fork_fn	*fork;
	pool_death_fn	*death;		/* not for those told to end */
	void		*context;
	pool_task_fn	*task;		/* NULL: nobody asks */
};

/* Fork count workers.  Names come from queue at each turn's end. */
struct pool *pool_new(struct process *process, struct router_queue *queue,
    unsigned count, const struct pool_rows *rows);

/* Give other work to some worker: a line as in worker.h that is not a name.  A
 * line that waits already is not added.  If there are several workers, one is
 * kept for names, because tasks come from users, too. */
void pool_add_task(struct pool *pool, const char *line);
/* The same for what takes long and comes seldom: a process of its own does it,
 * which is there for that time only, and every other worker is for names. */
void pool_add_task_apart(struct pool *pool, const char *line);
/* Do so few tasks wait that more may be added? */
bool pool_wants_tasks(const struct pool *pool);

/* New workers (the configuration changed); the old ones finish. */
void pool_renew(struct pool *pool, unsigned count);

/* End all workers, each after its present message, then call fn. */
void pool_stop(struct pool *pool, loop_fn *fn, void *context);

/* For tests, as a router ends with its process: kills what is left. */
void pool_free(struct pool **pool);

#endif
