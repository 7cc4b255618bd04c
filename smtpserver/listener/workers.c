/* workers.c - the listener's side of the session workers
 *
 * In     connections to give away; "closed" lines; ends of file
 * Out    connections with their descriptor, in batches, one sendmsg a turn
 * Holds  a slot for each session: which worker, which client; a worker that
 *        dies gives all its slots back
 * Trusts no worker: a token counts only when that worker has the slot
 * Spec   worker.h has the lines
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/queue.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "journal/event.h"
#include "base/mem.h"
#include "io/ipc.h"
#include "smtpserver/listener/workers.h"
#include "smtpserver/worker/worker.h"

#include "base/banned.h"

enum {
	RESTART_AFTER_MS = 1000,
	OUTBOX_BYTES_MAX = 65536,
	SPARE_FDS = 64		/* of a worker: spool, journal, tables */
};

struct session_worker {			/* one worker process */
	struct workers		*pool;
	uint64_t		 number;	/* for life, never again */
	pid_t			 pid;
	int			 socket;
	struct watch		*watch;
	struct ipc_inbox	 inbox;
	struct str		 outbox;
	int			 fds[IPC_FDS_MAX];	/* go with outbox */
	size_t			 fd_count;
	unsigned		 sessions;
	bool			 is_leaving;
	struct space_part	*part;		/* of the room promised */
	int64_t			 started_at_ms;
	TAILQ_ENTRY(session_worker)	 entry;
};

TAILQ_HEAD(session_worker_list, session_worker);

struct session_slot {
	struct session_worker		*worker;		/* NULL: free */
	struct client_count	*client;
	uint32_t		 next_free;
};

enum { SLOT_NONE = UINT32_MAX };

struct workers {
	struct process		*process;
	struct spool		*spool;
	struct clients		*clients;
	struct workers_owner	 owner;
	struct session_worker_list	 all;
	unsigned		 wanted, staying;	/* workers */
	unsigned		 sessions_max;		/* of one worker */
	struct session_slot		*slots;
	uint32_t		 slot_count, first_free;
	unsigned		 sessions;
	struct timer		 restart_timer;
	bool			 is_stopping;
};

/* Of workers, given out so far; of all pools, so that an answer finds its
 * asker and nobody else. */
static uint64_t numbers;

static void workers_fill(void *context);
static void session_worker_write(struct session_worker *worker);

static void
workers_changed(struct workers *pool)
{
	pool->owner.changed_fn(pool->owner.context);
}

/* ---- slots ------------------------------------------------------------ */

static uint32_t
session_slot_take(struct workers *pool, struct session_worker *worker,
    struct client_count *client)
{
	uint32_t token = pool->first_free;

	if (token == SLOT_NONE) {
		uint32_t more = pool->slot_count ? pool->slot_count * 2 :
		    64;

		pool->slots = mem_grow(pool->slots, more,
		    sizeof(*pool->slots));
		for (uint32_t i = pool->slot_count; i < more; i++)
			pool->slots[i] = (struct session_slot){ NULL, NULL,
			    i + 1 < more ? i + 1 : SLOT_NONE };
		token = pool->slot_count;
		pool->slot_count = more;
	}
	pool->first_free = pool->slots[token].next_free;
	pool->slots[token].worker = worker;
	pool->slots[token].client = client;
	worker->sessions++;
	pool->sessions++;
	return token;
}

static void
session_slot_leave(struct workers *pool, uint32_t token)
{
	struct session_slot *slot = &pool->slots[token];

	slot->worker->sessions--;
	pool->sessions--;
	clients_leave(pool->clients, &slot->client);
	slot->worker = NULL;
	slot->next_free = pool->first_free;
	pool->first_free = token;
}

/* ---- a worker --------------------------------------------------------- */

static void
session_worker_drop_fds(struct session_worker *worker)
{
	for (size_t i = 0; i < worker->fd_count; i++)
		close(worker->fds[i]);
	worker->fd_count = 0;
}

