/* upgrading.c - the program that lies installed takes over
 *
 * In     SIGUSR2; what a trial says; the ends of daemons
 * Out    an exec in our own process; then daemons, one after another
 * Holds  the trial, while there is one
 * Trusts no program that is not tried: what it does in a child, and how long
 *        that takes, is bounded
 * Spec   upgrading.h; doc/INTERNALS section 6, rows U1 to U5
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "journal/event.h"
#include "tools/run/names.h"
#include "tools/run/taking.h"

#include "base/banned.h"

enum {
	WORDS_BYTES_MAX = 400,		/* of what a trial says */
	SUCCESSOR_FOR_MS = 20000,	/* until smtpserver's is ready */
	NEXT_FOR_MS = 120000		/* router and scheduler, which may have
					 * much to read */
};

static struct supervised *
upgrade_child(struct supervisor *boss)
{
	static const char *const names[] = {
		[UPGRADE_SMTPSERVER] = "smtpserver",
		[UPGRADE_ROUTER] = "router",
		[UPGRADE_SCHEDULER] = "scheduler",
	};

	for (size_t i = 0; boss->upgrade.step > UPGRADE_TRIAL &&
	    i < CHILD_COUNT; i++)
		if (strcmp(boss->children[i].name,
		    names[boss->upgrade.step]) == 0)
			return &boss->children[i];
	return NULL;
}

/* ---- its end ----------------------------------------------------------- */

/* What came meanwhile, in a turn of its own: who calls upgrade_answered may
 * not be done with the daemon that it speaks of. */
static void
upgrade_on_owed(void *context)
{
	struct supervisor *boss = context;

	if (boss->owes_reload) {
		boss->owes_reload = false;
		taking_on_hangup(boss);
	}
	upgrade_if_owed(boss);
}

/* Who waits for it hears of it by the state file, when all is said. */
static void
upgrade_answered(struct supervisor *boss)
{
	timer_clear(&boss->upgrade.timer);
	boss->upgrade.step = UPGRADE_NONE;
	boss->upgrade.count++;
	event_flush();
	supervisor_state_publish(boss);
	if (boss->owes_reload || boss->upgrade.is_owed)
		timer_set(boss->loop, &boss->upgrade.timer, clock_steady_ms(),
		    upgrade_on_owed, boss);
}

static void
upgrade_refuse(struct supervisor *boss, const char *why)
{
	struct upgrade *upgrade = &boss->upgrade;

	snprintf(upgrade->not_done, sizeof(upgrade->not_done), "%s", why);
	event(EV_UPGRADE_REFUSED, NULL, "program",
	    slice_of(boss->program.path), "reason", slice_of(why), NULL);
	upgrade_answered(boss);
}

/* ---- the exec ---------------------------------------------------------- */

static void
upgrade_program_exec(const struct supervisor *boss, int fd, bool is_trial)
{
	const char *argv[8];
	char number[16];
	size_t n = 0;

	snprintf(number, sizeof(number), "%d", fd);
	argv[n++] = "zmailer";
	if (boss->conf_path != NULL) {
		argv[n++] = "-C";
		argv[n++] = boss->conf_path;
	}
	argv[n++] = "run";
	argv[n++] = "--take-over";
	argv[n++] = number;
	if (is_trial)
		argv[n++] = "--try";
	argv[n] = NULL;
	execv(boss->program.path, (char *const *)(uintptr_t)argv);
}

static void
manager_tell_reloading(void)
{
	char text[64];

	snprintf(text, sizeof(text), "RELOADING=1\nMONOTONIC_USEC=%lld",
	    (long long)clock_steady_ms() * 1000);
	manager_tell(text);
}

/* What is to be done after this is the next program's to do. */
static void
upgrade_send_owed(struct supervisor *boss)
{
	if (boss->owes_reload)
		(void)kill(getpid(), SIGHUP);
	if (boss->upgrade.is_owed)
		(void)kill(getpid(), SIGUSR2);
	boss->owes_reload = boss->upgrade.is_owed = false;
}

/* Returns only when it does not work, and all is as it was.  No signal gets
 * lost: what comes meanwhile waits for the next program. */
static void
upgrade_exec(struct supervisor *boss)
{
	struct handover *handover = mem_alloc(1, sizeof(*handover));
	struct err err;
	sigset_t all, before;
	int fd = -1;

	if (supervisor_note(boss, handover, &err) == 0)
		fd = handover_write(handover, &err);
	if (fd >= 0) {
		manager_tell_reloading();
		event_flush();
		sigfillset(&all);
		sigprocmask(SIG_BLOCK, &all, &before);
		loop_signals_resend(boss->loop);
		upgrade_send_owed(boss);
		handover_keep(handover, fd, true);
		upgrade_program_exec(boss, fd, false);
		err_sys(&err, "cannot execute %s", boss->program.path);
		handover_keep(handover, fd, false);
		sigprocmask(SIG_SETMASK, &before, NULL);
		close(fd);
		manager_tell("READY=1");
	}
	mem_free(&handover);
	upgrade_refuse(boss, err.text);
}

