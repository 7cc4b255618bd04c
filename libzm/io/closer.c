/* closer.c - close in another thread what takes long to close
 *
 * In     descriptors
 * Out    nothing: they are closed, soon
 * Holds  CLOSER_QUEUE_MAX descriptors at most; some threads that do nothing
 *        but close(2)
 *
 * SPDX-License-Identifier: ISC
 */
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "base/clock.h"
#include "io/closer.h"

#include "base/banned.h"

enum { THREADS = 4, STACK_BYTES = 64 * 1024 };

static struct {
	bool		 may;		/* closer_start was called */
	bool		 has_threads;
	unsigned	 slow_left;	/* to hand over before one is timed */
	pthread_mutex_t	 lock;		/* of what follows */
	pthread_cond_t	 news;
	int		 fds[CLOSER_QUEUE_MAX];
	unsigned	 first, count;
} closer = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.news = PTHREAD_COND_INITIALIZER,
};

static void *
work(void *unused)
{
	(void)unused;
	pthread_mutex_lock(&closer.lock);
	for (;;) {
		int fd;

		while (closer.count == 0)
			pthread_cond_wait(&closer.news, &closer.lock);
		fd = closer.fds[closer.first];
		closer.first = (closer.first + 1) % CLOSER_QUEUE_MAX;
		closer.count--;
		pthread_mutex_unlock(&closer.lock);
		close(fd);
		pthread_mutex_lock(&closer.lock);
	}
	return NULL;
}

/* Signals are the loop's.  One thread is enough to go on with. */
static bool
threads_make(void)
{
	sigset_t all, before;
	pthread_attr_t attributes;
	pthread_t thread;

	if (closer.has_threads || pthread_attr_init(&attributes) != 0)
		return closer.has_threads;
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	for (int i = 0; i < THREADS; i++)
		closer.has_threads |= pthread_create(&thread, &attributes,
		    work, NULL) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	return closer.has_threads;
}

static bool
hand_over(int fd)
{
	bool is_taken;

	pthread_mutex_lock(&closer.lock);
	is_taken = closer.count < CLOSER_QUEUE_MAX;
	if (is_taken) {
		closer.fds[(closer.first + closer.count) %
		    CLOSER_QUEUE_MAX] = fd;
		closer.count++;
		pthread_cond_signal(&closer.news);
	}
	pthread_mutex_unlock(&closer.lock);
	return is_taken;
}

void
closer_start(void)
{
	closer.may = true;
}

bool
closer_is_slow(void)
{
	return closer.slow_left > 0;
}

void
closer_close(int fd)
{
	int64_t begun_us;

	if (closer.slow_left > 0) {
		closer.slow_left--;
		if (hand_over(fd))
			return;
	}
	if (!closer.may) {
		close(fd);
		return;
	}
	begun_us = clock_steady_us();
	close(fd);
	if (clock_steady_us() - begun_us >= CLOSER_SLOW_US && threads_make())
		closer.slow_left = CLOSER_SLOW_FOR;
}
