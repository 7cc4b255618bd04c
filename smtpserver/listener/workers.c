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
#include <limits.h>
#include <signal.h>
#include <sys/queue.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/title.h"
#include "daemon/child.h"
#include "smtpserver/listener/workers.h"
#include "smtpserver/worker/worker.h"

#include "base/banned.h"

enum {
	OUTBOX_BYTES_MAX = 65536,
	SPARE_FDS = 64		/* of a worker: spool, journal, tables */
};

struct session_worker {		/* one worker process */
	struct workers		*pool;
	struct child		*child;
	unsigned		 ordinal;	/* from 1; its processes have
						 * it one after the other */
	uint64_t		 number;	/* of this process; 0: none */
	unsigned		 sessions;
	bool			 is_leaving;
	bool			 was_full;	/* when last written to */
	int			 keys;		/* while it is forked */
	struct space_part	*part;		/* of the room promised */
	TAILQ_ENTRY(session_worker) entry;
};

TAILQ_HEAD(session_worker_list, session_worker);

struct session_slot {
	struct session_worker	*worker;	/* NULL: free */
	struct client_count	*client;
	uint32_t		 next_free;
};

enum { SLOT_NONE = UINT32_MAX };

struct workers {
	struct process		*process;
	unsigned		 ordinals;		/* given so far */
	struct spool		*spool;
	struct clients		*clients;
	struct workers_owner	 owner;
	struct session_worker_list all;
	unsigned		 wanted, staying;	/* workers */
	unsigned		 sessions_max;		/* of one worker */
	struct session_slot	*slots;
	uint32_t		 slot_count, first_free;
	unsigned		 sessions;
	bool			 is_stopping;
};

/* Of workers, given out so far; of all pools, so that an answer finds its
 * asker and nobody else. */
static uint64_t numbers;

static int workers_fill(struct workers *pool, struct err *err);

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

/* Its process is gone: whoever had a slot with it has none. */
static void
session_worker_drop(struct session_worker *worker)
{
	struct workers *pool = worker->pool;

	for (uint32_t i = 0; i < pool->slot_count; i++)
		if (pool->slots[i].worker == worker)
			session_slot_leave(pool, i);
	space_part_give_back(&worker->part);
	worker->number = 0;
}

static void
session_worker_free(struct session_worker *worker)
{
	struct workers *pool = worker->pool;

	child_free(&worker->child);
	session_worker_drop(worker);
	TAILQ_REMOVE(&pool->all, worker, entry);
	if (!worker->is_leaving)
		pool->staying--;
	mem_free(&worker);
}

static void
session_worker_ended(void *context, const struct child_end *end)
{
	struct session_worker *worker = context;
	struct workers *pool = worker->pool;

	if (end->again_ms < 0)
		session_worker_free(worker);
	else
		session_worker_drop(worker);
	workers_changed(pool);
}

static void
session_worker_say(struct session_worker *worker, const char *word)
{
	if (!child_is_running(worker->child))
		return;
	str_adds(child_outbox(worker->child), word);
	str_addc(child_outbox(worker->child), '\n');
	child_send(worker->child);
}

/* It gets no more sessions, and goes when those that it has are over. */
static void
session_worker_leave(struct session_worker *worker)
{
	if (!child_is_running(worker->child)) {
		session_worker_free(worker);
		return;
	}
	worker->is_leaving = true;
	worker->pool->staying--;
	child_dismiss(worker->child);
	session_worker_say(worker, "leave");
}

static void
session_worker_replace(struct session_worker *worker)
{
	struct workers *pool = worker->pool;
	struct err err;

	if (worker->is_leaving)
		return;
	session_worker_leave(worker);
	if (workers_fill(pool, &err) < 0)
		warning("%s", err.text);
	workers_changed(pool);
}

static void
session_worker_take_line(struct session_worker *worker, struct slice line)
{
	struct workers *pool = worker->pool;
	struct slice verb = { NULL, 0 }, token_text = { NULL, 0 };
	uint64_t token;

	(void)slice_word(&line, &verb);
	if (slice_is(verb, "ask") && pool->owner.ask_fn(pool->owner.context,
	    worker->number, line))
		return;
	if (slice_is(verb, "closed") && slice_word(&line, &token_text) &&
	    slice_number(token_text, 0, UINT32_MAX, &token) &&
	    token < pool->slot_count && pool->slots[token].worker == worker)
		session_slot_leave(pool, (uint32_t)token);
	else if (slice_is(verb, "leaving"))
		session_worker_replace(worker);
	else
		warning("session worker %d talks nonsense",
		    (int)child_pid(worker->child));
}

static void
session_worker_read(void *context)
{
	struct session_worker *worker = context;
	struct slice line;

	while (child_line(worker->child, &line))
		session_worker_take_line(worker, line);
	workers_changed(worker->pool);
}

static bool
session_worker_has_room(const struct session_worker *worker)
{
	return child_is_running(worker->child) && !worker->is_leaving &&
	    child_fd_room(worker->child) > 0 &&
	    child_outbox(worker->child)->len < OUTBOX_BYTES_MAX &&
	    worker->sessions < worker->pool->sessions_max;
}