/* ---- the trial --------------------------------------------------------- */

static void __attribute__((noreturn))
trial_child(const struct supervisor *boss, const struct handover *handover,
    int fd, int words, const sigset_t *before, pid_t boss_pid)
{
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != boss_pid)	/* it died before that was said */
		_exit(EXIT_FATAL);
	(void)setpgid(0, 0);
	for (int i = 1; i < NSIG; i++)
		(void)signal(i, SIG_DFL);
	sigprocmask(SIG_SETMASK, before, NULL);
	if (null < 0 || dup2(null, STDIN_FILENO) < 0 ||
	    dup2(words, STDOUT_FILENO) < 0 || dup2(words, STDERR_FILENO) < 0)
		_exit(EXIT_FATAL);
	(void)unsetenv("NOTIFY_SOCKET");
	(void)unsetenv("WATCHDOG_USEC");
	handover_keep(handover, fd, true);
	upgrade_program_exec(boss, fd, true);
	dprintf(STDERR_FILENO, "it cannot be executed: %s\n",
	    strerror(errno));
	_exit(127);
}

static void
trial_kill(struct upgrade *upgrade)
{
	if (upgrade->step != UPGRADE_TRIAL)
		return;
	(void)kill(upgrade->pid, SIGKILL);
	(void)kill(-upgrade->pid, SIGKILL);	/* and what it has started */
}

static void
trial_on_late(void *context)
{
	struct supervisor *boss = context;

	boss->upgrade.is_late = true;
	trial_kill(&boss->upgrade);
}

/* 0; -1 with err. */
static int
trial_fork(struct supervisor *boss, const struct handover *handover,
    struct err *err)
{
	struct upgrade *upgrade = &boss->upgrade;
	int ends[2], fd = handover_write(handover, err);
	pid_t boss_pid = getpid();
	sigset_t all, before;

	if (fd < 0)
		return -1;
	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0) {
		close(fd);
		return err_sys(err, "pipe2");
	}
	event_flush();
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	upgrade->pid = fork();
	if (upgrade->pid == 0)
		trial_child(boss, handover, fd, ends[1], &before, boss_pid);
	sigprocmask(SIG_SETMASK, &before, NULL);
	(void)setpgid(upgrade->pid, upgrade->pid);
	close(ends[1]);
	close(fd);
	upgrade->words_fd = ends[0];
	if (upgrade->pid > 0)
		return 0;
	close(ends[0]);
	return err_sys(err, "cannot fork");
}

static void
upgrade_begin(struct supervisor *boss)
{
	struct handover *handover = mem_alloc(1, sizeof(*handover));
	struct upgrade *upgrade = &boss->upgrade;
	struct err err = { "" };

	upgrade->not_done[0] = '\0';
	upgrade->is_late = upgrade->is_owed = false;
	if (!boss->was_ready)
		err_set(&err, "not every daemon has become ready yet");
	else if (!names_are_known(boss))
		err_set(&err, "the names of the queue are still being read: "
		    "try later");
	else if (boss->program.path[0] == '\0')
		err_set(&err, "it is not known from which file it was "
		    "started: zmailer restart");
	else if (supervisor_note(boss, handover, &err) == 0 &&
	    trial_fork(boss, handover, &err) == 0)
		upgrade->step = UPGRADE_TRIAL;
	mem_free(&handover);
	if (upgrade->step != UPGRADE_TRIAL) {
		upgrade_refuse(boss, err.text);
		return;
	}
	timer_set(boss->loop, &upgrade->timer, clock_steady_ms() +
	    UPGRADE_TRY_MS, trial_on_late, boss);
	supervisor_state_publish(boss);
}

/* The first line of what it said; more than a pipe holds it had to say in
 * vain. */
