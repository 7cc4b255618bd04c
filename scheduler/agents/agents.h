/* agents.h - the transport agents; each ring has a pool of them
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SCHEDULER_AGENTS_H
#define ZM_SCHEDULER_AGENTS_H

#include "io/ipc.h"
#include "scheduler/outcome/outcome.h"

enum {
	AGENT_PATIENCE_MS = 3600000,	/* silence with work in hand: a big
					 * message on a slow line takes long */
	AGENT_TICK_MS = 1000,		/* how often idle ones are looked at */
	AGENT_STARTS_A_TURN = 16,
	AGENT_BACKOFF_MAX_MS = 60000	/* between starts that fail */
};

struct agent_connection {		/* what the agent told of it */
	char		*peer, *tls;	/* tls "": none */
	char		*host;		/* whose mail it was opened for */
	int64_t		 since_s;	/* wall */
	unsigned	 uses;		/* messages so far */
};

struct agent {
	struct agents	*agents;
	TAILQ_ENTRY(agent) entry;	/* its ring's idle or busy, or gone */
	TAILQ_ENTRY(agent) all_entry;
	struct ring	*ring;
	struct thread	*thread;	/* served now; NULL when idle */
	uint32_t	 last_hash;	/* of the thread it served last */
	unsigned	 token;		/* the launcher's name for it */
	pid_t		 pid;		/* 0: not told yet */
	int		 socket;	/* -1: closed, waits for the notice */
	struct watch	*watch;
	struct ipc_inbox *inbox;
	struct vertex_queue jobs;	/* in the order they were given */
	struct vertex	*unsent;	/* first of them not sent yet */
	unsigned	 job_count;
	unsigned	 sent_count, hungry_count;	/* since its start */
	unsigned	 talk_count;	/* lines since a job was done */
	struct str	 rest;		/* of a send that was cut short */
	int64_t		 heard_ms;	/* last sign of life */
	int64_t		 idle_ms;	/* since then without work */
	int64_t		 hungry_ms;	/* its last #hungry; 0: none yet */
	int64_t		 fed_ms;	/* given its last job; 0: none yet */
	int64_t		 done_ms;	/* was done with a job, or given the
					 * first one after a rest */
	int64_t		 turn_ms;	/* the same before that */
	struct agent_connection *connection;	/* NULL: none that we know of */
	unsigned	 lost_count;	/* jobs it had when it was lost */
	bool		 is_told_idle, is_closing, has_news, is_nonsense;
	bool		 is_bystander;	/* its process is killed for what
					 * another one in it did */
	bool		 is_surplus;	/* idle; its host wants fewer */
	bool		 is_standby;	/* idle, kept for `warm` */
	bool		 is_asked;	/* #warm was said, not answered yet */
	int64_t		 asked_ms;	/* when that was; 0: never */
};

/* launcher_start_agent and launcher_kill_agent, or a test's. */
typedef int agents_start_fn(unsigned clause, const char *channel, int socket,
    unsigned token, struct err *err);
typedef int agents_kill_fn(unsigned token, struct err *err);

/* How often agents could not read a job.  The job itself is reread each time
 * and does not remember. */
struct resync {
	char		 id[SPOOL_ID_BYTES];
	unsigned	 count;
};
enum { RESYNCS_MAX = 64 };

struct agents {
	struct queue	*queue;
	struct intake	*intake;
	struct outcome	*outcome;
	agents_start_fn	*start;
	agents_kill_fn	*kill;
	struct agent_queue all;		/* but the gone, by token */
	struct agent_queue gone;	/* closed, exit notice not yet seen */
	unsigned	 token;
	unsigned	 count;		/* all but the gone */
	unsigned	 fd_budget;	/* descriptors for agents and jobs */
	struct timer	 tick, standby_tick;
	struct resync	 resyncs[RESYNCS_MAX];
	unsigned	 resync_next;	/* oldest, to be overwritten */
	bool		 is_stopping;
	int64_t		 feed_end_us;	/* of this turn's share */
	bool		 is_cut;	/* it was over: the next turn goes on */
	bool		 has_news;	/* some agent has: see agents_send */
};

