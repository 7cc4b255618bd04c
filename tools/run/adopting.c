/* adopting.c - what a supervisor has, as a record, and taken from one
 *
 * In     a supervisor, or a record of the program before it
 * Out    the other one of them
 * Holds  nothing
 * Trusts a record as far as handover.h has looked at it; locks and daemons of
 *        it are looked at here
 * Spec   handover.h, upgrading.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "conf/edit.h"
#include "daemon/skeleton.h"
#include "tools/run/taking.h"

#include "base/banned.h"

/* ---- what may not be another ------------------------------------------- */

/* As daemon_restart_reason has it. */
static void
settings_note(const struct conf *conf, struct handover *out)
{
	char text[64];

	handover_set(out, "spool", conf->spool_dir);
	handover_set(out, "run", conf->run_dir);
	handover_set(out, "log", conf->log_dir);
	snprintf(text, sizeof(text), "%u", conf->hash_levels);
	handover_set(out, "hash", text);
	snprintf(text, sizeof(text), "%d", (int)conf->sync);
	handover_set(out, "sync", text);
	handover_set(out, "says", conf_is_empty(conf) ? "nothing" :
	    "something");
	for (int i = 0; i < ROLE_COUNT; i++) {
		snprintf(text, sizeof(text), "account of %s",
		    conf_role_names[i]);
		handover_set(out, text, conf->accounts[i]);
	}
}

/* A setting that one of them does not know is none of this. */
int
supervisor_settings_check(const struct handover *had, const struct conf *conf,
    struct err *err)
{
	struct handover *now = mem_alloc(1, sizeof(*now));
	int result = 0;

	settings_note(conf, now);
	for (size_t i = 0; i < now->setting_count && result == 0; i++) {
		const struct handover_setting *row = &now->settings[i];
		const char *before = handover_setting(had, row->name);

		if (*before == '\0' || strcmp(before, row->value) == 0)
			continue;
		if (strcmp(row->name, "says") == 0 &&
		    strcmp(row->value, "something") == 0)
			continue;
		result = err_set(err, "%s: %s changed (%s, now %s): zmailer "
		    "restart", conf->path, row->name, before, row->value);
	}
	mem_free(&now);
	return result;
}

/* ---- to a record ------------------------------------------------------- */

static int
listeners_note(const struct run_listeners *listeners, const char *whose,
    struct handover *out, struct err *err)
{
	for (size_t i = 0; i < listeners->count; i++) {
		const struct run_listener *from = &listeners->rows[i];
		struct handover_listener *row;

		if (out->listener_count == HANDOVER_LISTENERS_MAX)
			return err_set(err, "more than %d listeners cannot be "
			    "handed over", HANDOVER_LISTENERS_MAX);
		row = &out->listeners[out->listener_count++];
		row->fd = from->fd;
		row->is_given = from->is_given;
		row->is_submission = from->is_submission;
		row->is_tls = from->is_tls;
		strlcpy(row->whose, whose, sizeof(row->whose));
		strlcpy(row->text, from->text, sizeof(row->text));
	}
	return 0;
}

static int
given_note(const struct given *given, struct handover *out, struct err *err)
{
	for (size_t i = 0; i < given->count; i++) {
		if (given->fds[i] < 0)
			continue;
		if (out->given_count == HANDOVER_GIVEN_MAX)
			return err_set(err, "more than %d sockets of the "
			    "service manager cannot be handed over",
			    HANDOVER_GIVEN_MAX);
		out->given[out->given_count++].fd = given->fds[i];
	}
	return 0;
}

static void
child_note(const struct supervised *child, struct handover *out)
{
	struct handover_child *row = &out->children[out->child_count++];
	struct state_child state;

	supervised_describe(child, &state);
	strlcpy(row->name, state.name, sizeof(row->name));
	strlcpy(row->state, state.state, sizeof(row->state));
	row->pid = child->pid;
	row->lifeline = child->lifeline;
	row->since_s = child->since_s;
	row->started_at_ms = child->started_at_ms;
	row->restarts = child->restarts;
	row->conf = child->has_conf;
	row->was_ready = child->was_ready;
	row->made_s = child->program.made_s;
	row->bytes = child->program.bytes;
	strlcpy(row->program, child->program.path, sizeof(row->program));
}