static void
trial_words(struct upgrade *upgrade, char *out, size_t size)
{
	char text[WORDS_BYTES_MAX + 1];
	ssize_t n = read(upgrade->words_fd, text, sizeof(text) - 1);

	close(upgrade->words_fd);
	text[n > 0 ? n : 0] = '\0';
	text[strcspn(text, "\n")] = '\0';
	for (char *p = text; *p != '\0'; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			*p = '?';
	snprintf(out, size, "%s", text);
}

void
upgrade_ended(struct supervisor *boss, pid_t pid, int status)
{
	struct upgrade *upgrade = &boss->upgrade;
	char words[WORDS_BYTES_MAX + 1], how[32], why[512];

	if (upgrade->step != UPGRADE_TRIAL || pid != upgrade->pid)
		return;
	timer_clear(&upgrade->timer);
	trial_words(upgrade, words, sizeof(words));
	upgrade->pid = 0;
	if (boss->is_stopping) {
		upgrade->step = UPGRADE_NONE;
		return;
	}
	if (status == 0) {
		upgrade_exec(boss);
		return;
	}
	supervised_end_text(status, how, sizeof(how));
	if (upgrade->is_late)
		snprintf(why, sizeof(why), "the new program was tried, and "
		    "did not end within %d s", UPGRADE_TRY_MS / 1000);
	else if (words[0] != '\0')
		snprintf(why, sizeof(why), "%s", words);
	else
		snprintf(why, sizeof(why), "the new program was tried, and "
		    "ended at once (%s)", how);
	upgrade_refuse(boss, why);
}

void
upgrade_on_signal(void *context)
{
	struct supervisor *boss = context;

	if (boss->is_stopping)
		return;
	if (boss->is_taking || boss->upgrade.step != UPGRADE_NONE)
		boss->upgrade.is_owed = true;	/* one after the other */
	else
		upgrade_begin(boss);
}

void
upgrade_if_owed(struct supervisor *boss)
{
	if (boss->upgrade.is_owed)
		upgrade_on_signal(boss);
}

void
upgrade_give_up(struct supervisor *boss)
{
	trial_kill(&boss->upgrade);
	timer_clear(&boss->upgrade.timer);
}

/* ---- who took over: the daemons ---------------------------------------- */

static void
upgrade_done(struct supervisor *boss)
{
	struct upgrade *upgrade = &boss->upgrade;

	supervisor_version_keep(boss->conf, "upgrade");
	if (upgrade->not_done[0] == '\0')
		event(EV_UPGRADE_DONE, NULL, "version",
		    slice_of(PACKAGE_VERSION), "was", slice_of(upgrade->was),
		    NULL);
	manager_tell("READY=1\nSTATUS=router, scheduler and smtpserver run");
	upgrade_answered(boss);
}

static void
upgrade_halt(struct supervisor *boss, const struct supervised *child,
    const char *why)
{
	struct upgrade *upgrade = &boss->upgrade;

	snprintf(upgrade->not_done, sizeof(upgrade->not_done), "the new %s "
	    "does not start (%s)%s", child->name, why,
	    child->predecessor_count > 0 ? "; the one before it goes on" :
	    "");
	event(EV_UPGRADE_HALTED, NULL, "name", slice_of(child->name),
	    "reason", slice_of(why), NULL);
	run_listeners_close(&boss->listeners_before, &boss->listeners,
	    &boss->given);
	upgrade_done(boss);
}

/* Neither ready nor ended; or the one before does not say that it has
 * left.  Router and scheduler go on to become ready. */
static void
upgrade_on_timer(void *context)
{
	struct supervisor *boss = context;
	struct supervised *child = upgrade_child(boss);

	if (child == NULL)
		return;
	if (boss->upgrade.step != UPGRADE_SMTPSERVER) {
		upgrade_halt(boss, child, "it is not ready yet");
		return;
	}
	if (child->state == SUPERVISED_STARTING)
		(void)kill(child->pid, SIGKILL);
	else
		boss->upgrade.is_late = true;
	upgrade_advance(boss);
}

/* Router and scheduler: one at a time has the directories. */
static void
step_begin(struct supervisor *boss, enum upgrade_step step)
{
	struct supervised *child;
	struct err err;

	boss->upgrade.step = step;
	boss->upgrade.is_late = false;
	child = upgrade_child(boss);
	timer_clear(&boss->upgrade.timer);
	if (step == UPGRADE_SMTPSERVER) {
		timer_set(boss->loop, &boss->upgrade.timer,
		    clock_steady_ms() + SUCCESSOR_FOR_MS, upgrade_on_timer,
		    boss);
		if (supervised_replace(child, &err) < 0) {
			supervised_restart_later(child, -1);
			upgrade_halt(boss, child, err.text);
		}
		supervisor_state_publish(boss);
		return;
	}
	timer_set(boss->loop, &boss->upgrade.timer, clock_steady_ms() +
	    NEXT_FOR_MS, upgrade_on_timer, boss);
	if (child->pid > 0) {
		supervised_stop(child, STOP_FOR_MS);
	} else if (supervised_start(child, &err) < 0) {
		supervised_restart_later(child, -1);
	}
	supervisor_state_publish(boss);
}

void
upgrade_go_on(struct supervisor *boss)
{
	step_begin(boss, UPGRADE_SMTPSERVER);
}

void
upgrade_advance(struct supervisor *boss)
{
	const struct supervised *child = upgrade_child(boss);

	if (child == NULL || boss->is_stopping ||
	    child->state != SUPERVISED_READY ||
	    (!supervised_is_settled(child) && !boss->upgrade.is_late))
		return;
	if (boss->upgrade.step == UPGRADE_SCHEDULER)
		upgrade_done(boss);
	else
		step_begin(boss, boss->upgrade.step == UPGRADE_SMTPSERVER ?
		    UPGRADE_ROUTER : UPGRADE_SCHEDULER);
}

void
upgrade_note_end(struct supervisor *boss, const struct supervised *child,
    int status)
{
	char how[32];

	if (child != upgrade_child(boss) || child->was_ready)
		return;
	supervised_end_text(status, how, sizeof(how));
	upgrade_halt(boss, child, how);
}
