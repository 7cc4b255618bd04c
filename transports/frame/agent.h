/* agent.h - the frame of every transport agent
 *
 * An agent is a struct agent_kind and a call of agent_main: the frame reads
 * jobs with their descriptors, loads them out of the control file, calls
 * the channel's functions, appends the records and sends the verdicts
 * (doc/protocol/agent.md).  The channel's functions are straight-line code and
 * do not see the spool, the protocol or other jobs.
 *
 * Life cycle: start, then job, job, ... settle, ... idle ..., then finish.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TRANSPORTS_AGENT_H
#define ZM_TRANSPORTS_AGENT_H

#include "base/err.h"
#include "base/str.h"
#include "conf/conf.h"
#include "daemon/sandbox.h"
#include "mail/verdict.h"
#include "mail/control_file/control_file.h"

enum {
	AGENT_BATCH_MAX = 16	/* jobs between two calls of settle */
};

struct agent_kind;

struct agent_run {
	const struct agent_kind	*agent;
	const struct conf	*conf;
	struct arena		*arena;	/* released after each settle */
	void			*state;	/* the agent's own */
	bool			 is_more;	/* another job is waiting */
	const _Atomic unsigned	*carried_count;	/* agents of this process;
						 * NULL: it is one
						 * (carrier.h) */
	const struct conf_zone	*zone;	/* to send from; NULL: none */
	struct slice		 provider;	/* who shares the MX of the
						 * job's host; empty: unknown */
	struct slice		 tls;	/* of the connection that served the
					 * job, in words; empty: none.  The
					 * agent sets it, in the arena */
	bool			 is_connected;	/* the agent clears it when its
						 * connection is gone */
	struct frame		*frame;	/* the frame's own */
	struct sandbox		 sandbox;	/* start may add to it */
	char			**words;	/* after the options, when the
						 * agent takes any */
	int			 word_count;
};

struct agent_kind {
	const char	*name;		/* "smtp": in events and messages */
	const char	*purpose;	/* one line for --help */
	const char	*channel;
	const char	*takes;		/* what may stand after the options,
					 * for --help; NULL: nothing */
	bool		 is_confined;	/* after start it needs no files but
					 * those of its jobs: it locks itself
					 * in (daemon/sandbox.h) */
	/* Once, after the configuration was read. 0 or -1. May be NULL. */
	int	(*start)(struct agent_run *run, struct err *err);
	/* State for one agent more, beside others of this process in a
	 * thread of its own, from what first has opened; finish ends it.
	 * NULL: a process is one agent (carrier.h). */
	void	(*join)(struct agent_run *run, const struct agent_run *first);
	/* Deliver one message to job->rcpts and fill verdicts, one for each
	 * of them, in their order.  They begin as "deferred, not tried".
	 * body_fd is positioned nowhere: use pread.  It is the frame's.
	 * returns 0, or the seconds after which what is deferred should be
	 * tried again when the agent knows. */
	int	(*job)(struct agent_run *run, struct control_job *job,
	    int body_fd,
	    struct verdict verdicts[]);
	/* Bring what the jobs since the last call began to its end; their
	 * verdicts, descriptors and arena still stand.  May be NULL. */
	void	(*settle)(struct agent_run *run);
	/* Nothing to do: let go of what is old.  Called when the scheduler
	 * says #idle and every few seconds after that.  May be NULL. */
	void	(*idle)(struct agent_run *run);
	/* Have a connection to host, which is asked whether it still is one,
	 * or opened.  False: there is none, and trouble says why.  NULL: the
	 * agent keeps none. */
	bool	(*warm)(struct agent_run *run, struct slice host,
	    struct verdict *trouble);
	/* Before exit 0.  May be NULL. */
	void	(*finish)(struct agent_run *run);
};

/* Read arguments (-C FILE, --version, --help) and configuration, then serve
 * the socket that is standard input and output.  Returns the exit status:
 * 0 the scheduler said so, 64 usage, 78 bad configuration, 69 the
 * socket broke. */
int agent_main(int argc, char **argv, const struct agent_kind *agent);

/* The agent has opened a connection to peer ("mx.example[192.0.2.1]:25"), in
 * place of an earlier one.  tls is in words, empty: none.  The scheduler is
 * told at once, because what comes next may take long. */
void agent_connected(struct agent_run *run, const char *peer,
    struct slice tls);

/* The frame alone, for agent_main and tests: serve the jobs that come on in
 * until its end, answer on out.  0 or -1 (err). */
int agent_serve(struct agent_run *run, int in, int out, struct err *err);

#endif
