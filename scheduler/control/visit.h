/* visit.h - a walk over the messages that a request selects
 *
 * The jobs are listed when the visit begins, in pieces (16 bytes a job), and
 * visited from old to new, however long that takes; one that is gone by then is
 * skipped.  Control files are read only if the choice, or the caller, needs
 * them.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SCHEDULER_VISIT_H
#define ZM_SCHEDULER_VISIT_H

#include "mail/control_file/control_file.h"
#include "scheduler/control/request.h"
#include "scheduler/agents/agents.h"
#include "scheduler/control/opening.h"

enum { VISIT_PASSING_MS = 30000 };	/* a message is waited for */

struct visit_pick {
	uint64_t	 ticks;		/* of the id: when it was accepted */
	ino_t		 inode;
};

struct control_visit {
	struct queue	*queue;
	struct intake	*intake;
	struct agents	*agents;
	const struct request *request;
	const char	*user;		/* only its mail; NULL: all */
	struct visit_pick *heap;	/* oldest first */
	size_t		 count, capacity;
	struct job_walk	 walk;		/* while they are listed */
	bool		 is_listed;
	bool		*is_found;	/* ids of the request, until then */
	struct visit_pick cut, last;	/* after a page's end; came out last */
	unsigned	 known;		/* ids of the request that are here */
	unsigned	 busy;		/* and in the hands of an agent of the
					 * scheduler before this one */
	uint32_t	 keys;		/* selector_keys_used */
	/* of the message that is open: */
	struct job	*job;
	struct control_file	 control;
	struct visit_rcpt *rcpts;	/* by offset */
	size_t		 rcpt_count, rcpt_capacity;
	struct arena	*arena;		/* of a message that is kept open */
	struct str	 text;
	struct opening	*opening;	/* of a large file, which has arena and
					 * text; NULL: none */
	bool		 may_wait;	/* its act looks at visit_is_reading */
	loop_fn		*wake;		/* then; or NULL */
	void		*wake_context;
	bool		 is_kept, is_change;
	uint32_t	 number;	/* of the job, when control was read, or
					 * since the visit's own change */
	uint32_t	 vertex_count;	/* when rcpts was filled */
	bool		 is_passing;	/* the next one is being read again */
	int64_t		 passing_ms;	/* it is not waited for longer; 0: it
					 * is none */
	int64_t		 now_s, now_ms;
};

/* Begin a visit, and find the ids of the request.  0; -1: too many ids are not
 * whole. */
int visit_begin(struct control_visit *visit, struct agents *agents,
    const struct request *request, const char *user, struct err *err);
/* Row F1 and on: nobody may want it any more. */
bool visit_job_is_over(const struct job *job);
/* List what the request may select, looking at budget slots of the table of
 * jobs.  True: done, visit_next may follow. */
bool visit_list(struct control_visit *visit, unsigned budget);
void visit_end(struct control_visit *visit);

/* The next message that may be selected, as far as memory tells; NULL: there is
 * none left.  budget: how many to look at; it is reduced, and NULL with budget
 * 0 means: call again; so it does with is_passing, after a while.  One that is
 * passed in the end is counted as busy. */
struct job *visit_next(struct control_visit *visit, unsigned *budget);

/* Read its control file into control and rcpts.  For a change both descriptors
 * of the job are then open.  False: it is gone, cannot be read now, or does not
 * belong to the user; or a thread reads it: when wake is called visit_next has
 * it once more. */
bool visit_open(struct control_visit *visit, struct job *job, bool is_change);

/* The job that was being opened, when that has ended and it is not open yet. */
struct job *visit_opened_job(struct control_visit *visit);
/* Keep the message open over several steps: the visit owns what was read. */
void visit_keep(struct control_visit *visit);
/* At the next step: is it still here?  True: its states were updated, or
 * visit_is_reading; for a change so was what others ordered or told since,
 * for which the file is read anew.  False: it went; or it cannot be read, if
 * there is a visit_job. */
bool visit_resume(struct control_visit *visit);
/* The open message's file was changed by the visit itself. */
void visit_written(struct control_visit *visit);
/* The job of the message that is open; NULL: it has gone. */
struct job *visit_job(const struct control_visit *visit);
/* Does a thread read the next message, or what has become of the open one?
 * Then there is nothing to do until wake is called (ACT_SYNC). */
bool visit_is_reading(const struct control_visit *visit);
/* Close the open message. */
void visit_leave(struct control_visit *visit);

/* The vertex of a recipient of the open message; NULL: it was final when
 * the scheduler read the file. */
struct vertex *visit_vertex(const struct control_visit *visit, uint32_t offset);

/* Has the recipient its outcome: as the file was when it was read, or since
 * then? */
bool visit_has_outcome(const struct control_visit *visit,
    const struct control_rcpt *rcpt);

/* Is this recipient of the open message selected? */
bool visit_is_meant(const struct control_visit *visit,
    const struct control_group *group,
    const struct control_rcpt *rcpt);

/* The state's name of control.md section 3.1. */
const char *visit_vertex_state(const struct vertex *vertex);
/* Of a destination: a row of mail/state.h. */
const char *visit_dest_state(const struct thread *thread);
const char *visit_state(const struct control_visit *visit,
    const struct control_rcpt *rcpt);
/* Is the queue done with this recipient?  It is neither open, nor can it be
 * brought back (deleted, failed and not yet reported). */
bool visit_is_over(const struct control_rcpt *rcpt);

#endif
