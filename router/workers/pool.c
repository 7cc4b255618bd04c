/* pool.c - the router's workers: who has what in hand
 *
 * In     a queue of names, tasks
 * Out    lines to workers; their answers close the entries
 * Holds  a child a worker
 * Trusts workers to be alive or dead; their lines are looked up, no more
 *
 * SPDX-License-Identifier: ISC
 */
#include "router/workers/pool.h"

#include <inttypes.h>
#include <signal.h>
#include <string.h>

#include "base/clock.h"
#include "base/title.h"
#include "journal/progress.h"
#include "base/mem.h"
#include "daemon/child.h"

#include "base/banned.h"

struct pool_task {
	char			*line;
	bool			 is_apart;	/* for a worker of its own */
	TAILQ_ENTRY(pool_task)	 link;
};
TAILQ_HEAD(pool_task_list, pool_task);

struct pool_worker {
	struct pool		*pool;
	struct child		*child;
	unsigned		 ordinal;	/* from 1; its processes have
						 * it one after the other */
	struct queue_entries	 entries;	/* in hand, oldest first */
	struct pool_task	*task;		/* in hand, too */
	size_t			 count;		/* entries */
	int64_t			 heard_ms;	/* last answer, or first line */
	bool			 is_ending;	/* it was hung up */
	bool			 is_apart;	/* for a task that takes long,
						 * not for names */
	TAILQ_ENTRY(pool_worker) link;
};
TAILQ_HEAD(pool_worker_list, pool_worker);

struct pool {
	struct process		*process;
	struct router_queue		*queue;
	struct pool_rows	 rows;
	struct pool_worker_list	 workers;
	unsigned		 wanted;
	unsigned		 ordinals;		/* given so far */
	struct pool_task_list	 tasks;
	size_t			 task_count;
	struct timer		 steal_timer, nap_timer, stop_timer;
	loop_fn			*stopped;
	void			*stopped_context;
};

/* ---- lines to a worker ------------------------------------------------- */

static void
pool_worker_give(struct pool_worker *worker, struct queue_entry *entry)
{
	if (worker->count == 0)
		worker->heard_ms = clock_steady_ms();
	entry->owner = worker;
	TAILQ_INSERT_TAIL(&worker->entries, entry, link);
	worker->count++;
	str_addf(child_outbox(worker->child), "%u/%ju\n", entry->priority,
	    (uintmax_t)entry->inode);
}

static void
pool_worker_drop(struct pool_worker *worker, struct queue_entry *entry)
{
	TAILQ_REMOVE(&worker->entries, entry, link);
	worker->count--;
}

static bool
pool_worker_is_fit(const struct pool_worker *worker)
{
	return !worker->is_ending && !worker->is_apart &&
	    child_is_running(worker->child);
}

static bool
pool_has_several(const struct pool *pool)
{
	const struct pool_worker *worker;
	size_t fit = 0;

	TAILQ_FOREACH(worker, &pool->workers, link)
		fit += pool_worker_is_fit(worker);
	return fit > 1;
}

/* Fewest names in hand; NULL: all have enough.  Who is at a task gets names
 * only when there is nobody else: they could wait long. */
static struct pool_worker *
pool_worker_least(struct pool *pool, bool for_task)
{
	struct pool_worker *worker, *best = NULL;

	TAILQ_FOREACH(worker, &pool->workers, link) {
		if (!pool_worker_is_fit(worker) ||
		    worker->count >= POOL_BATCH)
			continue;
		if (worker->task != NULL &&
		    (for_task || pool_has_several(pool)))
			continue;
		if (best == NULL || worker->count < best->count)
			best = worker;
	}
	return best;
}

/* Would another task leave nobody for names? */
static bool
pool_keeps_last(const struct pool *pool)
{
	const struct pool_worker *worker;
	size_t free_count = 0;

	TAILQ_FOREACH(worker, &pool->workers, link)
		free_count += pool_worker_is_fit(worker) &&
		    worker->task == NULL;
	return free_count < 2 && pool_has_several(pool);
}