static void
session_worker_sent(void *context)
{
	struct session_worker *worker = context;

	if (worker->was_full && session_worker_has_room(worker)) {
		worker->was_full = false;
		workers_changed(worker->pool);
	}
}

/* In the child: nothing of the listener's stays open. */
static void
session_worker_run(void *context, int socket)
{
	const struct session_worker *worker = context;
	struct workers *pool = worker->pool;
	const struct worker_sockets sockets = {
		.listener = socket, .keys = worker->keys,
		.is_submission = pool->owner.is_submission,
		.failures = pool->owner.failures,
		.space = pool->owner.space, .part = worker->part,
	};

	pool->owner.child_fn(pool->owner.context);
	title_set("smtpserver %s %u", pool->owner.is_submission ?
	    "submission" : "worker", worker->ordinal);
	worker_process(pool->process, &sockets, pool->spool);
}

static int
session_worker_start(struct session_worker *worker, struct err *err)
{
	struct workers_owner *owner = &worker->pool->owner;
	int result;

	worker->keys = owner->keys_fn == NULL ? -1 :
	    owner->keys_fn(owner->context, owner->is_submission);
	worker->part = owner->space == NULL ? NULL :
	    space_part_take(owner->space);
	worker->number = ++numbers;
	result = child_start(worker->child, err);
	if (worker->keys >= 0)
		close(worker->keys);
	if (result < 0)
		session_worker_drop(worker);
	return result;
}

static void
session_worker_due(void *context)
{
	struct session_worker *worker = context;
	struct err err;

	if (session_worker_start(worker, &err) < 0) {
		warning("%s", err.text);
		child_start_later(worker->child);
	}
	workers_changed(worker->pool);
}

#define WORKER_KIND(process_name) {					\
	.name = process_name, .title = "smtpserver session",		\
	.is_kept = true, .end_signal = SIGTERM,				\
	.run = session_worker_run, .due = session_worker_due,		\
	.read = session_worker_read, .sent = session_worker_sent,	\
	.ended = session_worker_ended,					\
}

static const struct child_kind kind_strangers = WORKER_KIND("smtpserver");
static const struct child_kind kind_own = WORKER_KIND("submission");

static int
session_worker_new(struct workers *pool, struct err *err)
{
	struct session_worker *worker = mem_alloc(1, sizeof(*worker));

	worker->pool = pool;
	worker->ordinal = ++pool->ordinals;
	worker->child = child_new(pool->process, pool->owner.is_submission ?
	    &kind_own : &kind_strangers, worker);
	TAILQ_INSERT_TAIL(&pool->all, worker, entry);
	pool->staying++;
	if (session_worker_start(worker, err) == 0)
		return 0;
	child_start_later(worker->child);
	return -1;
}

/* ---- the pool --------------------------------------------------------- */

/* One that cannot be forked now is tried again in a while. */
static int
workers_fill(struct workers *pool, struct err *err)
{
	int result = 0;

	while (!pool->is_stopping && pool->staying < pool->wanted)
		if (session_worker_new(pool, err) < 0)
			result = -1;
	return result;
}

static void
workers_write(void *context)
{
	struct workers *pool = context;
	struct session_worker *worker;

	TAILQ_FOREACH(worker, &pool->all, entry) {
		worker->was_full = !session_worker_has_room(worker);
		child_send(worker->child);
	}
}

/* A session takes two descriptors (socket, draft).  A worker that cannot
 * take one in would lose it in the middle of a batch. */
static unsigned
workers_sessions_max(void)
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
	pool->sessions_max = workers_sessions_max();
	TAILQ_INIT(&pool->all);
	loop_at_turn_end(process->loop, workers_write, pool);
	return pool;
}

int
workers_resize(struct workers *pool, unsigned wanted, struct err *err)
{
	struct session_worker *worker, *before;

	pool->wanted = wanted;
	for (worker = TAILQ_LAST(&pool->all, session_worker_list);
	    worker != NULL && pool->staying > wanted; worker = before) {
		before = TAILQ_PREV(worker, session_worker_list, entry);
		if (!worker->is_leaving)
			session_worker_leave(worker);
	}
	return workers_fill(pool, err);
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
	child_add_fd(worker->child, fd);
	str_addf(child_outbox(worker->child), "open %u %s %s %u%s\n",
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
	str_add_slice(child_outbox(worker->child), line);
	/* it is sent at the end of the turn */
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
	pool->staying = 0;
	TAILQ_FOREACH(worker, &pool->all, entry) {
		child_dismiss(worker->child);
		session_worker_say(worker, "stop");	/* leaving or not */
		worker->is_leaving = true;
	}
}

void
workers_kill(struct workers *pool)
{
	struct session_worker *worker;

	TAILQ_FOREACH(worker, &pool->all, entry)
		child_signal(worker->child, SIGKILL);
}

void
workers_free(struct workers **pool)
{
	struct workers *c = *pool;
	struct session_worker *worker;

	if (c == NULL)
		return;
	while ((worker = TAILQ_FIRST(&c->all)) != NULL)
		session_worker_free(worker);
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
		count += worker->number != 0;
	return count;
}
