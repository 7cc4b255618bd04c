/* taking.c - a new configuration, taken by all daemons or by none
 *
 * In     SIGHUP, the file, what the daemons answer
 * Out    the snapshot; signals; a successor of smtpserver where it needs one
 * Holds  the configuration in force and the one that is being taken, the
 *        sockets of both
 * Trusts its children to be broken: each is waited for with a bound
 * Spec   taking.h; doc/INTERNALS section 6, row O6
 *
 * SPDX-License-Identifier: ISC
 */
#include <signal.h>
#include <stdio.h>

#include "base/clock.h"
#include "conf/snapshot/snapshot.h"
#include "daemon/skeleton.h"
#include "journal/event.h"
#include "tools/run/taking.h"
#include "tools/verb/verb.h"
#include "tools/versions/versions.h"

#include "base/banned.h"

enum { TAKE_FOR_MS = 20000 };	/* for a successor to become ready */

/* What runs now is what `zmailer config undo` can come back to. */
void
supervisor_version_keep(const struct conf *conf, const char *verb)
{
	char by[64];
	struct version about = { .by = by, .verb = verb, .reason = "" };
	struct err err;

	verb_who(by, sizeof(by));
	if (versions_keep(conf, &about, &err) == VERSION_NOT_KEPT)
		warning("this configuration is not kept for undo: %s",
		    err.text);
}

/* Words for those that nobody wants: whoever connects to them waits in
 * vain. */
void
supervisor_unused_say(const struct supervisor *boss)
{
	struct str text = STR_INIT;

	given_add_left(&boss->given, &text);
	if (text.len > 0) {
		event(EV_LISTENER_UNUSED, NULL, "listener", str_slice(&text),
		    NULL);
		warning("no listen statement is for what the service manager "
		    "gave: %s", text.buf);
	}
	str_release(&text);
}

static void
smtpserver_replace(struct supervised *child)
{
	struct err err;

	if (!child->boss->was_ready && child->state == SUPERVISED_DOWN)
		return;		/* its turn to start comes */
	if (supervised_replace(child, &err) == 0)
		return;
	warning("%s", err.text);
	supervised_restart_later(child, -1);
}

/* Sockets, and what is set up with root's rights, come with a start: a fresh
 * smtpserver takes the place of the one that runs.  All others, and it when
 * those stay, take the signal. */
static void
conf_tell(struct supervisor *boss, bool is_first)
{
	for (size_t i = 0; i < CHILD_COUNT; i++) {
		struct supervised *child = &boss->children[i];

		if (child->listeners == NULL || !boss->has_sockets) {
			if (!is_first)
				supervised_reload(child);
		} else if (is_first) {
			smtpserver_replace(child);
		}
	}
}

/* A successor that neither becomes ready nor ends. */
static void
on_take_timer(void *context)
{
	struct supervisor *boss = context;

	for (size_t i = 0; boss->is_first && i < CHILD_COUNT; i++)
		if (boss->children[i].listeners != NULL &&
		    boss->children[i].pid > 0)
			(void)kill(boss->children[i].pid, SIGKILL);
}

/* smtpserver first, where it has to start: what can fail, fails while the
 * others have not heard of it. */
static void
conf_spread(struct supervisor *boss)
{
	boss->is_taking = true;
	boss->is_first = boss->has_sockets;
	conf_tell(boss, boss->is_first);
	if (boss->is_first)
		timer_set(boss->loop, &boss->take_timer, clock_steady_ms() +
		    TAKE_FOR_MS, on_take_timer, boss);
}

static void
conf_take(struct supervisor *boss, struct conf *fresh,
    struct run_listeners *listeners)
{
	struct err err;

