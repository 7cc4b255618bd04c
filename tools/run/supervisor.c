/* supervisor.c - starts, watches, restarts and stops the daemons
 *
 * In     the configuration, signals, ready bytes, ends of children
 * Out    three daemons in order; the state file; words to the manager
 * Holds  the spool's lock, the listening sockets, a lifeline to each child
 * Trusts its children to be broken: each is waited for with a bound
 * Spec   supervisor.h; zmailer(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "conf/snapshot/snapshot.h"
#include "journal/event.h"
#include "journal/progress.h"
#include "daemon/skeleton.h"
#include "mail/spool/spool.h"
#include "tools/verb/verb.h"
#include "tools/versions/versions.h"
#include "tools/run/beside/beside.h"
#include "tools/run/names.h"
#include "tools/run/taking.h"

#include "base/banned.h"

/* In the order of starting; stop_rank says the order of stopping. */
static const struct {
	const char	*name;
	int		 stop_rank;
	enum spool_room	 room;
} child_rows[CHILD_COUNT] = {
	[CHILD_ROUTER] = { "router", 2, SPOOL_ROOM_ROUTER },
	[CHILD_SCHEDULER] = { "scheduler", 3, SPOOL_ROOM_SCHEDULER },
	{ "smtpserver", 1, SPOOL_ROOM_SMTPSERVER },
};

void
supervisor_state_publish(struct supervisor *boss)
{
	struct state state = { .pid = getpid(), .since_s = boss->since_s,
	    .reloads = boss->reloads, .conf = boss->conf_number,
	    .child_count = CHILD_COUNT };
	struct err err;

	struct str text = STR_INIT;

	snprintf(state.version, sizeof(state.version), "%s", PACKAGE_VERSION);
	state.program = boss->program;
	snprintf(state.refused, sizeof(state.refused), "%s", boss->refused);
	state.is_partial = boss->is_partial;
	state.handover = HANDOVER_VERSION;
	state.upgrades = boss->upgrade.count;
	state.is_upgrading = boss->upgrade.step != UPGRADE_NONE;
	strlcpy(state.not_upgraded, boss->upgrade.not_done,
	    sizeof(state.not_upgraded));
	given_add_left(&boss->given, &text);
	strlcpy(state.unused, text.buf, sizeof(state.unused));
	str_reset(&text);
	for (size_t i = 0; i < boss->listeners.count; i++)
		str_addf(&text, " %s ", boss->listeners.rows[i].text);
	strlcpy(state.listeners, text.buf, sizeof(state.listeners));
	str_release(&text);
	for (size_t i = 0; i < CHILD_COUNT; i++)
		supervised_describe(&boss->children[i], &state.children[i]);
	if (state_write(boss->conf->run_dir, &state, &err) < 0)
		warning("%s", err.text);
}

/* ---- stopping ---------------------------------------------------------- */

static void
supervisor_on_consulted_end(void *context)
{
	struct supervisor *boss = context;

	loop_stop(boss->loop);
}

static void
stop_next(struct supervisor *boss)
{
	struct supervised *next = NULL;
	int rank = CHILD_COUNT + 1;

	for (size_t i = 0; i < CHILD_COUNT; i++)
		if (supervised_lives(&boss->children[i]) &&
		    child_rows[i].stop_rank < rank) {
			next = &boss->children[i];
			rank = child_rows[i].stop_rank;
		}
	if (next == NULL) {
		if (beside_let_go(&boss->beside,
		    supervisor_on_consulted_end, boss))
			loop_stop(boss->loop);
	} else if (next->state != SUPERVISED_STOPPING) {
		supervised_stop(next, STOP_FOR_MS);
	}
	supervisor_state_publish(boss);
}