/* It is gone: note why, give its slots back, replace it. */
static void
session_worker_end(struct session_worker *worker)
{
	struct workers *pool = worker->pool;
	bool was_young = clock_steady_ms() - worker->started_at_ms <
	    RESTART_AFTER_MS;
	int status = 0;

	watch_free(&worker->watch);
	close(worker->socket);
	(void)kill(worker->pid,
	    SIGTERM);	/* if only its socket is closed */
	while (waitpid(worker->pid, &status, 0) < 0 && errno == EINTR)
		;
	for (uint32_t i = 0; i < pool->slot_count; i++)
		if (pool->slots[i].worker == worker)
			session_slot_leave(pool, i);
	space_part_give_back(&worker->part);
	session_worker_drop_fds(worker);
	ipc_inbox_release(&worker->inbox);
	str_release(&worker->outbox);
	TAILQ_REMOVE(&pool->all, worker, entry);
	if (!worker->is_leaving) {
		pool->staying--;
		event(EV_DAEMON_EXIT, NULL, "name", SLICE("smtpserver session"),
		    "child", event_number(worker->pid),
		    "status", event_number(status),
		    "restart", event_number(was_young), NULL);
	}
	mem_free(&worker);
	if (pool->is_stopping)
		;
	else if (was_young)
		timer_set(pool->process->loop, &pool->restart_timer,
		    clock_steady_ms() + RESTART_AFTER_MS, workers_fill,
		    pool);
	else
		workers_fill(pool);
	workers_changed(pool);
}

static void
session_worker_say(struct session_worker *worker, const char *word)
{
	str_adds(&worker->outbox, word);
	str_addc(&worker->outbox, '\n');
	session_worker_write(worker);
}

/* It gets no more sessions, and goes when those that it has are over. */
static void
session_worker_leave(struct session_worker *worker)
{
	worker->is_leaving = true;
	worker->pool->staying--;
	session_worker_say(worker, "leave");
}

static void
session_worker_replace(struct session_worker *worker)
{
	if (worker->is_leaving)
		return;
	session_worker_leave(worker);
	workers_fill(worker->pool);
}

static void
session_worker_line(struct session_worker *worker, struct slice line)
{
	struct workers *pool = worker->pool;
	struct slice verb = { NULL, 0 }, token_text = { NULL, 0 };
	uint64_t token;

	(void)slice_word(&line, &verb);
	if (slice_is(verb, "ask") &&
	    pool->owner.ask_fn(pool->owner.context,
	    worker->number, line))
		return;
	if (slice_is(verb, "closed") && slice_word(&line, &token_text) &&
	    slice_number(token_text, 0, UINT32_MAX, &token) &&
	    token < pool->slot_count &&
	    pool->slots[token].worker == worker)
		session_slot_leave(pool, (uint32_t)token);
	else if (slice_is(verb, "leaving"))
		session_worker_replace(worker);
	else
		warning("session worker %d talks nonsense", (int)worker->pid);
}

/* returns false when the worker is no more */
static bool
session_worker_read(struct session_worker *worker)
{
	struct slice line;
	size_t cursor = 0;
	int got = ipc_receive(worker->socket, &worker->inbox);

	if (got == 0 || (got < 0 && errno != EAGAIN)) {
		session_worker_end(worker);
		return false;
	}
	while ((got = ipc_line(&worker->inbox, &cursor, &line)) == 1)
		session_worker_line(worker, line);
	if (got < 0) {
		session_worker_end(worker);
		return false;
	}
	ipc_inbox_consume(&worker->inbox, cursor);
	workers_changed(worker->pool);
	return true;
}

static bool
session_worker_has_room(const struct session_worker *worker)
{
	return !worker->is_leaving && worker->fd_count < IPC_FDS_MAX &&
	    worker->outbox.len < OUTBOX_BYTES_MAX &&
	    worker->sessions < worker->pool->sessions_max;
}

