/* supervised.h - one daemon as the supervisor sees it; internal to tools/run
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_RUN_SUPERVISED_H
#define ZM_TOOLS_RUN_SUPERVISED_H

#include <sys/queue.h>

#include "io/loop.h"
#include "tools/run/handover/handover.h"
#include "tools/run/listeners.h"
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

/* A process whose successor was started: it serves until that is ready, then
 * takes nothing new, and ends when its work is done. */
struct predecessor {
	struct supervised	*successor;
	pid_t			 pid;
	int			 lifeline;
	struct watch		*watch;
	bool			 is_told;	/* to leave */
	bool			 has_left;	/* it takes nothing more */
	bool			 is_stopping;	/* SIGTERM was sent */
	TAILQ_ENTRY(predecessor) entry;
};

enum { PREDECESSORS_MAX = 16 };	/* more: the oldest one is stopped */

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
	int		 lock_fd;	/* it has this open as long as it
					 * lives */
	int		 room_fd;	/* also this: its room of the spool */
	const struct run_listeners *control;	/* scheduler: its socket, if
						 * it was given; else empty */
	const struct run_listeners *listeners;	/* it gets them; or NULL */
	const unsigned	*conf_number;	/* of the present snapshot */
	supervised_change_fn	*on_ready;	/* before those that it
						 * succeeds are told to leave */
	supervised_change_fn	*on_change;
	supervised_gone_fn	*on_gone;
	enum supervised_state state;
	pid_t		 pid;		/* 0: none */
	int		 lifeline;
	struct watch	*watch;
	struct timer	 timer;		/* restart, or kill */
	int64_t		 since_s;	/* of the present state's process */
	struct program	 program;	/* of the last start */
	int64_t		 started_at_ms;
	int64_t		 backoff_ms;
	unsigned	 restarts;
	bool		 was_ready;	/* the present or the last process */
	TAILQ_HEAD(, predecessor) predecessors;	/* oldest first */
	unsigned	 predecessor_count;
	bool		 owes_reload;	/* SIGHUP is sent when it is ready */
	bool		 is_reloading;	/* it has neither taken nor refused the
					 * new file yet */
	bool		 has_refused;	/* the last reload */
	unsigned	 has_conf;	/* number of the configuration that it
					 * read */
	bool		 knows_names;	/* of routed messages: the router has
					 * looked, the scheduler was told */
};

/* Initialize it; then the caller sets name, conf_path and the other fields of
 * the first block. */
void supervised_init(struct supervised *child, const char *name,
    struct supervisor *boss);

/* Take over a daemon from the previous program in this process (handover.h):
 * its process, its state, when it is started again.  The caller has initialized
 * child, and then adopts its predecessors (oldest first). */
void supervised_adopt(struct supervised *child,
    const struct handover_child *had);
void supervised_adopt_before(struct supervised *child,
    const struct handover_before *had);

/* Fork and execute; ready comes later.  0 or -1. */
int supervised_start(struct supervised *child, struct err *err);
/* Start a successor of the present process, which serves until that is ready:
 * so changes that need a start are made without cutting sessions.  is_reloading
 * until then.  0 or -1. */
int supervised_replace(struct supervised *child, struct err *err);
/* Send SIGHUP, now or when it is ready, because one that starts may have read
 * the old file and has no handler yet.  is_reloading until it answers or
 * ends. */
void supervised_reload(struct supervised *child);
/* The scheduler: the router has looked at the names of routed messages. */
void supervised_tell_names(struct supervised *child);
/* Has it taken the new file, and have all predecessors stopped taking work? */
bool supervised_is_settled(const struct supervised *child);
/* Send SIGTERM to all of its processes, and SIGKILL after span_ms. */
void supervised_stop(struct supervised *child, int64_t span_ms);
/* SIGKILL now, if there is a process. */
void supervised_kill(struct supervised *child);
/* Is there a process, it or a predecessor? */
bool supervised_lives(const struct supervised *child);
/* pid was waited for: if it is one of its processes, note its end. */
void supervised_ended(struct supervised *child, pid_t pid, int status);
/* "exit 111", "signal 9", "not started" for -1. */
void supervised_end_text(int status, char *out, size_t size);
/* Arm the timer for the next start (event daemon.exit). status -1: it could
 * not be forked. */
void supervised_restart_later(struct supervised *child, int status);

/* Its line of the state file. */
void supervised_describe(const struct supervised *child,
    struct state_child *out);

#endif
