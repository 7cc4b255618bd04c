/* visit.h - the messages that a request means, one after the other
 *
 * The jobs are listed when the visit begins, in pieces (16 bytes each), and
 * come out from old to new, however long that takes; one that is gone by then
 * is left out.  Control files are read only when the choice, or the caller,
 * needs what stands in them.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SCHEDULER_VISIT_H
#define ZM_SCHEDULER_VISIT_H

#include "mail/control_file/control_file.h"
#include "scheduler/control/request.h"
#include "scheduler/agents/agents.h"

struct visit_pick {
	uint64_t	 ticks;		/* of the id: when it was accepted */
	ino_t		 inode;
};

struct visit_rcpt {		/* a recipient that the scheduler knows */
	uint32_t	 offset;
	uint32_t	 vertex;	/* index in the job's */
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
	bool		 is_kept, is_change;
	uint32_t	 vertex_count;	/* when rcpts was filled */
	int64_t		 now_s, now_ms;
};

/* Find the ids of the request.  0; -1: too many ids are not whole. */
int visit_begin(struct control_visit *visit, struct agents *agents,
    const struct request *request, const char *user, struct err *err);
/* List what the request may mean, so many slots of the table of jobs at a
 * time.  True: it is done, visit_next may follow. */
bool visit_list(struct control_visit *visit, unsigned budget);
void visit_end(struct control_visit *visit);

/* The next message of which something may be meant, as far as memory tells;
 * NULL: there is none any more.  budget: how many to look at; it goes down,
 * and NULL with budget 0 says: come again. */
struct job *visit_next(struct control_visit *visit, unsigned *budget);

/* Read its control file: control and rcpts are filled.  For a change both
 * descriptors of the job are open then.  False: it is gone, not readable
 * now, or not the user's. */
bool visit_open(struct control_visit *visit, struct job *job, bool is_change);

/* The open message stays open over the steps: what was read of its file is
 * the visit's own now. */
void visit_keep(struct control_visit *visit);
/* At the next step: is it still here?  True: states are those of now. */
bool visit_resume(struct control_visit *visit);
/* It is done with. */
void visit_leave(struct control_visit *visit);

/* The vertex of a recipient of the open message; NULL: it was final when
 * the scheduler read the file. */
struct vertex *visit_vertex(const struct control_visit *visit, uint32_t offset);

/* Is this recipient of the open message meant? */
bool visit_is_meant(const struct control_visit *visit,
    const struct control_group *group,
    const struct control_rcpt *rcpt);

/* State names of control.md section 3.1: of a vertex; of a recipient. */
const char *visit_vertex_state(const struct vertex *vertex);
/* Of a destination: a row of mail/state.h. */
const char *visit_dest_state(const struct thread *thread);
const char *visit_state(const struct control_visit *visit,
    const struct control_rcpt *rcpt);
/* Nothing of the queue's is left of it: it is neither open, nor to be brought
 * back (deleted, failed and not yet told). */
bool visit_is_over(const struct control_rcpt *rcpt);

#endif
