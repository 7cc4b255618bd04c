/* skeleton.c - the ladder that every daemon climbs
 *
 * In     arguments, the configuration, signals, the supervisor's lifeline
 * Out    a process that did each step in order, or exit 64, 78, 111
 * Holds  the one struct process
 * Trusts the supervisor; nothing on the network is read here
 * Spec   skeleton.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/title.h"
#include "conf/edit.h"
#include "journal/event.h"
#include "journal/progress.h"
#include "daemon/given.h"
#include "daemon/launcher.h"
#include "mail/spool/spool.h"

#include "base/banned.h"

enum { DOMAINS_LOOK_MS = 1000 };

static int
daemon_usage(FILE *out, const struct daemon *daemon, int status)
{
	fprintf(out, "usage: %s %s\n\n%s\n\nzmailer run starts it %s.\n",
	    daemon->name, daemon->started ? "-C FILE" : "[-C FILE]",
	    daemon->purpose ? daemon->purpose : "",
	    daemon->started ? daemon->started :
	    "with the others; see zmailer(8)");
	return status;
}

int
daemon_arguments(int argc, char **argv, struct process *process)
{
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--version") == 0) {
			printf("zmailer %s %s\n", process->daemon->name,
			    PACKAGE_VERSION);
			return EX_OK;
		}
		if (strcmp(argv[i], "--help") == 0)
			return daemon_usage(stdout, process->daemon, EX_OK);
		if (strcmp(argv[i], "-C") != 0 || i + 1 == argc)
			return daemon_usage(stderr, process->daemon, EX_USAGE);
		process->conf_path = argv[++i];
	}
	if (process->daemon->started != NULL && process->conf_path == NULL)
		return daemon_usage(stderr, process->daemon, EX_USAGE);
	return -1;
}

void
daemon_report_line(const struct conf_report *report, char *out, size_t size)
{
	snprintf(out, size, "no reason was given");
	for (size_t i = 0; i < report->count; i++) {
		const struct conf_complaint *c = &report->complaints[i];

		if (!c->is_error)
			continue;
		snprintf(out, size, "%s:%u: %s",
		    c->at.file ? c->at.file : "configuration", c->at.line,
		    c->text);
		return;
	}
}

const char *
daemon_restart_reason(const struct conf *old, const struct conf *fresh)
{
	/* an editor that failed leaves this; it would refuse all mail */
	if (conf_is_empty(fresh) && !conf_is_empty(old))
		return "it is empty: zmailer config undo brings back what it "
		    "said; zmailer restart takes it as it is";
	if (strcmp(old->spool_dir, fresh->spool_dir) != 0)
		return "spool changed: zmailer restart";
	if (strcmp(old->run_dir, fresh->run_dir) != 0)
		return "run changed: zmailer restart";
	if (strcmp(old->log_dir, fresh->log_dir) != 0)
		return "log changed: zmailer restart";
	if (old->hash_levels != fresh->hash_levels)
		return "hash changed: zmailer restart";
	if (old->sync != fresh->sync)
		return "sync changed: zmailer restart";
	for (int i = 0; i < ROLE_COUNT; i++)
		if (strcmp(old->accounts[i], fresh->accounts[i]) != 0)
			return "an account changed: zmailer restart";
	if (!conf_signs(old) && conf_signs(fresh) &&
	    !daemon_is_private(fresh))
		return "the first sign statement: zmailer restart";
	return NULL;
}

/* Who reads keys and passwords is forked before the rights are dropped, and
 * drops as many of its own as it can do without. */
bool
daemon_wants_successor(const struct conf *old, const struct conf *fresh)
{
	return (conf_has_certificate(fresh) && !conf_has_certificate(old)) ||
	    old->auth.kind != fresh->auth.kind;
}

/* From now on by absolute path: reload and agents read the same file, or the
 * same snapshot. */
static void
conf_path_settle(struct process *process)
{
	const char *path = process->conf->read_from;

	if (*path == '\0')	/* no file: all defaults */
		return;
	process->conf_path = realpath(path, NULL);
	if (process->conf_path == NULL)
		fatal("%s: %s", path, strerror(errno));
	(void)setenv("ZMAILER_CONF", process->conf_path, 1);
}

/* ---- signals and the lifeline ---------------------------------------- */

/* With what the supervisor learns of it. */
static void
lifeline_say(struct process *process, const char *byte)
{
	if (process->lifeline_watch != NULL &&
	    write(process->lifeline, byte, 1) != 1)
		warning("the supervisor does not listen: %s",
		    strerror(errno));
}

void
daemon_say_names_read(struct process *process)
{
	lifeline_say(process, "N");
}

