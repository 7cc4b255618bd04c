/* sync.c - what waits for a disk, in threads of its own
 *
 * In     tasks, from the loop
 * Out    the same tasks, to the loop, after their work
 * Holds  at most SYNCER_THREADS threads, made when there is work for them;
 *        an eventfd (elsewhere a pipe) that wakes the loop
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>
#ifdef HAVE_SYS_EVENTFD_H
#include <sys/eventfd.h>
#endif

#include "base/err.h"
#include "base/mem.h"
#include "io/sync.h"

#include "base/banned.h"

enum { STACK_BYTES = 128 * 1024 };

struct sync_queue {
	struct sync_task *first, **last;
};

struct syncer {
	const struct loop *loop;
	struct watch	*watch;
	size_t		 count;		/* added, done not called: the loop's */
	int		 read_fd, wake_fd;	/* one and the same: eventfd */
	pthread_t	 threads[SYNCER_THREADS];
	size_t		 thread_count;	/* the loop's */
	pthread_mutex_t	 lock;		/* of what follows */
	pthread_cond_t	 news;		/* work, or the end */
	pthread_cond_t	 ended;		/* something in `over` */
	struct sync_queue todo, over;
	size_t		 todo_count;
	size_t		 idle;		/* threads that wait for news */
	bool		 is_closing;
};

/* ---- queues ------------------------------------------------------------ */

static void
queue_init(struct sync_queue *queue)
{
	queue->first = NULL;
	queue->last = &queue->first;
}

static void
queue_put(struct sync_queue *queue, struct sync_task *task)
{
	task->next = NULL;
	*queue->last = task;
	queue->last = &task->next;
}

static struct sync_task *
queue_take(struct sync_queue *queue)
{
	struct sync_task *task = queue->first;

	if (task != NULL && (queue->first = task->next) == NULL)
		queue->last = &queue->first;
	return task;
}

/* ---- the threads' side -------------------------------------------------- */

static void
syncer_wake(const struct syncer *syncer)
{
	const uint64_t one = 1;
	size_t n = syncer->read_fd == syncer->wake_fd ? sizeof(one) : 1;

	while (write(syncer->wake_fd, &one, n) < 0 && errno == EINTR)
		;
}

/* True: the loop is to be woken, once for all that ends until it looks; after
 * the lock is let go, which it would wait for. */
static bool
syncer_over(struct syncer *syncer, struct sync_task *task)
{
	bool was_empty = syncer->over.first == NULL;

	queue_put(&syncer->over, task);
	pthread_cond_signal(&syncer->ended);
	return was_empty;
}

static void *
syncer_work(void *context)
{
	struct syncer *syncer = context;
	struct sync_task *task;

	pthread_mutex_lock(&syncer->lock);
	for (;;) {
		while ((task = queue_take(&syncer->todo)) == NULL &&
		    !syncer->is_closing) {
			syncer->idle++;
			pthread_cond_wait(&syncer->news, &syncer->lock);
			syncer->idle--;
		}
		if (task == NULL)
			break;
		syncer->todo_count--;
		pthread_mutex_unlock(&syncer->lock);
		task->work(task->context);
		pthread_mutex_lock(&syncer->lock);
		if (!syncer_over(syncer, task))
			continue;
		pthread_mutex_unlock(&syncer->lock);
		syncer_wake(syncer);
		pthread_mutex_lock(&syncer->lock);
	}
	pthread_mutex_unlock(&syncer->lock);
	return NULL;
}

/* Signals are the loop's. */
static bool
syncer_thread_make(struct syncer *syncer)
{
	sigset_t all, before;
	pthread_attr_t attributes;
	bool is_made;

	if (pthread_attr_init(&attributes) != 0)
		return false;
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	is_made = pthread_create(&syncer->threads[syncer->thread_count],
	    &attributes, syncer_work, syncer) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	syncer->thread_count += is_made;
	return is_made;
}

/* ---- the loop's side ----------------------------------------------------- */

/* The turn is over: what is left is taken again in the next one, first. */
static void
syncer_put_back(struct syncer *syncer, struct sync_queue *rest)
{
	pthread_mutex_lock(&syncer->lock);
	*rest->last = syncer->over.first;
	if (syncer->over.first == NULL)
		syncer->over.last = rest->last;
	syncer->over.first = rest->first;
	pthread_mutex_unlock(&syncer->lock);
	syncer_wake(syncer);
}

