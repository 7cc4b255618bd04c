/* doorman.c - binds, accepts, counts, and hands connections to workers
 *
 * In     connections
 * Out    connections with a seat, or 421 and the end
 * Holds  the listening sockets, the counts of clients, the crew
 * Trusts nothing: it reads no byte of a client; sessions in all and for
 *        each client are bounded (`limit sessions`, `sessions-per-client`)
 * Spec   RFC 5321 section 3.8 (421); DESIGN section 4
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "journal/event.h"
#include "base/mem.h"
#include "smtpserver/auth/keeper.h"
#include "smtpserver/doorman/internal.h"
#include "smtpserver/auth/failures.h"
#include "smtpserver/session/confine.h"
#include "smtpserver/session/space.h"
#include "smtpserver/tls/keys.h"
#include "daemon/listen_socket.h"

#include "base/banned.h"

enum { STOP_FOR_MS = 13000 };		/* workers take at most 10 s */

/* ---- listeners -------------------------------------------------------- */

static struct listener *
listener_new(struct doorman *doorman, const struct conf_listen *listen_at,
    struct err *err)
{
	int fd = listen_socket(listen_at, err);
	struct listener *listener;

	if (fd < 0)
		return NULL;
	listener = mem_alloc(1, sizeof(*listener));
	listener->doorman = doorman;
	listener->fd = fd;
	listener->is_submission = listen_at->is_submission;
	listener->is_tls = listen_at->is_tls;
	snprintf(listener->text, sizeof(listener->text), "%s",
	    listen_at->text);
	listener->next = doorman->listeners;
	doorman->listeners = listener;
	return listener;
}

static void
listener_free(struct listener **at)
{
	struct listener *listener = *at;

	*at = listener->next;
	watch_free(&listener->watch);
	listen_socket_close(listener->fd, listener->text);
	mem_free(&listener);
}

/* ---- the rungs -------------------------------------------------------- */

static void
close_keys(void *context)
{
	struct doorman *doorman = context;

	keys_in_child(doorman->keys);
}

int
doorman_bind(struct process *process, struct err *err)
{
	struct doorman *doorman = mem_alloc(1, sizeof(*doorman));
	const struct conf *conf = process->conf;

	doorman->process = process;
	process->state = doorman;
	/* First: it shall have nothing of what comes here. */
	if (conf_has_certificate(conf) &&
	    (doorman->keys = keys_start(process, err)) == NULL)
		return -1;
	if (auth_keeper_is_wanted(conf) && (doorman->auth =
	    auth_keeper_start(process, close_keys, doorman, err)) == NULL)
		return -1;
	if ((doorman->failures = failures_new(err)) == NULL ||
	    (doorman->space = space_shared_new(err)) == NULL)
		return -1;
	for (size_t i = 0; i < conf->listen_count; i++) {
		if (listener_new(doorman, &conf->listens[i], err) != NULL)
			continue;
		if (!conf->listens[i].is_optional)
			return -1;
		warning("%s; IPv4 alone is served", err->text);
	}
	return 0;
}

/* In a child: the door is not its business, nor who else is there. */
static void
close_all(void *context)
{
	struct doorman *doorman = context;

	for (int i = 0; i < CREW_COUNT; i++)
		crew_in_child(doorman->crews[i]);
	auth_keeper_in_child(doorman->auth);
	keys_in_child(doorman->keys);
	helpers_in_child(doorman->helpers);
	for (struct listener *l = doorman->listeners; l != NULL; l = l->next)
		close(l->fd);
	arrivals_in_child(doorman->arrivals);
}

static void
on_crew_changed(void *context)
{
	struct doorman *doorman = context;

	if (doorman->crews[CREW_OWN] == NULL)
		return;
	doorman_weigh(doorman);
	if (doorman->process->is_stopping &&
	    crew_worker_count(doorman->crews[CREW_STRANGERS]) == 0 &&
	    crew_worker_count(doorman->crews[CREW_OWN]) == 0)
		loop_stop(doorman->process->loop);
	doorman_watch_listeners(doorman);
}

static bool
on_ask(void *context, uint64_t asker, struct slice line)
{
	struct doorman *doorman = context;

	return helpers_ask(doorman->helpers, asker, line);
}