static void
daemon_refuse(struct process *process, const char *reason)
{
	event(EV_CONF_REFUSED, NULL, "file", slice_of(process->conf->path),
	    "reason", slice_of(reason), NULL);
}

static bool
daemon_take_over(struct process *process, struct conf *fresh)
{
	struct conf *old = process->conf;
	const char *reason = daemon_restart_reason(old, fresh);

	if (reason != NULL) {
		daemon_refuse(process, reason);
		conf_free(&fresh);
		return false;
	}
	process->conf = fresh;
	/* First the launcher: what reload starts has the new clauses. */
	launcher_reload();
	if (process->daemon->reload != NULL)
		process->daemon->reload(process, old);
	conf_free(&old);
	event(EV_CONF_RELOAD, NULL, "file", slice_of(fresh->path), NULL);
	return true;
}

static void
on_hangup_signal(void *context)
{
	struct process *process = context;
	struct arena *arena = arena_new();
	struct conf_report report;
	struct conf *fresh = conf_load(process->conf_path, arena, &report);
	char reason[ERR_TEXT_BYTES];
	bool is_taken = false;

	if (fresh != NULL) {
		is_taken = daemon_take_over(process, fresh);
	} else {
		daemon_report_line(&report, reason, sizeof(reason));
		daemon_refuse(process, reason);
	}
	arena_free(&arena);
	event_flush();
	lifeline_say(process, is_taken ? "T" : "F");
}

/* ---- names of domains in tables ---------------------------------------- */

/* Only the names are taken over: whatever else was changed in the
 * configuration waits for a reload. */
static void
domains_look(void *context)
{
	struct process *process = context;
	struct err err;
	bool is_changed = false;

	if (!process->is_stopping && conf_domains_refresh(process->conf,
	    &is_changed, &err) < 0 &&
	    strcmp(process->domains_refused, err.text) != 0) {
		strlcpy(process->domains_refused, err.text,
		    sizeof(process->domains_refused));
		daemon_refuse(process, err.text);
	}
	if (is_changed) {
		process->domains_refused[0] = '\0';
		process->daemon->reload(process, process->conf);
		event(EV_CONF_RELOAD, NULL, "file", SLICE("tables of domains"),
		    NULL);
	}
	timer_set(process->loop, &process->domains_timer, clock_steady_ms() +
	    DOMAINS_LOOK_MS, domains_look, process);
}

static void
stop_begin(struct process *process, const char *reason)
{
	if (process->is_stopping) {
		loop_stop(process->loop);
		return;
	}
	process->is_stopping = true;
	event(EV_DAEMON_STOP, NULL, "reason", slice_of(reason), NULL);
	if (process->daemon->stop != NULL)
		process->daemon->stop(process);
	else
		loop_stop(process->loop);
}

static void
on_stop_signal(void *context)
{
	stop_begin(context, "signal");
}

/* A successor is ready: it has the sockets, and what comes by them. */
static void
leave_begin(struct process *process)
{
	if (process->is_stopping)
		return;
	if (process->daemon->leave == NULL) {
		stop_begin(process, "another one takes its place");
		return;
	}
	event(EV_DAEMON_STOP, NULL, "reason",
	    SLICE("another one takes its place"), NULL);
	process->daemon->leave(process);
	lifeline_say(process, "L");
}

static void
on_lifeline(void *context, unsigned ready)
{
	struct process *process = context;
	char byte;

	if (read(process->lifeline, &byte, 1) > 0) {
		if (byte == 'L')
			leave_begin(process);
		else if (byte == 'N' && process->daemon->names_read != NULL &&
		    !process->is_stopping)
			process->daemon->names_read(process);
		return;
	}
	watch_free(&process->lifeline_watch);
	stop_begin(process, "the supervisor is gone");
}

static void
lifeline_open(struct process *process)
{
	const char *text = getenv("ZMAILER_LIFELINE");
	uint64_t fd;

	process->lifeline = process->room_fd = -1;
	if (text == NULL || !slice_number(slice_of(text), GIVEN_FIRST_FD,
	    GIVEN_FIRST_FD + GIVEN_MAX, &fd))
		return;
	(void)unsetenv("ZMAILER_LIFELINE");
	for (int i = 1; i < LIFELINE_FDS; i++)	/* the locks */
		(void)fcntl((int)fd + i, F_SETFD, FD_CLOEXEC);
	if (fcntl((int)fd, F_SETFD, FD_CLOEXEC) < 0)
		return;
	process->lifeline = (int)fd;
	process->room_fd = (int)fd + 2;
}

