/* upgrading.h - the supervisor hands over to the program that lies installed;
 * internal to tools/run
 *
 * SIGUSR2: a record of all that is held (handover.h) is written, the program
 * is tried with it in a child, and then executed in the supervisor's place.
 * What cannot be done before that is refused: nothing has changed.  Who takes
 * over starts a successor of smtpserver, and when that is ready and the one
 * before it has left, router and scheduler are stopped and started, one after
 * the other.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_RUN_UPGRADING_H
#define ZM_TOOLS_RUN_UPGRADING_H

#include <sys/types.h>

#include "base/err.h"
#include "conf/conf.h"
#include "io/loop.h"

enum { UPGRADE_TRY_MS = 10000 };	/* a program that takes over */

enum upgrade_step {
	UPGRADE_NONE,
	UPGRADE_TRIAL,		/* the program is tried in a child */
	UPGRADE_SMTPSERVER,	/* the rest: by who took over */
	UPGRADE_ROUTER,
	UPGRADE_SCHEDULER
};

struct upgrade {			/* upgrading.c's own */
	enum upgrade_step step;
	pid_t		 pid;		/* of the trial */
	int		 words_fd;	/* what it says */
	struct timer	 timer;
	bool		 is_late;	/* it was killed for that */
	bool		 is_owed;	/* when the reload is done */
	unsigned	 count;		/* that were answered */
	char		 was[32];	/* the version of before */
	char		 not_done[512];	/* why not */
};

struct supervisor;
struct supervised;

/* SIGUSR2: now, or when what is under way is done. */
void upgrade_on_signal(void *context);
/* A reload has ended. */
void upgrade_if_owed(struct supervisor *boss);
/* pid was waited for: maybe it was the trial. */
void upgrade_ended(struct supervisor *boss, pid_t pid, int status);
/* Daemons have changed: the next one, if it is its turn. */
void upgrade_advance(struct supervisor *boss);
/* One ended that was not asked to: when it is the one in hand, the upgrade
 * halts. */
void upgrade_note_end(struct supervisor *boss, const struct supervised *child,
    int status);
/* All is to stop: no trial any more. */
void upgrade_give_up(struct supervisor *boss);

/* We have taken over: begin with the daemons. */
void upgrade_go_on(struct supervisor *boss);

/* ---- adopting.c --------------------------------------------------------- */

struct handover;
/* What boss has, as a record.  0; -1: more than a record can have (err). */
int supervisor_note(const struct supervisor *boss, struct handover *out,
    struct err *err);
/* Fill boss with what a record says; its conf is the one to come.
 * 0 or -1 with err. */
int supervisor_adopt(struct supervisor *boss, const struct handover *handover,
    struct err *err);
/* Is what may not change (spool, RUN, ...) in conf as it was?  0; -1: err. */
int supervisor_settings_check(const struct handover *handover,
    const struct conf *conf, struct err *err);
/* Could this program take over with this configuration?  0 or -1 with err. */
int supervisor_try(const struct handover *handover, const struct conf *conf,
    struct err *err);

#endif
