/* pid.c - the number of this process
 *
 * Out    the number, for names of files and lines of the journal
 * Holds  it, until this process forks: the child asks anew
 *
 * SPDX-License-Identifier: ISC
 */
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "base/pid.h"

#include "base/banned.h"

static _Atomic pid_t own_pid;		/* 0: not asked yet */

static void
pid_forget(void)
{
	atomic_store(&own_pid, 0);
}

static void
pid_watch_forks(void)
{
	(void)pthread_atfork(NULL, NULL, pid_forget);
}

pid_t
pid_own(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pid_t pid = atomic_load_explicit(&own_pid, memory_order_relaxed);

	if (pid != 0)
		return pid;
	(void)pthread_once(&once, pid_watch_forks);
	pid = getpid();
	atomic_store(&own_pid, pid);
	return pid;
}