static void
supervisor_stop_begin(struct supervisor *boss, const char *reason, int status)
{
	if (boss->is_stopping)
		return;
	boss->is_stopping = true;
	boss->status = status;
	manager_tell("STOPPING=1");
	event(EV_DAEMON_STOP, NULL, "reason", slice_of(reason), NULL);
	for (size_t i = 0; i < CHILD_COUNT; i++)
		timer_clear(&boss->children[i].timer);
	timer_clear(&boss->names_timer);
	upgrade_give_up(boss);
	beside_stop(&boss->beside);
	run_listeners_close(&boss->listeners_before, &boss->listeners,
	    &boss->given);
	run_listeners_close(&boss->listeners, NULL, &boss->given);
	stop_next(boss);
}

static void
supervisor_on_stop_signal(void *context)
{
	struct supervisor *boss = context;

	if (boss->is_stopping)		/* asked again: at once */
		for (size_t i = 0; i < CHILD_COUNT; i++)
			supervised_kill(&boss->children[i]);
	supervisor_stop_begin(boss, "signal", EX_OK);
}

/* ---- starting ---------------------------------------------------------- */

static void
all_ready(struct supervisor *boss)
{
	boss->was_ready = true;
	supervisor_version_keep(boss->conf, "start");
	supervisor_state_publish(boss);	/* who hears of it asks */
	if (boss->conf->sync == SYNC_EPHEMERAL)
		warning("mail is kept in memory, as `sync ephemeral` says: %s "
		    "is gone when the machine ends", boss->conf->spool_dir);
	event(EV_DAEMON_START, NULL, "version", slice_of(PACKAGE_VERSION),
	    NULL);
	manager_tell("READY=1\nSTATUS=router, scheduler and smtpserver run");
	watchdog_start(&boss->watchdog, boss->conf->run_dir, boss->children,
	    CHILD_COUNT);
	if (boss->ready_fd < 0)
		return;
	if (write(boss->ready_fd, "R", 1) != 1)
		warning("nobody waits any more: %s", strerror(errno));
	close(boss->ready_fd);
	boss->ready_fd = -1;
}

static void start_next(struct supervisor *boss);

static void
names_on_late(void *context)
{
	struct supervisor *boss = context;

	boss->are_names_late = true;
	start_next(boss);
}

/* The next child, when all before it are ready. */
static void
start_next(struct supervisor *boss)
{
	struct err err;

	if (boss->was_ready || boss->is_stopping)
		return;
	for (size_t i = 0; i < CHILD_COUNT; i++) {
		struct supervised *child = &boss->children[i];

		if (child->state == SUPERVISED_READY)
			continue;
		if (child->state != SUPERVISED_DOWN)
			return;
		if (supervised_start(child, &err) == 0)
			return;
		warning("%s", err.text);
		supervisor_stop_begin(boss, "a daemon cannot be started",
		    EX_OSERR);
		return;
	}
	if (!names_are_awaited(boss, names_on_late))
		all_ready(boss);
}

static void
on_change(struct supervised *child)
{
	struct supervisor *boss = child->boss;

	names_hand_on(boss);
	start_next(boss);
	taking_advance(boss);
	upgrade_advance(boss);
	supervisor_state_publish(boss);
}

/* A daemon's own sysexits status, as far as it has one. */
static int
failed_status(int status)
{
	if (WIFEXITED(status) && WEXITSTATUS(status) >= EX__BASE &&
	    WEXITSTATUS(status) <= EX__MAX)
		return WEXITSTATUS(status);
	return EX_UNAVAILABLE;
}

/* ---- ends of daemons ---------------------------------------------------- */

static void
on_gone(struct supervised *child, int status, bool was_asked)
{
	struct supervisor *boss = child->boss;
	struct err err;

	if (boss->is_stopping) {
		stop_next(boss);
		return;
	}
	if (!boss->was_ready && !was_asked) {
		warning("%s did not become ready", child->name);
		supervisor_stop_begin(boss, "a daemon did not become ready",
		    failed_status(status));
		return;
	}
	taking_note_end(boss, child, status);
	if (!was_asked)
		upgrade_note_end(boss, child, status);
	if (was_asked) {
		if (supervised_start(child, &err) < 0)
			supervised_restart_later(child, -1);
	} else {
		supervised_restart_later(child, status);
	}
	taking_advance(boss);
	upgrade_advance(boss);
	supervisor_state_publish(boss);
}

