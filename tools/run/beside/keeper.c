/* keeper.c - the journal is kept in its bounds
 *
 * In     the time; the bounds of the configuration
 * Out    a process now and then that rotates and removes
 * Holds  its pid: there is one at a time
 * Spec   tools/journal/keep.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/clock.h"
#include "journal/event.h"
#include "tools/copies/sweep.h"
#include "tools/journal/keep.h"
#include "past/names.h"
#include "tools/run/beside/keeper.h"

#include "base/banned.h"

/* In a process of its own, without what we have open: our locks and
 * lifelines end with us, not with it. */
static void
keep_here(const struct conf *conf, const sigset_t *before, bool is_sweeping)
	__attribute__((noreturn));
static void
keep_here(const struct conf *conf, const sigset_t *before, bool is_sweeping)
{
	struct copies_swept swept;
	struct kept kept;
	struct err err;

	for (int i = 1; i < NSIG; i++)
		(void)signal(i, SIG_DFL);
	sigprocmask(SIG_SETMASK, before, NULL);
	event_open_fd(-1);
	closefrom(STDERR_FILENO + 1);
	(void)setpriority(PRIO_PROCESS, 0, KEEPER_NICE);
	(void)event_open(conf->log_dir);
	if (journal_keep(conf, false, &kept, &err) < 0)
		warning("journal: %s", err.text);
	/* while share is away it says so itself */
	if (is_sweeping && copies_sweep(conf, false, &swept, &err) < 0)
		warning("zmailer cluster sweep: %s", err.text);
	else if (is_sweeping && swept.older > 0)
		warning("%" PRIu64 " copies of this node are older than its "
		    "spool: zmailer cluster sweep says what to do",
		    swept.older);
	event_flush();
	_exit(EX_OK);
}

static void
on_keep_time(void *context)
{
	struct keeper *keeper = context;
	sigset_t all, before;
	bool is_sweeping;

	event_link_today();		/* the clock may have been set */
	timer_set(keeper->loop, &keeper->timer,
	    clock_steady_ms() + KEEP_EVERY_MS, on_keep_time, keeper);
	if (keeper->pid > 0)
		return;
	is_sweeping = ++keeper->rounds >= KEEPER_SWEEP_ROUNDS &&
	    conf_keeps_copies(*keeper->conf);
	if (is_sweeping)
		keeper->rounds = 0;
	event_flush();
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	keeper->pid = fork();
	if (keeper->pid == 0)
		keep_here(*keeper->conf, &before, is_sweeping);
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (keeper->pid < 0) {
		warning("journal: cannot fork: %s", strerror(errno));
		keeper->pid = 0;
	}
}

/* A day of the journal is one of UTC. */
static void
on_midnight(void *context)
{
	struct keeper *keeper = context;
	int64_t now_ms = clock_wall_us() / 1000;

	event_link_today();
	timer_set(keeper->loop, &keeper->midnight, clock_steady_ms() +
	    JOURNAL_DAY_MS - now_ms % JOURNAL_DAY_MS, on_midnight, keeper);
}

void
keeper_start(struct keeper *keeper, struct loop *loop,
    struct conf *const *conf)
{
	keeper->loop = loop;
	keeper->conf = conf;
	keeper->rounds = KEEPER_SWEEP_ROUNDS - KEEPER_SWEEP_FIRST;
	timer_set(loop, &keeper->timer, clock_steady_ms() + KEEP_EVERY_MS,
	    on_keep_time, keeper);
	on_midnight(keeper);
}

void
keeper_adopt(struct keeper *keeper, pid_t pid)
{
	keeper->pid = pid;
}

void
keeper_stop(struct keeper *keeper)
{
	timer_clear(&keeper->timer);
	timer_clear(&keeper->midnight);
}

void
keeper_ended(struct keeper *keeper, pid_t pid)
{
	if (pid == keeper->pid)
		keeper->pid = 0;
}