	/* sessions lock themselves in: it has to be there before they start */
	if (dirs_prepare_record(fresh, &err) < 0)
		warning("%s", err.text);
	boss->has_sockets = run_listeners_differ(&boss->listeners,
	    listeners) || daemon_wants_successor(boss->conf, fresh);
	boss->listeners_before = boss->listeners;
	boss->listeners = *listeners;
	if (!boss->has_sockets)
		run_listeners_close(&boss->listeners_before, &boss->listeners,
		    &boss->given);
	boss->fresh = fresh;
	boss->written = boss->conf_number + 1;
	boss->refused[0] = '\0';
	conf_spread(boss);
}

/* Who waits for a reload hears of it when all is said and done. */
static void
reload_end(struct supervisor *boss)
{
	timer_clear(&boss->take_timer);
	event_flush();
	boss->is_taking = boss->is_first = boss->is_going_back = false;
	if (boss->owes_reload) {
		boss->owes_reload = false;
		taking_on_hangup(boss);
	} else {
		boss->reloads++;
		upgrade_if_owed(boss);
	}
}

static void
conf_commit(struct supervisor *boss)
{
	conf_free(&boss->conf);
	boss->conf = boss->fresh;
	boss->fresh = NULL;
	boss->conf_number = boss->written;
	beside_reload(&boss->beside);
	supervisor_version_keep(boss->conf, "reload");
	event(EV_CONF_RELOAD, NULL, "file", slice_of(boss->conf->path), NULL);
	supervisor_unused_say(boss);
}

/* It is in force for the others: who ordered it must hear of that. */
static void
reload_is_partial(struct supervisor *boss, const char *why)
{
	warning("the configuration of before cannot be taken back: %s", why);
	boss->is_partial = true;
}

/* The sockets of before; those that were closed meanwhile are bound again. */
static void
listeners_go_back(struct supervisor *boss)
{
	struct run_listeners again;
	struct err err;

	if (boss->listeners_before.rows != NULL) {
		run_listeners_close(&boss->listeners, &boss->listeners_before,
		    &boss->given);
		boss->listeners = boss->listeners_before;
	} else if (run_listeners_bind(&boss->listeners, &boss->given,
	    boss->conf, &again, &err) == 0) {
		run_listeners_close(&boss->listeners, &again, &boss->given);
		boss->listeners = again;
	} else {
		reload_is_partial(boss, err.text);
	}
	boss->listeners_before = (struct run_listeners){ NULL, 0 };
}

/* All take it, or none: a successor did not become ready, or a daemon refused
 * it.  Who has it already takes the one of before again. */
static void
conf_go_back(struct supervisor *boss, const struct supervised *child,
    const char *what)
{
	bool was_told = !boss->is_first;
	struct err err;

	snprintf(boss->refused, sizeof(boss->refused), "the %s %s",
	    child->name, what);
	event(EV_CONF_REFUSED, NULL, "file", slice_of(boss->fresh->path),
	    "reason", slice_of(boss->refused), NULL);
	if (conf_snapshot_write(boss->conf, &err) < 0)
		reload_is_partial(boss, err.text);
	else
		boss->written = boss->conf_number;
	listeners_go_back(boss);
	conf_free(&boss->fresh);
	boss->is_going_back = true;
	if (was_told)
		conf_spread(boss);
	else
		reload_end(boss);
}

/* smtpserver has it, or will when it starts: the others are told. */
static void
reload_go_on(struct supervisor *boss)
{
	const struct supervised *child = NULL;

	for (size_t i = 0; i < CHILD_COUNT; i++)
		if (boss->children[i].listeners != NULL)
			child = &boss->children[i];
	if (boss->was_ready && child->state != SUPERVISED_READY &&
	    !boss->is_going_back) {
		conf_go_back(boss, child, "cannot be started with it");
		return;
	}
	run_listeners_close(&boss->listeners_before, &boss->listeners,
	    &boss->given);
	boss->is_first = false;
	timer_clear(&boss->take_timer);
	conf_tell(boss, false);
	taking_advance(boss);
}