static void
on_child_signal(void *context)
{
	struct supervisor *boss = context;
	int status;
	pid_t pid;

	/* Any pid: in a container we are also init. */
	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		beside_ended(&boss->beside, pid);
		upgrade_ended(boss, pid, status);
		for (size_t i = 0; i < CHILD_COUNT; i++)
			supervised_ended(&boss->children[i], pid, status);
	}
}

/* ---- one run ----------------------------------------------------- */

/* Held by us and every daemon: after a kill -9 of the supervisor the spool's
 * own lock is free at once, but its daemons take a moment to stop, and the
 * new router's recovery must find nobody at work. */
static int
lock_wait(struct supervisor *boss, struct err *err)
{
	const struct timespec nap = { .tv_nsec = 20000000 };
	char path[4200];

	snprintf(path, sizeof(path), "%s/zmailer.lock", boss->conf->run_dir);
	boss->lock_fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC,
	    0600);
	if (boss->lock_fd < 0)
		return err_sys(err, "cannot open %s", path);
	for (int left = LOCK_FOR_MS / 20; left > 0; left--) {
		if (flock(boss->lock_fd, LOCK_EX | LOCK_NB) == 0)
			return 0;
		(void)nanosleep(&nap, NULL);
	}
	return err_set(err, "daemons of an instance that was killed still "
	    "run (see who holds %s); try later", path);
}

/* The rooms of the daemons are ours, too: each daemon is given its own, so
 * that a successor shares it with those before it, and nobody else comes in
 * while one is started again. */
static int
rooms_lock(struct supervisor *boss, struct err *err)
{
	for (int room = SPOOL_ROOM_INSTANCE + 1; room < SPOOL_ROOM_COUNT;
	    room++)
		if (spool_lock_room(boss->conf->spool_dir,
		    (enum spool_room)room, &boss->room_fds[room], err) !=
		    SPOOL_LOCK_FREE || boss->room_fds[room] < 0)
			return -1;
	return 0;
}

/* Before any daemon: what cannot be had is said to who starts us.
 * Returns 0, or the status to exit with. */
static int
listeners_open(struct supervisor *boss, struct err *err)
{
	const struct run_listeners none = { NULL, 0 };

	if (run_listeners_bind(&none, &boss->given, boss->conf,
	    &boss->listeners, err) < 0)
		return EX_UNAVAILABLE;
	run_listeners_scheduler(&boss->given, boss->conf, &boss->control);
	if (run_listeners_try_mailq(&boss->control, NULL, boss->conf, err) <
	    0) {
		run_listeners_close(&boss->listeners, NULL, &boss->given);
		return EX_UNAVAILABLE;
	}
	supervisor_unused_say(boss);
	return 0;
}

/* Returns 0, or the status to exit with. */
static int
supervisor_prepare(struct supervisor *boss, struct err *err)
{
	int status;

	if (dirs_prepare(boss->conf, err) < 0)
		return EX_CANTCREAT;
	if (spool_lock_room(boss->conf->spool_dir, SPOOL_ROOM_INSTANCE,
	    &boss->room_fds[SPOOL_ROOM_INSTANCE], err) != SPOOL_LOCK_FREE ||
	    boss->room_fds[SPOOL_ROOM_INSTANCE] < 0 ||
	    lock_wait(boss, err) < 0 || rooms_lock(boss, err) < 0)
		return EX_TEMPFAIL;
	if (event_open(boss->conf->log_dir) < 0) {
		err_sys(err, "cannot open the log directory %s",
		    boss->conf->log_dir);
		return EX_CANTCREAT;
	}
	if (progress_open(boss->conf->run_dir, "supervisor", err) < 0)
		return EX_CANTCREAT;
	status = listeners_open(boss, err);
	if (status != 0)
		return status;
	if (state_write_pid(boss->conf->run_dir, err) < 0 ||
	    conf_snapshot_write(boss->conf, err) < 0)
		return EX_CANTCREAT;
	snprintf(boss->snapshot_path, sizeof(boss->snapshot_path),
	    "%s/" SNAPSHOT_NAME, boss->conf->run_dir);
	return 0;
}