static void
on_answer(void *context, uint64_t asker, struct slice line)
{
	struct doorman *doorman = context;

	for (int i = 0; i < CREW_COUNT; i++)
		crew_answer(doorman->crews[i], asker, line);
}

static void
listener_watch(struct listener *listener)
{
	if (listener->watch == NULL)
		listener->watch = loop_watch(
		    listener->doorman->process->loop, listener->fd,
		    LOOP_READ, doorman_on_listener, listener);
}

static enum spool_flags
spool_flags_of(const struct conf *conf)
{
	return conf->sync == SYNC_STRICT ? SPOOL_STRICT :
	    conf->sync == SYNC_UNSAFE ? SPOOL_UNSAFE_FS : 0;
}

static int
on_keys_wanted(void *context, bool is_submission)
{
	struct doorman *doorman = context;
	struct err err;
	int fd;

	if (doorman->keys == NULL)
		return -1;
	fd = keys_open(doorman->keys, is_submission, &err);
	if (fd < 0)
		warning("%s", err.text);
	return fd;
}

/* Whoever checks passwords. */
static int
on_helper_wanted(void *context, struct err *err)
{
	struct doorman *doorman = context;

	if (doorman->auth == NULL)
		return err_set(err, "nobody checks passwords");
	return auth_keeper_open(doorman->auth, err);
}

/* Our own users get half as many workers, if they have a listener. */
static int
crews_resize(struct doorman *doorman, struct err *err)
{
	unsigned workers = doorman->process->conf->smtpserver_workers;
	unsigned own = 0;

	for (struct listener *l = doorman->listeners; l != NULL; l = l->next)
		if (l->is_submission)
			own = (workers + 1) / 2;
	return crew_resize(doorman->crews[CREW_STRANGERS], workers, err) != 0 ||
	    crew_resize(doorman->crews[CREW_OWN], own, err) != 0 ? -1 : 0;
}

int
doorman_start(struct process *process, struct err *err)
{
	struct doorman *doorman = process->state;
	const struct conf *conf = process->conf;
	struct crew_owner owner = {
		close_all, on_crew_changed, on_ask, doorman, on_keys_wanted,
		false, doorman->failures, doorman->space
	};

	if (spool_open(conf->spool_dir, spool_flags_of(conf),
	    conf->hash_levels, &doorman->spool, err) != 0)
		return -1;
	doorman->clients = clients_new();
	doorman->peers = peers_new(conf);
	doorman->policy = policy_new(conf);
	doorman->arrivals = arrivals_new(process->loop, doorman_on_arrival,
	    doorman);
	doorman->helpers = helpers_new(process, helper_kinds, close_all,
	    on_answer, doorman);
	helpers_open_with(doorman->helpers, on_helper_wanted);
	for (int i = 0; i < CREW_COUNT; i++) {
		owner.is_submission = i == CREW_OWN;
		doorman->crews[i] = crew_new(process, doorman->spool,
		    doorman->clients, &owner);
	}
	if (doorman->keys != NULL)
		keys_attach(doorman->keys);
	if (crews_resize(doorman, err) != 0)
		return -1;
	for (struct listener *l = doorman->listeners; l != NULL; l = l->next)
		listener_watch(l);
	return 0;
}

/* What only root may read, and PAM, need a restart. */
static void
auth_renew(struct doorman *doorman)
{
	struct process *process = doorman->process;
	struct err err;

	if (doorman->auth != NULL)
		auth_keeper_reload(doorman->auth);
	else if (auth_keeper_is_wanted(process->conf) && (doorman->auth =
	    auth_keeper_start(process, close_all, doorman, &err)) == NULL)
		warning("%s", err.text);
}

/* The first certificate: workers that know of no keys make room for some
 * that do.  What only root may read needs a restart. */
static void
keys_renew(struct doorman *doorman)
{
	struct process *process = doorman->process;
	struct err err;

	if (doorman->keys != NULL) {
		keys_reload(doorman->keys);
		return;
	}
	if (!conf_has_certificate(process->conf))
		return;
	doorman->keys = keys_start_late(process, close_all, doorman, &err);
	if (doorman->keys == NULL) {
		warning("%s", err.text);
		return;
	}
	keys_attach(doorman->keys);
	for (int i = 0; i < CREW_COUNT; i++)
		(void)crew_resize(doorman->crews[i], 0, &err);
}