/* Descriptors ride on the first byte: they are gone when it is. */
static void
session_worker_write(struct session_worker *worker)
{
	ssize_t n;

	if (worker->outbox.len == 0)
		return;
	n = ipc_send(worker->socket, str_slice(&worker->outbox), worker->fds,
	    worker->fd_count);
	if (n > 0) {
		bool was_full = !session_worker_has_room(worker);

		session_worker_drop_fds(worker);
		str_consume(&worker->outbox, (size_t)n);
		if (was_full)
			workers_changed(worker->pool);
	}
	/* an error shows as an end of file on the next read */
	watch_set(worker->watch, LOOP_READ |
	    (worker->outbox.len > 0 ? LOOP_WRITE : 0));
}

static void
on_session_worker(void *context, unsigned ready)
{
	struct session_worker *worker = context;

	if (ready & (LOOP_READ | LOOP_HANGUP))
		(void)session_worker_read(worker);
	/* what can be written goes out at the end of the turn */
}

void
workers_in_child(struct workers *pool)
{
	struct session_worker *worker;

	TAILQ_FOREACH(worker, &pool->all, entry) {
		close(worker->socket);
		session_worker_drop_fds(worker);
	}
}

/* In the child: nothing of the listener's stays open. */
static void
child_begin(struct workers *pool, int socket, int keys,
    struct space_part *part)
{
	const struct worker_sockets sockets = {
		.listener = socket, .keys = keys,
		.is_submission = pool->owner.is_submission,
		.failures = pool->owner.failures,
		.space = pool->owner.space, .part = part,
	};

	pool->owner.child_fn(pool->owner.context);
	worker_process(pool->process, &sockets, pool->spool);
}

static int
session_worker_new(struct workers *pool, struct err *err)
{
	int socket, keys = pool->owner.keys_fn == NULL ? -1 :
	    pool->owner.keys_fn(pool->owner.context,
	    pool->owner.is_submission);
	struct space_part *part = pool->owner.space == NULL ? NULL :
	    space_part_take(pool->owner.space);
	struct session_worker *worker;
	pid_t pid = daemon_fork(pool->process, pool->owner.is_submission ?
	    "submission" : "smtpserver", &socket, err);

	if (pid == 0)
		child_begin(pool, socket, keys, part);
	if (keys >= 0)
		close(keys);
	if (pid < 0) {
		space_part_give_back(&part);
		return -1;
	}
	(void)fcntl(socket, F_SETFL, O_NONBLOCK);
	worker = mem_alloc(1, sizeof(*worker));
	worker->pool = pool;
	worker->number = ++numbers;
	worker->pid = pid;
	worker->socket = socket;
	worker->part = part;
	worker->started_at_ms = clock_steady_ms();
	ipc_inbox_init(&worker->inbox);
	str_init(&worker->outbox);
	worker->watch = loop_watch(pool->process->loop, socket, LOOP_READ,
	    on_session_worker, worker);
	TAILQ_INSERT_TAIL(&pool->all, worker, entry);
	pool->staying++;
	return 0;
}

/* ---- the pool --------------------------------------------------------- */

static void
workers_fill(void *context)
{
	struct workers *pool = context;
	struct err err;

	while (!pool->is_stopping && pool->staying < pool->wanted)
		if (session_worker_new(pool, &err) < 0) {
			warning("%s", err.text);
			timer_set(pool->process->loop,
			    &pool->restart_timer,
			    clock_steady_ms() + RESTART_AFTER_MS, workers_fill,
			    pool);
			return;
		}
	workers_changed(pool);
}

static void
workers_write(void *context)
{
	struct workers *pool = context;
	struct session_worker *worker;

	TAILQ_FOREACH(worker, &pool->all, entry)
		session_worker_write(worker);
}

/* A session takes two descriptors (socket, draft).  A worker that cannot
 * take one in would lose it in the middle of a batch. */
static unsigned
sessions_max(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 ||
	    limit.rlim_cur > UINT_MAX)
		return UINT_MAX / 2;
	if (limit.rlim_cur < SPARE_FDS + 2)
		return 1;
	return (unsigned)(limit.rlim_cur - SPARE_FDS) / 2;
}

struct workers *
workers_new(struct process *process, struct spool *spool,
    struct clients *clients, const struct workers_owner *owner)
{
	struct workers *pool = mem_alloc(1, sizeof(*pool));