static void
pool_worker_give_task(struct pool_worker *worker, struct pool_task *task)
{
	TAILQ_REMOVE(&worker->pool->tasks, task, link);
	worker->pool->task_count--;
	worker->task = task;
	str_addf(child_outbox(worker->child), "%s\n", task->line);
}

static struct pool_worker *pool_add_worker(struct pool *pool, bool is_apart);

/* A worker for a task that takes long, beside those that are wanted; NULL:
 * there can be none now. */
static struct pool_worker *
pool_worker_apart(struct pool *pool)
{
	struct pool_worker *worker;

	TAILQ_FOREACH(worker, &pool->workers, link)
		if (worker->is_apart && !worker->is_ending)
			break;
	if (worker == NULL)
		worker = pool_add_worker(pool, true);
	return worker->task == NULL && child_is_running(worker->child) ?
	    worker : NULL;
}

static void
pool_give_tasks(struct pool *pool)
{
	struct pool_task *task, *next;
	struct pool_worker *worker;

	TAILQ_FOREACH_SAFE(task, &pool->tasks, link, next) {
		if (task->is_apart)
			worker = pool_worker_apart(pool);
		else
			worker = pool_keeps_last(pool) ? NULL :
			    pool_worker_least(pool, true);
		if (worker != NULL)
			pool_worker_give_task(worker, task);
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

/* What waits after the first name of a worker that has not answered for a
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
		child_send(worker->child);
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

/* Does any worker have a message in hand? */
static bool
pool_has_work(const struct pool *pool)
{
	const struct pool_worker *worker;

	TAILQ_FOREACH(worker, &pool->workers, link)
		if (worker->count > 0)
			return true;
	return pool->queue->waiting_count > 0;
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
		child_send(worker->child);
	progress_work(PROGRESS_INTAKE, pool_has_work(pool),
	    pool->queue->done_count);
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

/* It finishes what it has and sees the end of file after it. */
static void
pool_worker_hang_up(struct pool_worker *worker)
{
	worker->is_ending = true;
	child_hang_up(worker->child);
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
		if (worker->is_apart)
			pool_worker_hang_up(worker);
		if (pool->rows.task != NULL)
			pool->rows.task(pool->rows.context, what,
			    slice_is(how, "later"));
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

/* ---- birth and death --------------------------------------------------- */

static void
pool_add_task_line(struct pool *pool, const char *line, bool is_apart)
{
	struct pool_task *task;

	TAILQ_FOREACH(task, &pool->tasks, link)
		if (strcmp(task->line, line) == 0)
			return;
	task = mem_alloc(1, sizeof(*task));
	task->line = mem_strdup(line);
	task->is_apart = is_apart;
	TAILQ_INSERT_TAIL(&pool->tasks, task, link);
	pool->task_count++;
}

void
pool_add_task(struct pool *pool, const char *line)
{
	pool_add_task_line(pool, line, false);
}

void
pool_add_task_apart(struct pool *pool, const char *line)
{
	pool_add_task_line(pool, line, true);
}

bool
pool_wants_tasks(const struct pool *pool)
{
	return pool->task_count < POOL_TASKS;
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
		pool_add_task_line(worker->pool, worker->task->line,
		    worker->task->is_apart);
	pool_task_free(&worker->task);
}

/* Ends its process, if there is one. */
static void
pool_worker_free(struct pool_worker **pworker)
{
	struct pool_worker *worker = *pworker;

	child_free(&worker->child);
	pool_worker_empty(worker);
	TAILQ_REMOVE(&worker->pool->workers, worker, link);
	mem_free(pworker);
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
 * it can be waited for: its claim is free by now. */
static void
pool_worker_ended(void *context, const struct child_end *end)
{
	struct pool_worker *worker = context;
	struct pool *pool = worker->pool;

	if (worker->is_ending) {
		pool_worker_free(&worker);
		pool_check_stopped(pool);
		return;
	}
	pool_worker_empty(worker);
	pool->rows.death(pool->rows.context, end->pid, end->status);
}

static void
pool_worker_read(void *context)
{
	struct pool_worker *worker = context;
	struct slice line;

	worker->heard_ms = clock_steady_ms();
	while (child_line(worker->child, &line))
		pool_take_answer(worker, line);
}

static void
pool_worker_run(void *context, int socket)
{
	struct pool_worker *worker = context;

	if (worker->is_apart)
		title_set("router reader");
	else
		title_set("router worker %u", worker->ordinal);
	worker->pool->rows.worker(worker->pool->rows.context, socket);
}

static int
pool_worker_start(struct pool_worker *worker, struct err *err)
{
	const struct pool_rows *rows = &worker->pool->rows;
	int result;

	rows->fork(rows->context, worker->ordinal, false);
	result = child_start(worker->child, err);
	rows->fork(rows->context, worker->ordinal, true);
	return result;
}

static void
pool_worker_due(void *context)
{
	struct pool_worker *worker = context;
	struct err err;

	if (pool_worker_start(worker, &err) == 0)
		return;
	warning("%s", err.text);
	child_start_later(worker->child);
}

static const struct child_kind pool_worker_kind = {
	.name = "router", .title = "router worker", .is_kept = true,
	.end_signal = SIGKILL, .run = pool_worker_run,
	.due = pool_worker_due,
	.read = pool_worker_read, .ended = pool_worker_ended,
};

static struct pool_worker *
pool_add_worker(struct pool *pool, bool is_apart)
{
	struct pool_worker *worker = mem_alloc(1, sizeof(*worker));

	worker->pool = pool;
	worker->is_apart = is_apart;
	worker->ordinal = ++pool->ordinals;
	TAILQ_INIT(&worker->entries);
	worker->child = child_new(pool->process, &pool_worker_kind, worker);
	TAILQ_INSERT_TAIL(&pool->workers, worker, link);
	pool_worker_due(worker);
	return worker;
}

static void
pool_add_workers(struct pool *pool, unsigned count)
{
	pool->wanted = count > 0 ? count : 1;
	for (unsigned i = 0; i < pool->wanted; i++)
		(void)pool_add_worker(pool, false);
}

/* ---- the whole ---------------------------------------------------------- */

struct pool *
pool_new(struct process *process, struct router_queue *queue, unsigned count,
    const struct pool_rows *rows)
{
	struct pool *pool = mem_alloc(1, sizeof(*pool));

	pool->process = process;
	pool->queue = queue;
	pool->rows = *rows;
	TAILQ_INIT(&pool->workers);
	TAILQ_INIT(&pool->tasks);
	loop_at_turn_end(process->loop, pool_at_turn_end, pool);
	pool_add_workers(pool, count);
	return pool;
}

static void
pool_end_all(struct pool *pool)
{
	struct pool_worker *worker, *next;

	for (worker = TAILQ_FIRST(&pool->workers); worker; worker = next) {
		next = TAILQ_NEXT(worker, link);
		if (worker->is_ending)
			continue;
		pool_worker_hang_up(worker);
		if (!child_is_running(worker->child))
			pool_worker_free(&worker);
	}
}

void
pool_renew(struct pool *pool, unsigned count)
{
	pool_end_all(pool);
	pool_add_workers(pool, count);
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
	timer_clear(&pool->steal_timer);
	timer_clear(&pool->nap_timer);
	timer_clear(&pool->stop_timer);
	while ((worker = TAILQ_FIRST(&pool->workers)) != NULL)
		pool_worker_free(&worker);
	while ((task = TAILQ_FIRST(&pool->tasks)) != NULL) {
		TAILQ_REMOVE(&pool->tasks, task, link);
		pool_task_free(&task);
	}
	mem_free(ppool);
}
