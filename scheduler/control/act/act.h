/* act.h - a request of the operator's socket, while it is answered
 *
 * An act goes in steps: each does a bounded amount and appends what it found
 * to the answer; between them the loop runs.  The last step appends the last
 * line (not the empty one).
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SCHEDULER_ACT_H
#define ZM_SCHEDULER_ACT_H

#include "daemon/rights.h"
#include "scheduler/control/request.h"
#include "scheduler/control/visit.h"
#include "scheduler/agents/agents.h"

enum {
	ACT_SLOTS = 32768,	/* of the table of jobs listed in a step */
	ACT_LOOKS = 4096,	/* messages looked at in memory in a step */
	ACT_FILES = 32,		/* control files read in a step */
	ACT_RCPTS = 8192,	/* recipients looked at in a step, after
				 * which a message is left open */
	ACT_CHANGES = 512,	/* recipients whose records are made before
				 * they are written */
	ACT_OUT_BYTES = 64 * 1024	/* written in a step, and what the
					 * last file adds */
};

enum act_step {
	ACT_MORE,		/* call again soon */
	ACT_WAIT,		/* call again at wake_ms */
	ACT_SYNC,		/* call again when act->wake is called */
	ACT_DONE		/* the last line is written */
};

struct tail;			/* events.c */
struct tally;			/* count.c */
struct roll;			/* queue.c */
struct lates;			/* objectives.c */
struct past;			/* history.c */
struct act_sync;		/* sync.c */

struct act {
	struct queue	*queue;
	struct intake	*intake;
	struct agents	*agents;
	const struct rights_peer *peer;
	struct arena	*arena;		/* of the request */
	struct request	 request;
	char		 by[PEER_NAME_BYTES + REQUEST_WHO_BYTES_MAX + 3];
	struct control_visit	 visit;
	bool		 is_begun;
	int64_t		 wake_ms;	/* ACT_WAIT */
	loop_fn		*wake;		/* ACT_SYNC: it has ended; or NULL */
	void		*wake_context;
	struct act_sync	*sync;		/* under way, or NULL */
	bool		 sync_failed;	/* the last one, and why */
	struct err	 sync_err;
	bool		 is_given;	/* an order: it was handed over */
	bool		 was_draining;	/* undrain: before */
	size_t		 order_count;	/* given, or taken back */
	struct str	 restored;	/* undelete: inodes, to be read when
					 * their moves are durable */
	bool		 is_searched;	/* undelete: trash/ was */
	bool		 has_moved;	/* reroute: whole messages, not yet
					 * durable */
	int64_t		 end_ms;	/* drain, move: no longer than that */
	uint64_t	 move;		/* this order's number; 0: none */
	uint64_t	 too_large;
	ino_t		 settling;	/* a large message that is read again;
					 * 0: none */
	int64_t		 settled_by_ms;	/* it is not waited for longer */
	int64_t		 back_by_ms;	/* nor is one that is open, or named,
					 * and is read again; 0: none is */
	bool		*meant;		/* retry: of the open message, a flag a
					 * vertex */
	size_t		 vertex;	/* retry, etrn: next to be looked at */
	uint32_t	 serial;	/* retry, etrn: of the table of jobs */
	int64_t		 begun_ms;	/* retry: the first one's moment */
	uint64_t	 paced;		/* retry: given a moment so far */
	int64_t		 until_ms;	/* the last of them */
	struct {
		uint64_t messages, recipients, unchanged, active, final,
			destinations, conflict;
	} count;
	bool		 has_more;	/* the limit was reached */
	char		 last_id[SPOOL_ID_BYTES];
	struct {		/* the message that is open over steps */
		bool	 is_open;
		ino_t	 inode;		/* next: of the message */
		size_t	 group, rcpt;	/* next to be looked at */
		uint64_t count;		/* meant so far */
		/* of one that is meant */
		const struct control_group *first;
		const char *state;
	} page;
	struct thread_walk threads;
	struct {
		struct job_walk jobs;	/* whose vertices may wait */
		ino_t	 inode;		/* of one left in the middle; 0: none */
		bool	 has_waiting;	/* a destination that is meant has */
	} etrn;
	size_t		 bucket;	/* arrivals: next to be told */
	uint64_t	 order;		/* serial of the last one told */
	struct tally	*tally;
	struct tail	*tail;
	struct roll	*roll;
	struct lates	*lates;
	struct past	*past;
};

/* An act for a request whose right was checked; freed by act_free.  It takes
 * over the arena.  peer, and what the caller sets as wake, must outlive it. */
struct act *act_new(struct agents *agents, const struct rights_peer *peer,
    struct arena *arena, const struct request *request);
void act_free(struct act **act);
enum act_step act_step(struct act *act, struct str *out);

/* Append {"error":...} of control.md section 1. */
void act_refuse(struct str *out, const char *tag, const char *code,
    const char *words);

/* ---- for act_*.c ------------------------------------------------- */

