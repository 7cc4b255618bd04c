/* running.c - an instance that runs: stop it, have it read its file again
 *
 * In     a configuration: its spool's lock, its run/state
 * Out    signals; words on the terminal
 * Spec   zmailer(8); supervisor.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>
#include <time.h>

#include "base/clock.h"
#include "daemon/machine/machine.h"
#include "mail/spool/spool.h"
#include "tools/run/left.h"
#include "tools/run/running.h"
#include "tools/run/standstill/parts.h"
#include "tools/run/supervisor.h"
#include "tools/run/unit.h"
#include "tools/verb/verb.h"

#include "base/banned.h"

enum {
	STOP_WAIT_MS = 4 * STOP_FOR_MS, RELOAD_WAIT_MS = 30000,
	RELOAD_LOOK_MS = 2000	/* between two looks at who stands still */
};

void
running_nap(void)
{
	const struct timespec span = { .tv_nsec = RUNNING_LOOK_MS * 1000000L };

	(void)nanosleep(&span, NULL);
}

pid_t
running_pid(const struct conf *conf)
{
	char text[256];
	pid_t pid = 0;
	int held = spool_lock_holder(conf->spool_dir, text, sizeof(text),
	    &pid);

	if (held > 0 && pid == 0)
		errno = ESRCH;	/* somebody has it; who, nobody says */
	return held > 0 ? pid == 0 ? -1 : pid : held;
}

int
running_unknown(const char *verb, const struct conf *conf)
{
	int error = errno;

	fprintf(stderr, "zmailer: %s: the lock of %s: %s: who started "
	    "zmailer, or root, can do this\n",
	    verb, conf->spool_dir, strerror(error));
	return error == EACCES || error == EPERM ? EX_NOPERM : EX_OSERR;
}

int
running_not_ours(const char *verb, pid_t pid)
{
	int error = errno;

	fprintf(stderr, "zmailer: %s: pid %ld: %s: who started zmailer, or "
	    "root, can do this\n", verb, (long)pid, strerror(error));
	return error == EPERM ? EX_NOPERM : EX_OSERR;
}

int
running_stop(struct conf *conf)
{
	int64_t since_ms = clock_wall_us() / 1000;
	pid_t pid = running_pid(conf);

	if (pid < 0)
		return running_unknown("stop", conf);
	if (pid == 0) {
		printf("zmailer does not run\n");
		return EX_OK;
	}
	if (kill(pid, SIGTERM) < 0)
		return running_not_ours("stop", pid);
	for (int left = STOP_WAIT_MS / RUNNING_LOOK_MS; left > 0; left--) {
		if (running_pid(conf) != pid) {
			left_print(conf->log_dir, since_ms, stderr);
			return EX_OK;
		}
		running_nap();
	}
	fprintf(stderr, "zmailer: stop: pid %ld does not end; kill -9 is safe "
	    "for the spool\n", (long)pid);
	return EX_TEMPFAIL;
}

bool
running_restart_unit(const struct conf *conf, int *out_status)
{
	pid_t pid = running_pid(conf);
	struct str name = STR_INIT;
	bool is_of_unit = pid > 0 && unit_of_process(pid, &name);

	if (is_of_unit)
		*out_status = unit_restart(name.buf);
	str_release(&name);
	return is_of_unit;
}

void
running_check_listeners(const struct conf *conf, struct arena *arena,
    struct conf_report *report)
{
	struct state state = { .pid = 0 };
	char holder[256];
	char ours[sizeof(state.listeners) + sizeof(state.unused) + 2];
	struct err err;
	pid_t pid;

	if (spool_lock_holder(conf->spool_dir, holder, sizeof(holder), &pid) !=
	    SPOOL_LOCK_FREE && state_read(conf->run_dir, &state, &err) != 1)
		return;
	snprintf(ours, sizeof(ours), "%s%s ", state.listeners, state.unused);
	machine_check_listeners(conf, ours, arena, report);
}

int
running_check_files(const struct conf *conf)
{
	struct arena *arena = arena_new();
	struct conf_report report = { NULL, 0, 0, 0 };
	struct str text = STR_INIT;
	int status = EX_OK;

	machine_check(conf, arena, &report);
	if (report.errors > 0) {
		conf_report_print(&report, conf->path, &text);
		fputs(text.buf, stderr);
		status = EX_CONFIG;
	}
	str_release(&text);
	arena_free(&arena);
	return status;
}