/* Of what has ended all, or (loop not NULL) as far as its turn goes. */
static void
syncer_call_done(struct syncer *syncer, const struct loop *loop)
{
	struct sync_queue over;
	struct sync_task *task;

	pthread_mutex_lock(&syncer->lock);
	over = syncer->over;
	if (over.first == NULL)
		over.last = &over.first;
	queue_init(&syncer->over);
	pthread_mutex_unlock(&syncer->lock);
	while ((task = over.first) != NULL) {
		over.first = task->next;
		syncer->count--;
		task->done(task->context);
		if (over.first != NULL && loop != NULL &&
		    loop_turn_is_over(loop)) {
			syncer_put_back(syncer, &over);
			return;
		}
	}
}

static void
syncer_on_wake(void *context, unsigned ready)
{
	struct syncer *syncer = context;
	char bytes[64];

	(void)ready;
	while (read(syncer->read_fd, bytes, sizeof(bytes)) > 0 &&
	    syncer->read_fd != syncer->wake_fd)
		;
	syncer_call_done(syncer, syncer->loop);
}

static void
syncer_open_wake(struct syncer *syncer)
{
	int fds[2];

#ifdef HAVE_SYS_EVENTFD_H
	fds[0] = fds[1] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (fds[0] < 0)	/* as base/mem.c: the machine is exhausted */
#else
	if (pipe2(fds, O_CLOEXEC | O_NONBLOCK) != 0)
#endif
		fatal("eventfd: %s", strerror(errno));	/* as above */
	syncer->read_fd = fds[0];
	syncer->wake_fd = fds[1];
}

struct syncer *
syncer_new(struct loop *loop)
{
	struct syncer *syncer = mem_alloc(1, sizeof(*syncer));

	syncer->loop = loop;
	pthread_mutex_init(&syncer->lock, NULL);
	pthread_cond_init(&syncer->news, NULL);
	pthread_cond_init(&syncer->ended, NULL);
	queue_init(&syncer->todo);
	queue_init(&syncer->over);
	syncer_open_wake(syncer);
	syncer->watch = loop_watch(loop, syncer->read_fd, LOOP_READ,
	    syncer_on_wake, syncer);
	return syncer;
}

void
syncer_free(struct syncer **syncer)
{
	struct syncer *old = *syncer;

	if (old == NULL)
		return;
	syncer_settle(old);
	pthread_mutex_lock(&old->lock);
	old->is_closing = true;
	pthread_cond_broadcast(&old->news);
	pthread_mutex_unlock(&old->lock);
	while (old->thread_count > 0)
		pthread_join(old->threads[--old->thread_count], NULL);
	pthread_mutex_destroy(&old->lock);
	pthread_cond_destroy(&old->news);
	pthread_cond_destroy(&old->ended);
	watch_free(&old->watch);
	if (old->wake_fd != old->read_fd)
		close(old->wake_fd);
	close(old->read_fd);
	mem_free(syncer);
}

/* No thread could be made: the loop does it. */
static void
syncer_work_here(struct syncer *syncer)
{
	struct sync_task *task;

	while ((task = queue_take(&syncer->todo)) != NULL) {
		syncer->todo_count--;
		task->work(task->context);
		if (syncer_over(syncer, task))
			syncer_wake(syncer);
	}
}

void
syncer_add(struct syncer *syncer, struct sync_task *task)
{
	bool is_short, is_awaited;

	syncer->count++;
	pthread_mutex_lock(&syncer->lock);
	queue_put(&syncer->todo, task);
	syncer->todo_count++;
	is_short = syncer->todo_count > syncer->idle &&
	    syncer->thread_count < SYNCER_THREADS;
	is_awaited = syncer->idle > 0;
	pthread_mutex_unlock(&syncer->lock);
	/* who is woken wants the lock at once */
	if (is_awaited)
		pthread_cond_signal(&syncer->news);
	if (is_short && !syncer_thread_make(syncer) &&
	    syncer->thread_count == 0)
		syncer_work_here(syncer);
}

size_t
syncer_count(const struct syncer *syncer)
{
	return syncer->count;
}

void
syncer_settle(struct syncer *syncer)
{
	while (syncer->count > 0) {
		pthread_mutex_lock(&syncer->lock);
		while (syncer->over.first == NULL)
			pthread_cond_wait(&syncer->ended, &syncer->lock);
		pthread_mutex_unlock(&syncer->lock);
		syncer_call_done(syncer, NULL);
	}
}