/* Begin without agents.  The limit of open descriptors decides how many agents
 * there may be and how many jobs may be open. */
void agents_open(struct agents *agents, agents_start_fn *start,
    agents_kill_fn *kill);

/* Give work to the agents of every thread that may have it, and start agents.
 * Opening the files of many messages takes long, so after FEED_TURN_US the rest
 * is left to the next turn.  True: something was left. */
enum { FEED_TURN_US = 5000 };
bool agents_feed(struct agents *agents);

/* Call it after agents_feed: is there mail in line that no limit holds and no
 * agent was given, or a vertex in WAIT whose time has come?  For a moment this
 * happens in every busy scheduler; if it lasts and nothing is given to agents,
 * the scheduler is stuck.  Only the first threads of each ring are checked. */
bool agents_have_unfed(const struct agents *agents, int64_t now_ms);

/* The launcher says that an agent's process has begun (a launcher_begin_fn;
 * context is the agents). */
void agents_begin(void *context, unsigned token, pid_t pid);

/* The launcher says that it has ended (a launcher_exit_fn; context is the
 * agents). */
void agents_exit(void *context, unsigned token, pid_t pid, int status);

/* Feed no more; tell all agents to finish. */
void agents_stop(struct agents *agents);

/* The configuration was replaced: release the agents of rings that it no longer
 * has. */
void agents_rematch(struct agents *agents);

/* Close everything; jobs at agents are left to them and their locks. */
void agents_release(struct agents *agents);

/* The oldest agent whose token is above after, or NULL.  TAILQ_NEXT by
 * all_entry has the following ones. */
struct agent *agents_first_after(const struct agents *agents, unsigned after);

/* How many agents have work. */
unsigned agents_busy(const struct agents *agents);

/* ---- between agents.c, feed.c and hear.c ------------------------------ */

/* Start an agent for the ring, among its busy ones, without a job yet; NULL:
 * not now. */
struct agent *agent_new(struct agents *agents, struct ring *ring);

/* Give up an agent: its jobs go back, the socket is closed.  reason goes into
 * the record of its current job (NULL: no job is blamed). */
void agent_lose(struct agents *agents, struct agent *agent,
    const char *reason);

/* The same for an agent that must not go on: its process is killed first.  Jobs
 * of other agents in this process are not blamed, and their last answers are
 * still read. */
void agent_kill(struct agents *agents, struct agent *agent,
    const char *reason);

/* The agent has opened, or closed, its connection. */
void agent_connect(struct agent *agent, struct slice peer, struct slice tls);
void agent_disconnect(struct agent *agent);

/* From now on, once a second (a loop_timer_fn; context is the agents): keep
 * agents of clauses with `warm` on standby, start them where there are too few,
 * and ask them to open or keep a connection. */
void agents_stand_by(void *context);
/* Take the answer to #warm.  False: the agent was not asked. */
bool agent_take_warm(struct agent *agent, const struct answer *answer);
/* The host to which the agent's ring keeps connections; "": none. */
const char *agent_standby_host(const struct agent *agent);

/* The agent's socket is ready (a loop_io_fn; context is the agent): read its
 * lines, send what waits.  The agent may be lost afterwards. */
void agent_ready(void *context, unsigned ready);

/* The agent is idle again: it leaves its thread, for the head of its ring's
 * idle agents. */
void agent_rest(struct agents *agents, struct agent *agent);
/* The thread's host takes fewer sessions than before: surplus idle agents close
 * their connections to it. */
void agents_shed(const struct thread *thread);

/* Send every agent what it was given: everything, or as much as a turn allows,
 * at least one. */
void agents_send(struct agents *agents, bool is_whole);

/* Send as much of the agent's unsent jobs as its socket takes. */
void agent_send(struct agents *agents, struct agent *agent);

#endif