static int
before_note(const struct supervised *child, struct handover *out,
    struct err *err)
{
	const struct predecessor *before;
	struct handover_before *row;

	TAILQ_FOREACH(before, &child->predecessors, entry) {
		if (out->before_count == HANDOVER_BEFORE_MAX)
			return err_set(err, "%d older daemons finish their "
			    "sessions still: try later", HANDOVER_BEFORE_MAX);
		row = &out->before[out->before_count++];
		strlcpy(row->name, child->name, sizeof(row->name));
		row->pid = before->pid;
		row->lifeline = before->lifeline;
		row->is_told = before->is_told;
		row->has_left = before->has_left;
		row->is_stopping = before->is_stopping;
	}
	return 0;
}

int
supervisor_note(const struct supervisor *boss, struct handover *out,
    struct err *err)
{
	memset(out, 0, sizeof(*out));
	out->instance_count = 1;
	out->instances[0] = (struct handover_instance){
		.since_s = boss->since_s, .conf_number = boss->conf_number,
		.reloads = boss->reloads, .upgrades = boss->upgrade.count,
		.lock_fd = boss->lock_fd };
	handover_set(out, "version", PACKAGE_VERSION);
	settings_note(boss->conf, out);
	for (int room = 0; room < SPOOL_ROOM_COUNT; room++)
		out->rooms[out->room_count++] = (struct handover_room){
			room, boss->room_fds[room] };
	for (size_t i = 0; i < CHILD_COUNT; i++) {
		child_note(&boss->children[i], out);
		if (before_note(&boss->children[i], out, err) < 0)
			return -1;
	}
	beside_note(&boss->beside, out);
	return listeners_note(&boss->listeners, "smtpserver", out, err) < 0 ||
	    listeners_note(&boss->control, "scheduler", out, err) < 0 ? -1 :
	    given_note(&boss->given, out, err);
}

/* ---- from a record ----------------------------------------------------- */

static int
rooms_adopt(struct supervisor *boss, const struct handover *handover,
    struct err *err)
{
	for (int room = 0; room < SPOOL_ROOM_COUNT; room++)
		boss->room_fds[room] = -1;
	for (size_t i = 0; i < handover->room_count; i++) {
		const struct handover_room *row = &handover->rooms[i];

		if (row->number >= SPOOL_ROOM_COUNT || !spool_lock_is_room(
		    boss->conf->spool_dir, (enum spool_room)row->number,
		    row->fd))
			return err_set(err, "descriptor %d is no lock of the "
			    "spool", row->fd);
		boss->room_fds[row->number] = row->fd;
	}
	for (int room = 0; room < SPOOL_ROOM_COUNT; room++)
		if (boss->room_fds[room] < 0)
			return err_set(err, "a lock of the spool is missing");
	return 0;
}

static void
listeners_adopt(const struct handover *handover, const char *whose,
    struct run_listeners *out)
{
	out->count = 0;
	out->rows = mem_alloc(handover->listener_count + 1,
	    sizeof(*out->rows));
	for (size_t i = 0; i < handover->listener_count; i++) {
		const struct handover_listener *from = &handover->listeners[i];
		struct run_listener *row = &out->rows[out->count];

		if (strcmp(from->whose, whose) != 0)
			continue;
		row->fd = from->fd;
		row->is_given = from->is_given;
		row->is_submission = from->is_submission;
		row->is_tls = from->is_tls;
		strlcpy(row->text, from->text, sizeof(row->text));
		out->count++;
	}
}

/* A listener that the service manager gave may go back there: it has a
 * place. */
static void
given_adopt(const struct handover *handover, struct given *out)
{
	out->count = 0;
	out->fds = mem_alloc(handover->given_count +
	    handover->listener_count + 1, sizeof(*out->fds));
	for (size_t i = 0; i < handover->given_count; i++)
		out->fds[out->count++] = handover->given[i].fd;
	for (size_t i = 0; i < handover->listener_count; i++)
		if (handover->listeners[i].is_given)
			out->fds[out->count++] = -1;
}

