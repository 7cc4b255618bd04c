/* child.h - one daemon as the supervisor sees it; internal to tools/run
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_RUN_CHILD_H
#define ZM_TOOLS_RUN_CHILD_H

#include "io/loop.h"
#include "tools/run/supervisor.h"

enum child_state {
#define CHILD_STATES(STATE) \
	STATE(DOWN, "down")		/* no process */ \
	STATE(STARTING, "starting")	/* not ready yet */ \
	STATE(READY, "ready") \
	STATE(STOPPING, "stopping")	/* SIGTERM was sent */ \
	STATE(WAITING, "restarting")	/* ended; its timer runs */
#define STATE(symbol, name) CHILD_##symbol,
	CHILD_STATES(STATE)
#undef STATE
};

struct child;
/* It became ready, was started again, or has read its new file. */
typedef void child_change_fn(struct child *child);
/* status as waitpid gives it; was_asked: after child_stop. */
typedef void child_gone_fn(struct child *child, int status, bool was_asked);

struct child {
	const char	*name;
	struct supervisor *boss;
	struct loop	*loop;
	const char	*conf_path;
	int		 lock_fd;	/* it holds this open as long as it
					 * lives, on descriptor 4 */
	child_change_fn	*on_change;
	child_gone_fn	*on_gone;
	enum child_state state;
	pid_t		 pid;		/* 0: none */
	int		 lifeline;
	struct watch	*watch;
	struct timer	 timer;		/* restart, or kill */
	int64_t		 since_s;	/* of the present state's process */
	int64_t		 started_at_ms;
	int64_t		 backoff_ms;
	unsigned	 restarts;
	bool		 owes_reload;	/* SIGHUP, as soon as it is ready */
	bool		 is_reloading;	/* it has not said yet that it took
					 * the new file, or refused it */
};

/* name, conf_path and the other fields of the first block are the caller's
 * to set after this. */
void child_init(struct child *child, const char *name,
    struct supervisor *boss);

/* Fork and execute; ready comes later.  0 or -1. */
int child_start(struct child *child, struct err *err);
/* SIGHUP, now or when it is ready: one that starts may have read the old
 * file, and has no handler yet.  is_reloading until it answers or ends. */
void child_reload(struct child *child);
/* SIGTERM, and SIGKILL after span_ms. */
void child_stop(struct child *child, int64_t span_ms);
/* SIGKILL now, if there is a process. */
void child_kill(struct child *child);
/* Its process was waited for. */
void child_ended(struct child *child, int status);
/* Arm the timer for the next start (event daemon.exit). status -1: it could
 * not be forked. */
void child_restart_later(struct child *child, int status);

/* Its line of the state file. */
void child_describe(const struct child *child, struct state_child *out);

#endif
