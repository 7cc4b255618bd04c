/* callers.c - who asks a process that daemons consult, over its socket
 *
 * In     connections and lines of our own daemons and tools
 * Out    calls of the program's take
 * Holds  the callers
 * Trusts no line; who may connect is said by the socket's group and mode
 * Spec   callers.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "daemon/callers.h"

#include "base/banned.h"

struct callers {
	struct process			*process;
	const struct callers_kind	*kind;
	void				*context;
	struct ipc_link_kind		 link_kind;
	int				 socket;
	struct watch			*listener, *lifeline;
	TAILQ_HEAD(, caller)		 all;
	size_t				 count;
	bool				 is_leaving;
	struct timer			 leave_timer;
};

/* ---- one of them ------------------------------------------------------- */

static void
caller_gone(void *context)
{
	struct caller *caller = context;
	struct callers *callers = caller->callers;

	callers->kind->gone(caller);
	TAILQ_REMOVE(&callers->all, caller, entry);
	callers->count--;
	ipc_link_free(&caller->link);
	mem_free(&caller);
	if (callers->is_leaving && TAILQ_EMPTY(&callers->all))
		loop_stop(callers->process->loop);
}

static void
caller_on_idle(void *context)
{
	struct caller *caller = context;

	if (caller->callers->is_leaving && caller->wait_count == 0 &&
	    ipc_link_out(caller->link)->len == 0)
		caller_gone(caller);
}

static enum ipc_link_taken
caller_on_line(void *context, struct slice line)
{
	struct caller *caller = context;

	return caller->callers->kind->take(caller, line);
}

static uid_t
caller_uid(int socket)
{
#ifdef SO_PEERCRED
	struct ucred who;
	socklen_t n = sizeof(who);

	return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &who, &n) == 0 ?
	    who.uid : (uid_t)-1;
#else
	uid_t uid;
	gid_t gid;

	return getpeereid(socket, &uid, &gid) == 0 ? uid : (uid_t)-1;
#endif
}

static void
callers_on_listener(void *context, unsigned ready)
{
	struct callers *callers = context;
	struct caller *caller;
	int fd = accept4(callers->socket, NULL, NULL,
	    SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (fd < 0)
		return;
	if (callers->count >= callers->kind->callers_max) {
		close(fd);
		return;
	}
	caller = mem_alloc(1, callers->kind->caller_bytes);
	caller->callers = callers;
	caller->context = callers->context;
	caller->uid = caller_uid(fd);
	caller->link = ipc_link_new(callers->process->loop, fd,
	    &callers->link_kind, caller);
	TAILQ_INSERT_TAIL(&callers->all, caller, entry);
	callers->count++;
}

/* ---- the end ----------------------------------------------------------- */

static void
callers_on_leave_time(void *context)
{
	struct callers *callers = context;

	loop_stop(callers->process->loop);
}

static void
callers_on_lifeline(void *context, unsigned ready)
{
	struct callers *callers = context;
	struct caller *caller, *next;

	callers->is_leaving = true;
	watch_free(&callers->lifeline);
	watch_free(&callers->listener);
	timer_set(callers->process->loop, &callers->leave_timer,
	    clock_steady_ms() + callers->kind->leave_ms,
	    callers_on_leave_time, callers);
	if (TAILQ_EMPTY(&callers->all))
		loop_stop(callers->process->loop);
	TAILQ_FOREACH_SAFE(caller, &callers->all, entry, next)
		caller_on_idle(caller);
}

struct callers *
callers_new(struct process *process, const struct callers_kind *kind,
    void *context, int socket, int lifeline)
{
	struct callers *callers = mem_alloc(1, sizeof(*callers));

	callers->process = process;
	callers->kind = kind;
	callers->context = context;
	callers->link_kind = (struct ipc_link_kind){ .take = caller_on_line,
	    .ended = caller_gone, .idle = caller_on_idle,
	    .line_bytes_max = kind->line_bytes_max };
	callers->socket = socket;
	TAILQ_INIT(&callers->all);
	callers->listener = loop_watch(process->loop, socket, LOOP_READ,
	    callers_on_listener, callers);
	callers->lifeline = loop_watch(process->loop, lifeline, LOOP_READ,
	    callers_on_lifeline, callers);
	return callers;
}

void
callers_free(struct callers **pcallers)
{
	struct callers *callers = *pcallers;
	struct caller *caller;

	if (callers == NULL)
		return;
	while ((caller = TAILQ_FIRST(&callers->all)) != NULL)
		caller_gone(caller);
	timer_clear(&callers->leave_timer);
	watch_free(&callers->listener);
	watch_free(&callers->lifeline);
	mem_free(pcallers);
}