static const struct conf_listen *
listen_find(const struct conf *conf, const char *text)
{
	for (size_t i = 0; i < conf->listen_count; i++)
		if (strcmp(conf->listens[i].text, text) == 0)
			return &conf->listens[i];
	return NULL;
}

static bool
has_listener(const struct doorman *doorman, const char *text)
{
	for (struct listener *l = doorman->listeners; l != NULL; l = l->next)
		if (strcmp(l->text, text) == 0)
			return true;
	return false;
}

/* A listener that stays may get another purpose. */
static bool
listener_renew(struct listener *listener, const struct conf *conf)
{
	const struct conf_listen *row = listen_find(conf, listener->text);

	if (row == NULL)
		return false;
	listener->is_submission = row->is_submission;
	listener->is_tls = row->is_tls;
	return true;
}

/* Where there is more to read than workers were let at when they began,
 * fresh ones take what comes, and these end what they have. */
static void
workers_renew(struct doorman *doorman, const struct conf *old)
{
	bool may_read = session_may_read(old, doorman->process->conf);
	struct err err;

	for (int i = 0; i < CREW_COUNT; i++)
		if (may_read)
			crew_tell(doorman->crews[i], "reload");
		else
			(void)crew_resize(doorman->crews[i], 0, &err);
}

void
doorman_reload(struct process *process, const struct conf *old)
{
	struct doorman *doorman = process->state;
	const struct conf *conf = process->conf;
	struct listener **at = &doorman->listeners, *fresh;
	struct err err;

	while (*at != NULL)
		if (listener_renew(*at, conf))
			at = &(*at)->next;
		else
			listener_free(at);
	for (size_t i = 0; i < conf->listen_count; i++) {
		if (has_listener(doorman, conf->listens[i].text))
			continue;
		fresh = listener_new(doorman, &conf->listens[i], &err);
		if (fresh != NULL)
			listener_watch(fresh);
		else
			warning("%s; zmailer restart can", err.text);
	}
	peers_free(&doorman->peers);
	doorman->peers = peers_new(conf);
	policy_free(&doorman->policy);
	doorman->policy = policy_new(conf);
	keys_renew(doorman);
	auth_renew(doorman);
	workers_renew(doorman, old);
	helpers_reload(doorman->helpers);
	if (crews_resize(doorman, &err) != 0)
		warning("%s", err.text);
	doorman_watch_listeners(doorman);
}

static void
on_stop_timer(void *context)
{
	struct doorman *doorman = context;

	for (int i = 0; i < CREW_COUNT; i++)
		crew_kill(doorman->crews[i]);
}

void
doorman_stop(struct process *process)
{
	struct doorman *doorman = process->state;

	while (doorman->listeners != NULL)
		listener_free(&doorman->listeners);
	timer_clear(&doorman->pause_timer);
	for (int i = 0; i < CREW_COUNT; i++)
		crew_stop(doorman->crews[i]);
	timer_set(process->loop, &doorman->stop_timer,
	    clock_steady_ms() + STOP_FOR_MS, on_stop_timer, doorman);
	on_crew_changed(doorman);
}

void
doorman_release(struct process *process)
{
	struct doorman *doorman = process->state;

	while (doorman->listeners != NULL)
		listener_free(&doorman->listeners);
	timer_clear(&doorman->pause_timer);
	timer_clear(&doorman->stop_timer);
	helpers_free(&doorman->helpers);
	arrivals_free(&doorman->arrivals);
	policy_free(&doorman->policy);
	peers_free(&doorman->peers);
	for (int i = 0; i < CREW_COUNT; i++)
		crew_free(&doorman->crews[i]);
	keys_free(&doorman->keys);
	auth_keeper_free(&doorman->auth);
	failures_free(&doorman->failures);
	space_shared_free(&doorman->space);
	clients_free(&doorman->clients);
	spool_close(&doorman->spool);
	mem_free(&doorman);
	process->state = NULL;
}