static void
supervised_prepare(struct supervisor *boss, size_t row)
{
	struct supervised *child = &boss->children[row];
	const char *name = child_rows[row].name;

	supervised_init(child, name, boss);
	child->loop = boss->loop;
	child->conf_path = boss->snapshot_path;
	child->lock_fd = boss->lock_fd;
	child->room_fd = boss->room_fds[child_rows[row].room];
	if (strcmp(name, "smtpserver") == 0)
		child->listeners = &boss->listeners;
	else if (strcmp(name, "scheduler") == 0)
		child->control = &boss->control;
	child->conf_number = &boss->written;
	child->on_ready = taking_on_ready;
	child->on_change = on_change;
	child->on_gone = on_gone;
}

void
supervisor_children_prepare(struct supervisor *boss)
{
	for (size_t i = 0; i < CHILD_COUNT; i++)
		supervised_prepare(boss, i);
}

static void
loop_open(struct supervisor *boss)
{
	boss->loop = loop_new();
	loop_signal(boss->loop, SIGTERM, supervisor_on_stop_signal, boss);
	loop_signal(boss->loop, SIGINT, supervisor_on_stop_signal, boss);
	loop_signal(boss->loop, SIGHUP, taking_on_hangup, boss);
	loop_signal(boss->loop, SIGUSR2, upgrade_on_signal, boss);
	loop_signal(boss->loop, SIGCHLD, on_child_signal, boss);
}

/* Until all has stopped.  returns the exit status */
static int
supervisor_loop(struct supervisor *boss)
{
	loop_run(boss->loop);
	event_flush();
	state_remove(boss->conf->run_dir);
	given_close(&boss->given);
	loop_free(&boss->loop);
	conf_free(&boss->fresh);
	conf_free(&boss->conf);
	return boss->status;
}

int
supervisor_run(struct conf *conf, const char *conf_path, int ready_fd)
{
	struct supervisor boss = { .conf = conf, .conf_path = conf_path,
	    .ready_fd = ready_fd, .since_s = clock_wall_s(),
	    .conf_number = 1, .written = 1 };
	struct err err;
	bool is_denied;

	err_program("supervisor");
	given_take(&boss.given);
	program_look_self(&boss.program);
	signal(SIGPIPE, SIG_IGN);
	libexec_settle();
	umask(022);		/* who holds the spool is no secret */
	boss.status = supervisor_prepare(&boss, &err);
	umask(007);
	if (boss.status != 0) {
		is_denied = err_is_denied(&err);
		fprintf(stderr, "zmailer: run: %s%s\n", err.text, is_denied ?
		    ": not yours; start it as root, or as the account that "
		    "owns it" : "");
		conf_free(&boss.conf);
		return is_denied ? EX_NOPERM : boss.status;
	}
	loop_open(&boss);
	supervisor_children_prepare(&boss);
	beside_start(&boss.beside, boss.loop, &boss.conf,
	    boss.snapshot_path);
	start_next(&boss);
	supervisor_state_publish(&boss);
	return supervisor_loop(&boss);
}

/* ---- in the place of an older program ---------------------------------- */

/* The file as it is now.  What was in force is better than nothing, when
 * somebody has broken it since the trial. */