static void
say_ready(struct process *process)
{
	event(EV_DAEMON_START, NULL, "version", slice_of(PACKAGE_VERSION),
	    NULL);
	event_flush();
	if (process->lifeline < 0) {
		if (process->daemon->names_read != NULL)
			process->daemon->names_read(process);
		return;
	}
	if (write(process->lifeline, "R", 1) != 1)
		warning("the supervisor does not listen: %s",
		    strerror(errno));
	process->lifeline_watch = loop_watch(process->loop,
	    process->lifeline, LOOP_READ, on_lifeline, process);
}

/* ---- one of each role a spool ------------------------------------------- */

static enum spool_room
daemon_room(enum conf_role role)
{
	return role == ROLE_ROUTER ? SPOOL_ROOM_ROUTER :
	    role == ROLE_SCHEDULER ? SPOOL_ROOM_SCHEDULER :
	    SPOOL_ROOM_SMTPSERVER;
}

/* Given by the supervisor, who has it as long as it lives, and so have all
 * smtpservers of its; or taken, until the process ends.  False: another one
 * has it. */
static bool
daemon_lock(struct process *process, struct err *err)
{
	const char *dir = process->conf->spool_dir;
	enum spool_room room = daemon_room(process->daemon->role);
	enum spool_lock_state got;

	if (process->room_fd >= 0 &&
	    spool_lock_is_room(dir, room, process->room_fd))
		return true;
	got = spool_lock_room(dir, room, &process->room_fd, err);
	if (got == SPOOL_LOCK_FREE && process->room_fd < 0)
		fatal("%s; zmailer run makes it", err->text);
	if (got == SPOOL_LOCK_TROUBLE)
		fatal("%s", err->text);
	return got == SPOOL_LOCK_FREE;
}

/* ---- the ladder --------------------------------------------------------- */

static void
daemon_surroundings(void)
{
	struct rlimit limit;

	umask(007);
	signal(SIGPIPE, SIG_IGN);
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &limit);
	}
}

static int
journal_open(const struct conf *conf, struct err *err)
{
	if (event_open(conf->log_dir) == 0)
		return 0;
	/* Alone, without the supervisor who makes it in good order. */
	if (errno == ENOENT && mkdir(conf->log_dir, 0770) == 0 &&
	    event_open(conf->log_dir) == 0)
		return 0;
	return err_sys(err, "cannot open the log directory %s",
	    conf->log_dir);
}

static int
daemon_climb(struct process *process, struct err *err)
{
	const struct daemon *daemon = process->daemon;

	process->was_root = geteuid() == 0;
	if (journal_open(process->conf, err) < 0)
		return -1;
	if (progress_open(process->conf->run_dir, daemon->name, err) < 0)
		warning("nobody will see how far it is: %s", err->text);
	if (daemon->open_privileged != NULL &&
	    daemon->open_privileged(process, err) < 0)
		return -1;
	if (daemon->wants_launcher && launcher_fork(process, err) < 0)
		return -1;
	if (daemon_drop(process->conf, daemon->role, err) < 0)
		return -1;
	process->loop = loop_new();
	loop_signal(process->loop, SIGTERM, on_stop_signal, process);
	loop_signal(process->loop, SIGINT, on_stop_signal, process);
	loop_signal(process->loop, SIGHUP, on_hangup_signal, process);
	if (daemon->wants_launcher)
		launcher_attach(process);
	if (daemon->after_drop != NULL &&
	    daemon->after_drop(process, err) < 0)
		return -1;
	if (daemon->reload != NULL && daemon->role != ROLE_SCHEDULER)
		domains_look(process);
	return 0;
}

int
daemon_run(int argc, char **argv, const struct daemon *daemon)
{
	static struct process process;
	struct err err = { "" };
	int status;

	fd_claim_standard();
	err_program(daemon->name);
	title_open(argc, argv);
	process.daemon = daemon;
	status = daemon_arguments(argc, argv, &process);
	if (status >= 0)
		return status;
	daemon_surroundings();
	lifeline_open(&process);
	process.conf = conf_load_or_tell(process.conf_path);
	if (process.conf == NULL)
		return EX_CONFIG;
	conf_path_settle(&process);
	if (!daemon_lock(&process, &err)) {
		fprintf(stderr, "%s: %s\n", daemon->name, err.text);
		return EX_TEMPFAIL;
	}
	title_set("%s", daemon->name);
	if (daemon_climb(&process, &err) < 0) {
		event_flush();
		fatal("%s", err.text);
	}
	say_ready(&process);
	loop_run(process.loop);
	event_flush();
	loop_free(&process.loop);
	conf_free(&process.conf);
	return EX_OK;
}

void
daemon_libexec(const char *program, char *out_path, size_t size)
{
	const char *dir = getenv("ZMAILER_LIBEXEC");

	if (dir == NULL || *dir == '\0')
		dir = ZM_LIBEXECDIR;
	snprintf(out_path, size, "%s/%s", dir, program);
}