/* Append {"done":true,"op":..., open for more members; json_close ends it. */
void act_done(struct act *act, struct str *out);
/* Append the counts of a write about mail. */
void act_counts(const struct act *act, struct str *out);
/* Messages that are here and could not be looked at; they count as active. */
unsigned act_busy(const struct act *act);
/* Write the event `order`. */
void act_journal(const struct act *act);
/* Write the event `rcpt.reopened` for a recipient that had failed. */
void act_tell_reopened(const struct act *act,
    const struct control_rcpt *rcpt);
/* Trouble halfway: append an error line with the counts so far. */
enum act_step act_trouble(struct act *act, const struct err *err,
    struct str *out);
/* The user whose mail alone the act may see; NULL: all mail. */
const char *act_user(const struct act *act);
/* A steady moment as wall seconds; 0 stays 0. */
int64_t act_wall_s(int64_t at_ms);
/* Must it wait (ACT_WAIT), for some time at most, because the deaths of agents
 * are being written?  What these had waits for nothing before that. */
bool act_waits_for_deaths(struct act *act);
/* Its steps may wait for visit_is_reading: with act_more for ACT_SYNC. */
void act_may_wait(struct act *act);
/* What a step that is not the last returns. */
enum act_step act_more(struct act *act);
/* Is there a message to come, or one that is open or being opened? */
bool act_has_more(const struct act *act);
/* Begin, and wait until the intake has what came before the question.  False:
 * *step is to be returned. */
bool act_enter(struct act *act, struct str *out, enum act_step *step);
/* The same, then list the selected messages, once, in steps. */
bool act_begin(struct act *act, struct str *out, enum act_step *step);
/* Begin with the recipients of the message that visit_open opened; it may take
 * several steps. */
void act_page_begin(struct act *act);
/* Its next recipient; NULL: there is none left, or *budget is 0 (this step may
 * do no more). */
const struct control_rcpt *act_rcpt_next(struct act *act,
    const struct control_group **out_group, unsigned *budget);
bool act_page_is_over(const struct act *act);
void act_page_end(struct act *act);
/* The open message of an order, if there is one, at the next step: is it still
 * here (visit_resume), and can be changed?  1; 0: it went, or none was open;
 * -1 with err: it is here, and the order cannot go on. */
int act_page_resume(struct act *act, struct err *err);
/* Build the job anew from what its file says now.  Who takes it over is to
 * know the order, too. */
void act_settle_job(struct act *act, struct job *job);
/* A large message is read again over many turns.  The order is answered when
 * it is known again, so that who asks next finds it.  True: it is not yet; the
 * step returns ACT_WAIT. */
bool act_is_settling(struct act *act);
/* The client is gone: what was changed in the open message counts. */
void act_change_drop(struct act *act);
/* The same of a reroute that has a message open. */
void act_reroute_drop(struct act *act);
/* Has the limit of messages been reached? */
bool act_is_full(const struct act *act);

/* ---- what waits for the disk ------------------------------------- */

/* Threads do this (io/sync.h), one sync at a time for an act: the step that
 * began it returns ACT_SYNC, the next one asks act_sync_end for the result.
 * Make records of these control files durable; they may be closed at once. */
void act_sync_records(struct act *act, const int control_fds[],
    size_t count);
/* Make everything durable that was written to the spool. */
void act_sync_spool(struct act *act);
/* Write a change of the orders, which the sync takes over; it is in force when
 * it is durable, even if the act has been freed. */
void act_sync_orders(struct act *act, const struct orders_change *change);
/* Something else failed, too: act_sync_end reports err instead of the sync's
 * result. */
void act_sync_trouble(struct act *act, const struct err *err);
/* Give an order of the request's channel, host and reason, or take some back,
 * over as many steps as the disk needs.
 * returns true: it counts, act->order_count is how many; false: *step has what
 * to return */
bool act_order_change(struct act *act, enum order_kind kind, bool is_given,
    struct str *out, enum act_step *step);
/* The result of the last sync, once: 0, also if there was none; -1 with err. */
int act_sync_end(struct act *act, struct err *err);
/* The act is about to be freed. */
void act_sync_leave(struct act *act);

typedef enum act_step act_fn(struct act *act, struct str *out);
act_fn act_list, act_count, act_why, act_destinations, act_orders,
    act_events, act_next, act_queue, act_groups, act_job, act_turns,
    act_connections, act_arrivals, act_objectives, act_history,
    act_change, act_retry,
    act_undelete, act_reroute, act_move, act_moves,
    act_suspend, act_resume, act_pin, act_drain, act_undrain, act_etrn,
    act_searches, act_save_search, act_remove_search;
/* Free what act_events, act_count, act_queue, act_objectives and act_history
 * keep between steps; sets NULL. */
void tail_free(struct tail **tail);
void tally_free(struct tally **tally);
void roll_free(struct roll **roll);
void lates_free(struct lates **lates);
void past_free(struct past **past);
/* Do the globs of the request match this destination? */
bool act_is_dest(const struct act *act, const struct thread *thread);
/* The same for names that may have no thread. */
bool act_is_meant(const struct act *act, struct slice channel,
    struct slice host);

/* An order is about to have a waiting vertex tried: it forgets what it waits
 * for.  If the try fails, it waits no longer than it would have. */
void act_hasten(struct vertex *vertex);

#endif