int
running_check_restart(const struct conf *conf)
{
	struct arena *arena = arena_new();
	struct conf_report report = { NULL, 0, 0, 0 };
	struct str text = STR_INIT;
	int status = running_check_files(conf);

	running_check_listeners(conf, arena, &report);
	if (report.warnings > 0) {
		conf_report_print(&report, conf->path, &text);
		fputs(text.buf, stderr);
		if (status == EX_OK)
			status = EX_UNAVAILABLE;
	}
	if (status != EX_OK)
		fprintf(stderr, "zmailer: restart: nothing was stopped\n");
	str_release(&text);
	arena_free(&arena);
	return status;
}

/* ---- reload ------------------------------------------------------ */

/* Print what the part finds, after these words.  Is there something? */
static bool
reload_says(const struct conf *conf, void (*part)(struct standstill *,
    const char *), const char *front)
{
	struct standstill all = { .arena = arena_new() };
	struct str text = STR_INIT;

	part(&all, conf->run_dir);
	for (size_t i = 0; i < all.count && front != NULL; i++)
		standstill_add_text(&text, &all.rows[i], front);
	fputs(text.buf, stderr);
	str_release(&text);
	arena_free(&all.arena);
	return all.count > 0;
}

struct reload_look {
	int	stopped;	/* looks in a row that found somebody so */
	bool	is_told;
};

/* Does a process take nothing over until somebody acts?  Who was stopped by a
 * signal, and is so at the next look, too.  Who only stands still may go on by
 * itself: on a busy machine one waits for the processor, or the disk. */
static bool
reload_is_stuck(const struct conf *conf, struct reload_look *look)
{
	look->stopped = reload_says(conf, standstill_processes,
	    look->stopped == 0 ? NULL :
	    "zmailer: reload: not taken over by all: ") ?
	    look->stopped + 1 : 0;
	if (!look->is_told)
		look->is_told = reload_says(conf, standstill_progress,
		    "zmailer: reload: waits: ");
	return look->stopped > 1;
}

/* Until the supervisor says what it and the daemons made of the signal. */
static bool
reload_is_answered(const struct conf *conf, unsigned before,
    struct state *out)
{
	struct reload_look look = { .stopped = 0 };
	struct err err;

	for (int waited = 0; waited < RELOAD_WAIT_MS;
	    waited += RUNNING_LOOK_MS) {
		if (state_read(conf->run_dir, out, &err) == STATE_READ &&
		    out->reloads != before)
			return true;
		if (waited > 0 && waited % RELOAD_LOOK_MS == 0 &&
		    reload_is_stuck(conf, &look))
			return false;
		running_nap();
	}
	fprintf(stderr, "zmailer: reload: not every daemon has answered yet; "
	    "zmailer status says which one stands still\n");
	return false;
}

static int
reload_wait(const struct conf *conf, unsigned before)
{
	struct state state;

	if (!reload_is_answered(conf, before, &state))
		return EX_TEMPFAIL;
	if (state.refused[0] == '\0') {
		printf("reloaded\n");
		return EX_OK;
	}
	if (state.is_partial) {
		fprintf(stderr, "zmailer: reload: not taken over by all: %s; "
		    "zmailer events says why\n", state.refused);
		return EX_UNAVAILABLE;
	}
	fprintf(stderr, "zmailer: reload: refused, the old configuration "
	    "stays: %s\n", state.refused);
	return EX_CONFIG;
}

/* What runs takes the file over, which is good. */
static int
reload_order(const struct conf *running, pid_t pid)
{
	struct state state;
	struct err err;

	if (state_read(running->run_dir, &state, &err) != STATE_READ)
		state.reloads = 0;
	return kill(pid, SIGHUP) == 0 ? reload_wait(running, state.reloads) :
	    running_not_ours("reload", pid);
}

int
running_reload(const char *conf_path)
{
	struct conf *conf = verb_conf_file(conf_path);
	struct conf *running = verb_conf(conf_path);
	int status = running_check_files(conf);
	pid_t pid = running_pid(running);

	if (pid < 0) {
		status = running_unknown("reload", running);
	} else if (status != EX_OK) {
		fprintf(stderr, "zmailer: reload: nothing was changed\n");
	} else if (pid == 0) {
		fprintf(stderr, "zmailer: reload: zmailer does not run: nobody "
		    "has the lock of %s; `zmailer start` begins with this "
		    "configuration\n", running->spool_dir);
		status = EX_UNAVAILABLE;
	} else {
		status = reload_order(running, pid);
	}
	conf_free(&running);
	conf_free(&conf);
	return status;
}