/* The daemons that have answered bring it a step on. */
void
taking_advance(struct supervisor *boss)
{
	if (!boss->is_taking || boss->is_stopping)
		return;
	for (size_t i = 0; i < CHILD_COUNT; i++)
		if (!supervised_is_settled(&boss->children[i]))
			return;
	if (boss->is_first) {
		reload_go_on(boss);
		return;
	}
	for (size_t i = 0; i < CHILD_COUNT; i++) {
		if (!boss->children[i].has_refused)
			continue;
		if (boss->is_going_back) {
			reload_is_partial(boss, boss->children[i].name);
			continue;
		}
		conf_go_back(boss, &boss->children[i], "refused it");
		return;
	}
	if (!boss->is_going_back)
		conf_commit(boss);
	reload_end(boss);
}

/* A successor that does not become ready: the one before it goes on. */
void
taking_note_end(struct supervisor *boss, const struct supervised *child,
    int status)
{
	char how[32], what[128];

	if (!boss->is_first || !child->is_reloading || child->was_ready)
		return;
	supervised_end_text(status, how, sizeof(how));
	snprintf(what, sizeof(what), "does not start with it (%s)%s", how,
	    child->predecessor_count > 0 ? "; the one before it goes on" :
	    "");
	if (!boss->is_going_back) {
		conf_go_back(boss, child, what);
		return;
	}
	boss->is_first = false;
	conf_tell(boss, false);
}

/* All that can be refused is looked at, and bound, before anything is given
 * up; last the snapshot, which is in force once it is written.  0, or -1
 * with the reason in boss->refused. */
static int
conf_try(struct supervisor *boss, const struct conf *fresh,
    struct run_listeners *listeners)
{
	const char *reason = daemon_restart_reason(boss->conf, fresh);
	struct err err;

	if (reason != NULL) {
		snprintf(boss->refused, sizeof(boss->refused), "%s", reason);
		return -1;
	}
	if (run_listeners_bind(&boss->listeners, &boss->given, fresh, listeners,
	    &err) == 0) {
		if (run_listeners_try_mailq(&boss->control, boss->conf, fresh,
		    &err) == 0 &&
		    conf_snapshot_write(fresh, &err) == 0)
			return 0;
		run_listeners_close(listeners, &boss->listeners, &boss->given);
	}
	snprintf(boss->refused, sizeof(boss->refused), "%s", err.text);
	return -1;
}

void
taking_on_hangup(void *context)
{
	struct supervisor *boss = context;
	struct arena *arena = arena_new();
	struct conf_report report;
	struct conf *fresh = conf_load(boss->conf_path, arena, &report);
	struct run_listeners listeners;

	if (boss->is_stopping || boss->is_taking ||
	    boss->upgrade.step != UPGRADE_NONE) {
		boss->owes_reload = true;	/* one after the other */
		conf_free(&fresh);
		arena_free(&arena);
		return;
	}
	boss->is_partial = false;
	if (fresh == NULL)
		daemon_report_line(&report, boss->refused,
		    sizeof(boss->refused));
	if (fresh != NULL && conf_try(boss, fresh, &listeners) == 0) {
		conf_take(boss, fresh, &listeners);
	} else {
		conf_free(&fresh);
		event(EV_CONF_REFUSED, NULL, "file",
		    slice_of(boss->conf->path), "reason",
		    slice_of(boss->refused), NULL);
		boss->reloads++;
	}
	arena_free(&arena);
	event_flush();		/* it is there for who reads of it below */
	taking_advance(boss);
	supervisor_state_publish(boss);
}

/* Whoever starts has the new sockets: those that nobody has any more are
 * closed before the smtpserver that has them, too, leaves; it serves who is
 * at them already, and nobody comes after those. */
void
taking_on_ready(struct supervised *child)
{
	struct supervisor *boss = child->boss;

	if (child->listeners == NULL ||
	    (!boss->is_first && boss->upgrade.step != UPGRADE_SMTPSERVER))
		return;
	run_listeners_bar(&boss->listeners_before, &boss->listeners);
	run_listeners_close(&boss->listeners_before, &boss->listeners,
	    &boss->given);
}
