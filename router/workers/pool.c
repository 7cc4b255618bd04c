/* pool.c - the router's workers: who has what in hand
 *
 * In     a queue of names, tasks
 * Out    lines to workers; their answers close the entries
 * Holds  a socket a worker
 * Trusts workers to be alive or dead; their lines are looked up, no more
 *
 * SPDX-License-Identifier: ISC
 */
#include "router/workers/pool.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "journal/event.h"
#include "base/mem.h"
#include "io/ipc.h"

#include "base/banned.h"

struct pool_task {
	char			*line;
	TAILQ_ENTRY(pool_task)	 link;
};
TAILQ_HEAD(pool_task_list, pool_task);

struct pool_worker {		/* one worker, as the parent sees it */
	struct pool		*pool;
	pid_t			 pid;
	int			 socket;
	struct watch		*watch;
	struct ipc_inbox	 inbox;
	struct str		 out;		/* not yet sent */
	struct queue_entries	 entries;	/* in hand, oldest first */
	struct pool_task	*task;		/* in hand, too */
	size_t			 count;		/* entries */
	int64_t			 heard_ms;	/* last answer, or first line */
	int64_t			 forked_ms;
	bool			 is_ending;	/* end of file was sent */
	TAILQ_ENTRY(pool_worker) link;
};
TAILQ_HEAD(pool_worker_list, pool_worker);

struct pool {
	struct process		*process;
	struct router_queue		*queue;
	struct pool_rows	 rows;
	struct pool_worker_list	 workers;
	unsigned		 wanted, active;
	struct pool_task_list	 tasks;
	struct timer		 fork_timer, steal_timer, nap_timer,
				 stop_timer;
	loop_fn			*stopped;
	void			*stopped_context;
};

static void pool_fork_missing(void *context);
static void pool_on_answer(void *context, unsigned ready);

/* ---- lines to a worker ----------------------------------------------- */

static void
pool_worker_send(struct pool_worker *worker)
{
	ssize_t sent;

	if (worker->out.len == 0)
		return;
	sent = ipc_send(worker->socket, str_slice(&worker->out), NULL, 0);
	if (sent > 0)
		str_consume(&worker->out, (size_t)sent);
	watch_set(worker->watch, worker->out.len > 0 ? LOOP_READ | LOOP_WRITE :
	    LOOP_READ);		/* a dead one shows in reading */
}

static void
pool_worker_give(struct pool_worker *worker, struct queue_entry *entry)
{
	if (worker->count == 0)
		worker->heard_ms = clock_steady_ms();
	entry->owner = worker;
	TAILQ_INSERT_TAIL(&worker->entries, entry, link);
	worker->count++;
	str_addf(&worker->out, "%u/%ju\n", entry->priority,
	    (uintmax_t)entry->inode);
}

static void
pool_worker_drop(struct pool_worker *worker, struct queue_entry *entry)
{
	TAILQ_REMOVE(&worker->entries, entry, link);
	worker->count--;
}

/* Fewest names in hand; NULL: all have enough.  Who is at a task gets names
 * only when there is nobody else: they could wait long. */
static struct pool_worker *
pool_worker_least(struct pool *pool, bool for_task)
{
	struct pool_worker *worker, *best = NULL;

	TAILQ_FOREACH(worker, &pool->workers, link) {
		if (worker->is_ending || worker->count >= POOL_BATCH)
			continue;
		if (worker->task != NULL && (for_task || pool->active > 1))
			continue;
		if (best == NULL || worker->count < best->count)
			best = worker;
	}
	return best;
}

static void
pool_give_tasks(struct pool *pool)
{
	struct pool_task *task;
	struct pool_worker *worker;

	while ((task = TAILQ_FIRST(&pool->tasks)) != NULL &&
	    (worker = pool_worker_least(pool, true)) != NULL) {
		TAILQ_REMOVE(&pool->tasks, task, link);
		worker->task = task;
		str_addf(&worker->out, "%s\n", task->line);
	}
}

