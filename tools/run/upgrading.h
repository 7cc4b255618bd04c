/* upgrading.h - the supervisor hands over to the installed program; internal to
 * tools/run
 *
 * SIGUSR2: a record of all that is held (handover.h) is written, the program
 * is tried with it in a child, and then executed in the supervisor's place.
 * If anything fails before that, the upgrade is refused, and nothing has
 * changed.  The program that takes over starts a successor of smtpserver; when
 * that is ready and the old one has left, router and scheduler are stopped and
 * started, one after the other.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_RUN_UPGRADING_H
#define ZM_TOOLS_RUN_UPGRADING_H

#include <sys/types.h>

#include "base/err.h"
#include "conf/conf.h"
#include "io/loop.h"

enum { UPGRADE_TRY_MS = 10000 };	/* for the trial */

enum upgrade_step {
	UPGRADE_NONE,
	UPGRADE_TRIAL,		/* the program is tried in a child */
	UPGRADE_SMTPSERVER,	/* this and the rest: after taking over */
	UPGRADE_ROUTER,
	UPGRADE_SCHEDULER
};

struct upgrade {			/* upgrading.c's own */
	enum upgrade_step step;
	pid_t		 pid;		/* of the trial */
	int		 words_fd;	/* its output */
	struct timer	 timer;
	bool		 is_late;	/* it was killed for that */
	bool		 is_owed;	/* to be done after the reload */
	unsigned	 count;		/* of those answered */
	char		 was[32];	/* the old version */
	char		 not_done[512];	/* why it was not done */
};

struct supervisor;
struct supervised;

/* SIGUSR2: begin now, or when a reload or upgrade under way is done. */
void upgrade_on_signal(void *context);
/* A reload has ended: begin if one is owed. */
void upgrade_if_owed(struct supervisor *boss);
/* pid was waited for, and may be the trial. */
void upgrade_ended(struct supervisor *boss, pid_t pid, int status);
/* The state of daemons has changed: do the next step, if it can be done. */
void upgrade_advance(struct supervisor *boss);
/* A daemon ended unasked: if that is being replaced, the upgrade halts. */
void upgrade_note_end(struct supervisor *boss, const struct supervised *child,
    int status);
/* Everything is to stop: end a trial. */
void upgrade_give_up(struct supervisor *boss);

/* We have taken over: begin to replace the daemons. */
void upgrade_go_on(struct supervisor *boss);

/* ---- adopting.c --------------------------------------------------------- */

struct handover;
/* Make the record of what boss has.  0; -1: it has more than a record can have
 * (err). */
int supervisor_note(const struct supervisor *boss, struct handover *out,
    struct err *err);
/* Fill in boss from a record; its conf is the new one.  0 or -1 with err. */
int supervisor_adopt(struct supervisor *boss, const struct handover *handover,
    struct err *err);
/* Check that settings which may not change (spool, RUN, ...) are the same in
 * conf.  0; -1: err. */
int supervisor_settings_check(const struct handover *handover,
    const struct conf *conf, struct err *err);
/* Could this program take over with this configuration?  0 or -1 with err. */
int supervisor_try(const struct handover *handover, const struct conf *conf,
    struct err *err);

#endif
