/* yard.h - a whole scheduler in a private spool, with agents that do as the
 * recipient's name says, and a clock that can be moved
 *
 * Local parts and what the agent does with them:
 *	ok... delivered		relay... relayed	fail... 550 5.1.1
 *	grey... deferred at the first try, then delivered
 *	defer... 451 4.7.1	soon... the same, with "+60"
 *	unwritten... 451 4.7.1, without a record while yard->shared->is_down
 *	down... deferall while yard->shared->is_down
 *	cert... deferall for a TLS policy, unless the sender asks for none
 *	refuse... 550 while yard->shared->is_down
 *	nonsense... a line that is none		foreign... a verdict about
 *	somebody else		die... exits before a record is written
 *	unrecorded-fail...  550, but no record is written
 *	record... writes the record, then dies	mute... says only #hungry
 *	hang... waits for ever			resync... "#resync"
 * and, after what is good and proper, for ever and as fast as it can:
 *	hungryloop... "#hungry"		remarkloop... a remark
 *	mxloop... another "#mx" each	againloop... its verdict, delivered
 *	otherloop... a verdict about a recipient that it never had
 *	unfitloop... "#resync" of its job
 * and twice...: delivered, but never "#hungry"; its verdict again as soon as
 * another job comes
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TESTS_UNIT_SCHEDULER_YARD_H
#define ZM_TESTS_UNIT_SCHEDULER_YARD_H

#include <criterion/criterion.h>

#include "mail/control_file/control_file.h"
#include "scheduler/core.h"

enum { YARD_AGENTS_MAX = 256, YARD_WAIT_MS = 60000,
	YARD_SETTLE_MS = 20000 };

struct yard_shared {		/* between the test and its agents */
	int		is_down;
	unsigned	agents;		/* started */
	unsigned	jobs, rcpts;	/* attempts seen */
	unsigned	delivered;	/* recipients */
	unsigned	idles;		/* "#idle" seen */
	unsigned	warmed, refused;	/* "#warm" seen; refused while
						 * is_down */
	unsigned	rcpts_most;	/* in one job */
	unsigned	tries_most;	/* in a job line */
	unsigned	ahead_most;	/* jobs in one agent's hands at once */
	unsigned	idle_count;	/* those that will say no more */
	pid_t		idle[YARD_AGENTS_MAX];
};

struct yard {
	char		 dir[80];
	struct conf	*conf;
	struct arena	*arena;
	struct spool	*spool;
	struct loop	*loop;
	struct scheduler scheduler;
	bool		 is_open;
	int64_t		*clock;
	struct yard_shared *shared;
	struct { unsigned token; pid_t pid; } agents[YARD_AGENTS_MAX];
	size_t		 agent_count;
};

/* A yard whose agents are the test's own: set before yard_open.  NULL: each
 * is a process that runs yard_agent.c. */
extern agents_start_fn *yard_agents_start;
/* A start does not call core_begin. */
extern bool yard_names_unread;

/* That process, for one who has something to do before. */
agents_start_fn yard_agent_start;

/* conf_text: statements besides host, spool, run, log. */
void yard_open(struct yard *yard, const char *conf_text);
void yard_close(struct yard *yard);
/* The scheduler alone: it goes and comes, the spool stays. */
void yard_stop(struct yard *yard);
void yard_start(struct yard *yard);
/* Change the configuration as SIGHUP does. */
void yard_reload(struct yard *yard, const char *conf_text);

/* A message in queue/ and transport/.  rcpts: blank separated
 * "channel/host/user[;NOTIFY=...][;ORCPT=...]"; sender "" is null.  Returns its
 * inode; the id goes to out_id when that is not NULL. */
ino_t yard_message(struct yard *yard, const char *sender, const char *rcpts,
    char out_id[SPOOL_ID_BYTES]);

/* What the senders of the messages that follow ask for; NULL: nothing. */
extern const struct terms *yard_terms;
/* What inode the ids of the messages that follow tell, as of messages that were
 * encoded since; 0: their own. */
extern ino_t yard_accepted_as;
/* Who sent the messages that follow; NULL: nobody of this machine. */
extern const char *yard_user;

/* Turn the loop until condition(yard, arg), at most YARD_WAIT_MS. */
typedef bool yard_condition(struct yard *yard, void *arg);
bool yard_until(struct yard *yard, yard_condition *condition, void *arg);
void yard_turns(struct yard *yard, int count);
/* The same, so that what would happen has happened: on while an agent that does
 * not hang has work or is about to come, at most YARD_SETTLE_MS more. */
void yard_settle(struct yard *yard, int count);
void yard_clock(struct yard *yard, int64_t seconds);
/* Somebody sets the wall clock. */
void yard_set_clock(struct yard *yard, int64_t seconds);

unsigned yard_count(struct yard *yard, const char *area);
/* The parsed control file of a message, in the yard's arena. */
bool yard_control(struct yard *yard, ino_t inode, struct control_file *out);
/* The only file of an area, whole; asserts that there is one. */
void yard_only_file(struct yard *yard, const char *area, struct str *out);
bool yard_has(struct yard *yard, const char *area, ino_t inode,
    const char *suffix);

/* Retries after 10m and 1h, a notice after 4h, an end after 5d. */
extern const char yard_quick[];

/* Whether text has the words. */
bool yard_says(const struct str *text, const char *words);

/* Conditions. */
bool yard_is_empty(struct yard *yard, void *arg);	/* queue, transport */
bool yard_is_quiet(struct yard *yard, void *arg);	/* nothing in flight,
							 * ready or to read */
bool yard_has_delivered(struct yard *yard, void *arg);	/* *(unsigned *)arg */
/* At least *(unsigned *)arg files are there. */
bool yard_router_has(struct yard *yard, void *arg);
bool yard_postman_has(struct yard *yard, void *arg);

#endif