/* Moves names from one worker to those that have less and do answer. */
static void
pool_steal_from(struct pool_worker *from, int64_t before_ms)
{
	struct queue_entry *entry = TAILQ_FIRST(&from->entries), *next;
	struct pool_worker *to;

	if (entry != NULL && from->task == NULL)
		entry = TAILQ_NEXT(entry, link);	/* it is at the first */
	for (; entry != NULL; entry = next) {
		next = TAILQ_NEXT(entry, link);
		to = pool_worker_least(from->pool, false);
		if (to == NULL || to->count + 1 >= from->count + (from->task
		    != NULL) || (to->count > 0 && to->heard_ms <= before_ms))
			return;
		pool_worker_drop(from, entry);
		pool_worker_give(to, entry);
	}
}

/* What waits behind the first name of a worker that has not answered for a
 * while goes to others, too. */
static void
pool_steal(void *context)
{
	struct pool *pool = context;
	int64_t before_ms = clock_steady_ms() - POOL_STEAL_MS;
	struct pool_worker *worker;

	TAILQ_FOREACH(worker, &pool->workers, link)
		if (worker->heard_ms <= before_ms)
			pool_steal_from(worker, before_ms);
	TAILQ_FOREACH(worker, &pool->workers, link)
		pool_worker_send(worker);
}

static bool
pool_is_busy(const struct pool *pool)
{
	const struct pool_worker *worker;

	TAILQ_FOREACH(worker, &pool->workers, link)
		if (worker->count + (worker->task != NULL) > 1)
			return true;
	return false;
}

static void
pool_at_turn_end(void *context)
{
	struct pool *pool = context;
	struct pool_worker *worker;

	if (pool->stopped == NULL) {
		pool_give_tasks(pool);
		while (pool->queue->waiting_count > 0 &&
		    (worker = pool_worker_least(pool, false)) != NULL)
			pool_worker_give(worker, router_queue_take(pool->queue,
			    worker));
	}
	TAILQ_FOREACH(worker, &pool->workers, link)
		pool_worker_send(worker);
	if (pool->steal_timer.at_ms == 0 && pool->wanted > 1 &&
	    pool_is_busy(pool))
		timer_set(pool->process->loop, &pool->steal_timer,
		    clock_steady_ms() + POOL_STEAL_MS, pool_steal, pool);
}

/* ---- answers --------------------------------------------------------- */

static struct queue_entry *
pool_worker_entry(struct pool_worker *worker, struct slice name)
{
	size_t slash = slice_find(name, '/');
	uint64_t priority, inode;
	struct queue_entry *entry;

	if (!slice_number(slice_first(name, slash), 0, SPOOL_PRIORITIES - 1,
	    &priority) || !slice_number(slice_from(name, slash + 1), 1,
	    UINT64_MAX, &inode))
		return NULL;
	TAILQ_FOREACH(entry, &worker->entries, link)
		if (entry->inode == inode && entry->priority == priority)
			return entry;
	return NULL;	/* stolen meanwhile */
}

static void
pool_task_free(struct pool_task **task)
{
	if (*task == NULL)
		return;
	mem_free(&(*task)->line);
	mem_free(task);
}

static void
pool_on_nap_end(void *context)
{
	struct pool *pool = context;

	router_queue_wake_napping(pool->queue);
}

static void
pool_nap(struct pool *pool, struct queue_entry *entry)
{
	router_queue_nap(pool->queue, entry);
	if (pool->nap_timer.at_ms == 0 && pool->stopped == NULL)
		timer_set(pool->process->loop, &pool->nap_timer,
		    clock_steady_ms() + POOL_NAP_MS, pool_on_nap_end, pool);
}

static void
pool_take_answer(struct pool_worker *worker, struct slice line)
{
	struct slice how = slice_first(line, slice_find(line, ' '));
	struct slice what = slice_from(line, how.n + 1);
	struct pool *pool = worker->pool;
	struct queue_entry *entry;

	if (worker->task != NULL && slice_is(what, worker->task->line)) {
		pool_task_free(&worker->task);
		return;
	}
	entry = pool_worker_entry(worker, what);
	if (entry == NULL)
		return;
	pool_worker_drop(worker, entry);
	if (slice_is(how, "later"))
		router_queue_rest(pool->queue, entry);
	else if (slice_is(how, "soon"))
		pool_nap(pool, entry);
	else
		router_queue_done(pool->queue, entry);
}

/* ---- birth and death ------------------------------------------------- */

