/* supervised.h - one daemon as the supervisor sees it; internal to tools/run
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_RUN_SUPERVISED_H
#define ZM_TOOLS_RUN_SUPERVISED_H

#include "io/loop.h"
#include "tools/run/supervisor.h"

enum supervised_state {
#define SUPERVISED_STATES(STATE) \
	STATE(DOWN, "down")		/* no process */ \
	STATE(STARTING, "starting")	/* not ready yet */ \
	STATE(READY, "ready") \
	STATE(STOPPING, "stopping")	/* SIGTERM was sent */ \
	STATE(WAITING, "restarting")	/* ended; its timer runs */
#define STATE(symbol, name) SUPERVISED_##symbol,
	SUPERVISED_STATES(STATE)
#undef STATE
};

struct supervised;
/* It became ready, was started again, or has read its new file. */
typedef void supervised_change_fn(struct supervised *child);
/* status as waitpid gives it; was_asked: after supervised_stop. */
typedef void supervised_gone_fn(struct supervised *child, int status,
    bool was_asked);

struct supervised {
	const char	*name;
	struct supervisor *boss;
	struct loop	*loop;
	const char	*conf_path;	/* the snapshot it reads */
	int		 lock_fd;	/* it holds this open as long as it
					 * lives, on descriptor 4 */
	supervised_change_fn	*on_change;
	supervised_gone_fn	*on_gone;
	enum supervised_state state;
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
void supervised_init(struct supervised *child, const char *name,
    struct supervisor *boss);

/* Fork and execute; ready comes later.  0 or -1. */
int supervised_start(struct supervised *child, struct err *err);
/* SIGHUP, now or when it is ready: one that starts may have read the old
 * file, and has no handler yet.  is_reloading until it answers or ends. */
void supervised_reload(struct supervised *child);
/* SIGTERM, and SIGKILL after span_ms. */
void supervised_stop(struct supervised *child, int64_t span_ms);
/* SIGKILL now, if there is a process. */
void supervised_kill(struct supervised *child);
/* Its process was waited for. */
void supervised_ended(struct supervised *child, int status);
/* Arm the timer for the next start (event daemon.exit). status -1: it could
 * not be forked. */
void supervised_restart_later(struct supervised *child, int status);

/* Its line of the state file. */
void supervised_describe(const struct supervised *child,
    struct state_child *out);

#endif