static struct conf *
take_over_conf(const char *conf_path, const struct handover *handover,
    bool is_trial, struct err *err)
{
	struct arena *arena = arena_new();
	struct conf_report report;
	struct conf *conf = conf_load(conf_path, arena, &report);
	char path[4200], line[ERR_TEXT_BYTES];

	if (conf == NULL) {
		daemon_report_line(&report, line, sizeof(line));
		err_set(err, "%s", line);
	} else if (!is_trial && supervisor_settings_check(handover, conf,
	    err) < 0) {
		conf_free(&conf);
	}
	if (conf == NULL && !is_trial) {
		snprintf(path, sizeof(path), "%s/" SNAPSHOT_NAME,
		    handover_setting(handover, "run"));
		conf = conf_load(path, arena, &report);
	}
	arena_free(&arena);
	return conf;
}

/* The sockets of the file; those that it does not have any more are closed
 * when the next smtpserver is ready. */
static void
take_over_listeners(struct supervisor *boss)
{
	struct run_listeners fresh;
	struct err err;

	if (run_listeners_bind(&boss->listeners, &boss->given, boss->conf,
	    &fresh, &err) < 0) {
		strlcpy(boss->upgrade.not_done, err.text,
		    sizeof(boss->upgrade.not_done));
		return;
	}
	boss->listeners_before = boss->listeners;
	boss->listeners = fresh;
}

/* All that can fail was tried.  0 or -1. */
static int
take_over_prepare(struct supervisor *boss, const struct handover *handover,
    struct err *err)
{
	const struct conf *conf = boss->conf;

	snprintf(boss->snapshot_path, sizeof(boss->snapshot_path),
	    "%s/" SNAPSHOT_NAME, conf->run_dir);
	loop_open(boss);
	if (supervisor_adopt(boss, handover, err) < 0)
		return -1;
	umask(022);
	if (dirs_prepare(conf, err) < 0)
		warning("%s", err->text);
	if (event_open(conf->log_dir) < 0)
		warning("cannot open the log directory %s", conf->log_dir);
	if (progress_open(conf->run_dir, "supervisor", err) < 0)
		warning("nobody will see how far it is: %s", err->text);
	take_over_listeners(boss);
	if (conf_snapshot_write(conf, err) < 0) {
		/* the one of before is there, and daemons start with it */
		warning("%s", err->text);
		strlcpy(boss->upgrade.not_done, err->text,
		    sizeof(boss->upgrade.not_done));
	}
	umask(007);
	return 0;
}

static int
take_over_run(struct conf *conf, const char *conf_path,
    struct handover *handover, struct err *err)
{
	struct supervisor boss = { .conf = conf, .conf_path = conf_path,
	    .ready_fd = -1, .was_ready = true };
	sigset_t none;

	program_look_self(&boss.program);
	signal(SIGPIPE, SIG_IGN);
	libexec_settle();
	if (take_over_prepare(&boss, handover, err) < 0)
		return EX_UNAVAILABLE;
	/* who handed over blocked them all; what we start has none blocked */
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	beside_take_over(&boss.beside, boss.loop, &boss.conf,
	    boss.snapshot_path, handover);
	watchdog_start(&boss.watchdog, boss.conf->run_dir, boss.children,
	    CHILD_COUNT);
	upgrade_go_on(&boss);
	on_child_signal(&boss);		/* who ended meanwhile */
	return supervisor_loop(&boss);
}

int
supervisor_take_over(const char *conf_path, int fd, bool is_trial)
{
	struct handover *handover = mem_alloc(1, sizeof(*handover));
	int status = EX_UNAVAILABLE;
	struct conf *conf = NULL;
	struct err err = { "" };

	err_program("supervisor");
	if (handover_read(fd, handover, &err) == 0) {
		handover_keep(handover, fd, false);
		close(fd);
		conf = take_over_conf(conf_path, handover, is_trial, &err);
	}
	if (conf != NULL && is_trial)
		status = supervisor_try(handover, conf, &err) == 0 ? EX_OK :
		    EX_UNAVAILABLE;
	else if (conf != NULL)
		status = take_over_run(conf, conf_path, handover, &err);
	if (err.text[0] != '\0' && status != EX_OK)
		fprintf(stderr, "%s\n", err.text);
	if (is_trial)
		conf_free(&conf);
	mem_free(&handover);
	return status;
}