static void
pool_task_add(struct pool *pool, const char *line)
{
	struct pool_task *task;

	TAILQ_FOREACH(task, &pool->tasks, link)
		if (strcmp(task->line, line) == 0)
			return;
	task = mem_alloc(1, sizeof(*task));
	task->line = mem_strdup(line);
	TAILQ_INSERT_TAIL(&pool->tasks, task, link);
}

/* What it had in hand goes back to the front, in order. */
static void
pool_worker_empty(struct pool_worker *worker)
{
	struct queue_entry *entry;

	while ((entry = TAILQ_LAST(&worker->entries, queue_entries)) != NULL) {
		pool_worker_drop(worker, entry);
		router_queue_give_back(worker->pool->queue, entry);
	}
	if (worker->task != NULL)
		pool_task_add(worker->pool, worker->task->line);
	pool_task_free(&worker->task);
}

static void
pool_worker_free(struct pool_worker **pworker)
{
	struct pool_worker *worker = *pworker;

	watch_free(&worker->watch);
	close(worker->socket);
	TAILQ_REMOVE(&worker->pool->workers, worker, link);
	ipc_inbox_release(&worker->inbox);
	str_release(&worker->out);
	mem_free(pworker);
}

static int
pool_worker_reap(pid_t pid)
{
	int status = 0;

	(void)kill(pid, SIGKILL);	/* its socket is closed: it is done */
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		continue;
	return status;
}

static void
pool_report_death(const struct pool_worker *worker, int status)
{
	char text[64];

	if (WIFSIGNALED(status))
		snprintf(text, sizeof(text), "signal %d", WTERMSIG(status));
	else
		snprintf(text, sizeof(text), "exit %d", WEXITSTATUS(status));
	event(EV_DAEMON_EXIT, NULL, "name", SLICE("router worker"),
	    "child", event_number(worker->pid), "status", slice_of(text),
	    "restart", SLICE("now"), NULL);
}

static void
pool_check_stopped(struct pool *pool)
{
	if (pool->stopped != NULL && TAILQ_EMPTY(&pool->workers)) {
		timer_clear(&pool->stop_timer);
		pool->stopped(pool->stopped_context);
	}
}

/* The kernel closes a process' descriptors, and with them its locks, before
 * it can be waited for: after pool_worker_reap() its claim is free. */
static void
pool_worker_gone(struct pool_worker *worker)
{
	struct pool *pool = worker->pool;
	bool was_told = worker->is_ending;
	int64_t lived_ms = clock_steady_ms() - worker->forked_ms;
	pid_t pid = worker->pid;
	int status = pool_worker_reap(pid);

	pool_worker_empty(worker);
	if (!was_told) {
		pool->active--;
		pool_report_death(worker, status);
	}
	pool_worker_free(&worker);
	if (!was_told)
		pool->rows.death(pool->rows.context, pid, status);
	if (!was_told && pool->stopped == NULL)
		timer_set(pool->process->loop, &pool->fork_timer,
		    clock_steady_ms() + (lived_ms < POOL_REST_MS ?
		    POOL_REST_MS : 0), pool_fork_missing, pool);
	pool_check_stopped(pool);
}

static void
pool_on_answer(void *context, unsigned ready)
{
	struct pool_worker *worker = context;
	struct slice line;
	size_t cursor = 0;
	int got, more;

	if (ready & LOOP_WRITE)
		pool_worker_send(worker);
	got = ipc_receive(worker->socket, &worker->inbox);
	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	worker->heard_ms = clock_steady_ms();
	while ((more = ipc_line(&worker->inbox, &cursor, &line)) == 1)
		pool_take_answer(worker, line);
	ipc_inbox_consume(&worker->inbox, cursor);
	if (got <= 0 || more < 0)
		pool_worker_gone(worker);
}

/* The child has copies of the parent's ends of all other workers: with them
 * open, those would not see the parent's end. */
void
pool_in_child(struct pool *pool)
{
	struct pool_worker *worker;

	TAILQ_FOREACH(worker, &pool->workers, link)
		close(worker->socket);
}

static void
pool_child_run(struct pool *pool, int socket)
{
	pool_in_child(pool);
	pool->rows.worker(pool->rows.context, socket);
	event_flush();
	_exit(0);
}