	pool->process = process;
	pool->spool = spool;
	pool->clients = clients;
	pool->owner = *owner;
	pool->first_free = SLOT_NONE;
	pool->sessions_max = sessions_max();
	TAILQ_INIT(&pool->all);
	loop_at_turn_end(process->loop, workers_write, pool);
	return pool;
}

int
workers_resize(struct workers *pool, unsigned wanted, struct err *err)
{
	struct session_worker *worker;

	pool->wanted = wanted;
	while (pool->staying < pool->wanted)
		if (session_worker_new(pool, err) < 0)
			return -1;
	TAILQ_FOREACH_REVERSE(worker, &pool->all, session_worker_list,
	    entry)
		if (pool->staying > pool->wanted && !worker->is_leaving)
			session_worker_leave(worker);
	return 0;
}

static struct session_worker *
session_worker_choose(const struct workers *pool)
{
	struct session_worker *worker, *best = NULL;

	TAILQ_FOREACH(worker, &pool->all, entry)
		if (session_worker_has_room(worker) &&
		    (best == NULL || worker->sessions < best->sessions))
			best = worker;
	return best;
}

bool
workers_is_full(const struct workers *pool)
{
	const struct session_worker *worker;

	TAILQ_FOREACH(worker, &pool->all, entry)
		if (!worker->is_leaving &&
		    worker->sessions < pool->sessions_max)
			return false;
	return true;
}

bool
workers_has_room(const struct workers *pool)
{
	return session_worker_choose(pool) != NULL;
}

void
workers_give(struct workers *pool, int fd, const char *endpoint,
    const char *bound_to, bool is_tls, struct client_count *client)
{
	struct session_worker *worker = session_worker_choose(pool);

	if (worker == NULL)
		panic("workers_give: nobody has room");
	worker->fds[worker->fd_count++] = fd;
	str_addf(&worker->outbox, "open %u %s %s %u%s\n",
	    session_slot_take(pool, worker, client), endpoint, bound_to,
	    clients_sessions(client), is_tls ? " tls" : "");
}

void
workers_answer(struct workers *pool, uint64_t asker, struct slice line)
{
	struct session_worker *worker;

	TAILQ_FOREACH(worker, &pool->all, entry)
		if (worker->number == asker)
			break;
	if (worker == NULL)
		return;
	str_add_slice(&worker->outbox, line);	/* goes at the turn's end */
}

void
workers_tell(struct workers *pool, const char *word)
{
	struct session_worker *worker;

	TAILQ_FOREACH(worker, &pool->all, entry)
		session_worker_say(worker, word);
}

void
workers_stop(struct workers *pool)
{
	struct session_worker *worker;

	pool->is_stopping = true;
	pool->wanted = 0;
	timer_clear(&pool->restart_timer);
	pool->staying = 0;
	TAILQ_FOREACH(worker, &pool->all, entry) {
		session_worker_say(worker,
		    "stop");	/* also to those that leave */
		worker->is_leaving = true;
	}
}

void
workers_kill(struct workers *pool)
{
	struct session_worker *worker;

	TAILQ_FOREACH(worker, &pool->all, entry)
		(void)kill(worker->pid, SIGKILL);
}

static void
keep_quiet(void *context)
{
}

void
workers_free(struct workers **pool)
{
	struct workers *c = *pool;
	struct session_worker *worker;

	if (c == NULL)
		return;
	c->is_stopping = true;
	c->owner.changed_fn = keep_quiet;
	while ((worker = TAILQ_FIRST(&c->all)) != NULL) {
		worker->is_leaving = true;
		session_worker_end(worker);
	}
	timer_clear(&c->restart_timer);
	mem_free(&c->slots);
	mem_free(pool);
}

unsigned
workers_session_count(const struct workers *pool)
{
	return pool->sessions;
}

unsigned
workers_count(const struct workers *pool)
{
	struct session_worker *worker;
	unsigned count = 0;

	TAILQ_FOREACH(worker, &pool->all, entry)
		count++;
	return count;
}