static int
children_adopt(struct supervisor *boss, const struct handover *handover,
    struct err *err)
{
	for (size_t i = 0; i < CHILD_COUNT; i++) {
		struct supervised *child = &boss->children[i];
		unsigned count = 0;

		for (size_t at = 0; at < handover->child_count; at++)
			if (strcmp(handover->children[at].name, child->name) ==
			    0 && count++ == 0 && child->loop != NULL)
				supervised_adopt(child,
				    &handover->children[at]);
		if (count != 1)
			return err_set(err, "the record has %u of %s", count,
			    child->name);
		for (size_t at = 0; at < handover->before_count; at++)
			if (strcmp(handover->before[at].name, child->name) ==
			    0 && child->loop != NULL)
				supervised_adopt_before(child,
				    &handover->before[at]);
	}
	return 0;
}

int
supervisor_adopt(struct supervisor *boss, const struct handover *handover,
    struct err *err)
{
	const struct handover_instance *instance = &handover->instances[0];

	boss->since_s = instance->since_s;
	boss->conf_number = boss->written =
	    (unsigned)instance->conf_number + 1;
	boss->reloads = (unsigned)instance->reloads;
	boss->upgrade.count = (unsigned)instance->upgrades;
	boss->lock_fd = instance->lock_fd;
	strlcpy(boss->upgrade.was, handover_setting(handover, "version"),
	    sizeof(boss->upgrade.was));
	given_adopt(handover, &boss->given);
	listeners_adopt(handover, "smtpserver", &boss->listeners);
	listeners_adopt(handover, "scheduler", &boss->control);
	if (rooms_adopt(boss, handover, err) < 0)
		return -1;
	supervisor_children_prepare(boss);
	return children_adopt(boss, handover, err);
}

/* ---- could it? --------------------------------------------------------- */

/* It is there, has what it needs to be loaded, and begins. */
static int
program_try(const char *name, struct err *err)
{
	char path[4200];
	int status = -1;
	pid_t pid;

	daemon_libexec(name, path, sizeof(path));
	if (access(path, X_OK) < 0)
		return err_sys(err, "%s", path);
	pid = fork();
	if (pid == 0) {
		int null = open("/dev/null", O_RDWR | O_CLOEXEC);

		if (null >= 0 && dup2(null, STDOUT_FILENO) >= 0 &&
		    dup2(null, STDERR_FILENO) >= 0)
			execl(path, path, "--version", (char *)NULL);
		_exit(127);
	}
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	return err_set(err, "%s --version does not work", path);
}

/* Bound, and given up again. */
static int
listeners_try(const struct supervisor *had, struct given *given,
    const struct conf *conf, struct err *err)
{
	struct run_listeners fresh;

	if (run_listeners_bind(&had->listeners, given, conf, &fresh, err) < 0)
		return -1;
	run_listeners_close(&fresh, &had->listeners, given);
	return 0;
}

/* Of a format that this program reads. */
static int
spool_try(const struct conf *conf, struct err *err)
{
	struct spool *spool;

	if (conf_spool_open(conf, 0, &spool, err) < 0)
		return -1;
	spool_close(&spool);
	return 0;
}

int
supervisor_try(const struct handover *handover, const struct conf *conf,
    struct err *err)
{
	struct supervisor *had = mem_alloc(1, sizeof(*had));
	int result;

	had->conf = (struct conf *)(uintptr_t)conf;
	result = supervisor_settings_check(handover, conf, err) < 0 ||
	    supervisor_adopt(had, handover, err) < 0 ||
	    spool_try(conf, err) < 0 ||
	    beside_try(conf, err) < 0 ||
	    listeners_try(had, &had->given, conf, err) < 0 ? -1 : 0;
	for (size_t i = 0; result == 0 && i < CHILD_COUNT; i++)
		result = program_try(had->children[i].name, err);
	mem_free(&had->given.fds);
	mem_free(&had->listeners.rows);
	mem_free(&had->control.rows);
	mem_free(&had);
	return result;
}