static bool
pool_worker_fork(struct pool *pool)
{
	struct pool_worker *worker;
	struct err err;
	int socket = -1;
	pid_t pid = daemon_fork(pool->process, "router", &socket, &err);

	if (pid == 0)
		pool_child_run(pool, socket);
	if (pid < 0) {
		warning("%s", err.text);
		return false;
	}
	(void)fcntl(socket, F_SETFL, O_NONBLOCK);
	worker = mem_alloc(1, sizeof(*worker));
	worker->pool = pool;
	worker->pid = pid;
	worker->socket = socket;
	worker->forked_ms = clock_steady_ms();
	TAILQ_INIT(&worker->entries);
	str_init(&worker->out);
	ipc_inbox_init(&worker->inbox);
	worker->watch = loop_watch(pool->process->loop, socket, LOOP_READ,
	    pool_on_answer, worker);
	TAILQ_INSERT_TAIL(&pool->workers, worker, link);
	pool->active++;
	return true;
}

static void
pool_fork_missing(void *context)
{
	struct pool *pool = context;

	if (pool->stopped != NULL)
		return;
	while (pool->active < pool->wanted)
		if (!pool_worker_fork(pool)) {
			timer_set(pool->process->loop, &pool->fork_timer,
			    clock_steady_ms() + POOL_REST_MS, pool_fork_missing,
			    pool);
			break;
		}
}

/* ---- the whole ------------------------------------------------------- */

struct pool *
pool_new(struct process *process, struct router_queue *queue, unsigned count,
    const struct pool_rows *rows)
{
	struct pool *pool = mem_alloc(1, sizeof(*pool));

	pool->process = process;
	pool->queue = queue;
	pool->rows = *rows;
	pool->wanted = count > 0 ? count : 1;
	TAILQ_INIT(&pool->workers);
	TAILQ_INIT(&pool->tasks);
	loop_at_turn_end(process->loop, pool_at_turn_end, pool);
	pool_fork_missing(pool);
	return pool;
}

void
pool_add_task(struct pool *pool, const char *line)
{
	pool_task_add(pool, line);
}

/* They finish what they have and see the end of file behind it. */
static void
pool_end_all(struct pool *pool)
{
	struct pool_worker *worker;

	TAILQ_FOREACH(worker, &pool->workers, link) {
		if (worker->is_ending)
			continue;
		pool_worker_send(worker);
		worker->is_ending = true;
		(void)shutdown(worker->socket, SHUT_WR);
		str_reset(&worker->out);
	}
	pool->active = 0;
}

void
pool_renew(struct pool *pool, unsigned count)
{
	pool_end_all(pool);
	pool->wanted = count > 0 ? count : 1;
	pool_fork_missing(pool);
}

static void
pool_stop_late(void *context)
{
	struct pool *pool = context;

	pool->stopped(pool->stopped_context);
}

void
pool_stop(struct pool *pool, loop_fn *fn, void *context)
{
	pool->stopped = fn;
	pool->stopped_context = context;
	timer_clear(&pool->fork_timer);
	timer_clear(&pool->steal_timer);
	timer_clear(&pool->nap_timer);
	pool_end_all(pool);
	timer_set(pool->process->loop, &pool->stop_timer,
	    clock_steady_ms() + POOL_STOP_MS, pool_stop_late, pool);
	pool_check_stopped(pool);
}

void
pool_free(struct pool **ppool)
{
	struct pool *pool = *ppool;
	struct pool_worker *worker;
	struct pool_task *task;

	if (pool == NULL)
		return;
	timer_clear(&pool->fork_timer);
	timer_clear(&pool->steal_timer);
	timer_clear(&pool->nap_timer);
	timer_clear(&pool->stop_timer);
	while ((worker = TAILQ_FIRST(&pool->workers)) != NULL) {
		(void)pool_worker_reap(worker->pid);
		pool_worker_empty(worker);
		pool_worker_free(&worker);
	}
	while ((task = TAILQ_FIRST(&pool->tasks)) != NULL) {
		TAILQ_REMOVE(&pool->tasks, task, link);
		pool_task_free(&task);
	}
	mem_free(ppool);
}
