/* listener.c - binds, accepts, counts, and hands connections to workers
 *
 * In     the configuration; connections
 * Out    connections that a worker serves, or 421 and the end
 * Holds  the listening sockets, the counts of clients, the workers
 * Trusts nothing: it reads no byte of a client; sessions in all and for
 *        each client are bounded (`limit sessions`, `sessions-per-client`)
 * Spec   RFC 5321 section 3.8 (421); daemon/skeleton.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "journal/event.h"
#include "base/mem.h"
#include "smtpserver/auth/process.h"
#include "smtpserver/listener/hearing.h"
#include "smtpserver/listener/helper_kinds.h"
#include "smtpserver/listener/internal.h"
#include "smtpserver/auth/failures.h"
#include "smtpserver/auth/blocks.h"
#include "smtpserver/worker/confine.h"
#include "smtpserver/transaction/space.h"
#include "smtpserver/tls/keys.h"
#include "daemon/given.h"
#include "daemon/listen_socket.h"

#include "base/banned.h"

enum {
	STOP_FOR_MS = 13000,		/* workers take at most 10 s */
	LEAVE_LOOK_MS = 50
};

/* ---- listeners -------------------------------------------------------- */

/* fd: given, or -1 for a fresh one. */
static struct bound_socket *
bound_socket_new(struct listener *listener, const struct conf_listen *listen_at,
    int fd, struct err *err)
{
	bool is_given = fd >= 0;
	struct bound_socket *bound;

	if (!is_given && (fd = listen_socket(listen_at, err)) < 0)
		return NULL;
	bound = mem_alloc(1, sizeof(*bound));
	bound->listener = listener;
	bound->fd = fd;
	bound->is_given = is_given;
	bound->is_submission = listen_at->is_submission;
	bound->is_tls = listen_at->is_tls;
	snprintf(bound->text, sizeof(bound->text), "%s",
	    listen_at->text);
	bound->next = listener->sockets;
	listener->sockets = bound;
	return bound;
}

static void
bound_socket_free(struct bound_socket **at)
{
	struct bound_socket *bound = *at;

	*at = bound->next;
	watch_free(&bound->watch);
	if (bound->fd < 0)
		;			/* given up by listener_leave */
	else if (bound->is_given)
		close(bound->fd);
	else
		listen_socket_close(bound->fd, bound->text);
	mem_free(&bound);
}

static bool
sockets_serve(const struct listener *listener, const struct conf_listen *at)
{
	for (struct bound_socket *l = listener->sockets; l != NULL; l = l->next)
		if (strcmp(l->text, at->text) == 0 || given_fits(l->fd, at))
			return true;
	return false;
}

/* What the supervisor gave, and what it did not: we run alone, too. */
static int
sockets_open(struct listener *listener, struct err *err)
{
	const struct conf *conf = listener->process->conf;
	struct given given;
	int result = 0;

	given_take(&given);
	for (size_t i = 0; i < conf->listen_count && result == 0; i++) {
		const struct conf_listen *at = &conf->listens[i];

		if (sockets_serve(listener, at) || bound_socket_new(listener,
		    at, given_find(&given, at), err) != NULL)
			continue;
		if (!at->is_optional)
			result = -1;
		else if (listener->process->lifeline < 0)
			warning("%s; IPv4 alone is served", err->text);
	}
	given_close(&given);
	return result;
}

/* ---- the rungs -------------------------------------------------------- */

/* In a child: close what accepts connections. */
static void
listener_close_in_child(void *context)
{
	struct listener *listener = context;

	for (struct bound_socket *l = listener->sockets; l != NULL; l = l->next)
		if (l->fd >= 0)
			close(l->fd);
	arrivals_in_child(listener->arrivals);
}

int
listener_bind(struct process *process, struct err *err)
{
	struct listener *listener = mem_alloc(1, sizeof(*listener));
	const struct conf *conf = process->conf;

	listener->process = process;
	process->state = listener;
	if (sockets_open(listener, err) < 0)
		return -1;
	if (conf_has_certificate(conf) && (listener->keys = keys_start(process,
	    listener_close_in_child, listener, err)) == NULL)
		return -1;
	if (auth_process_is_wanted(conf) && (listener->auth =
	    auth_process_start(process, listener_close_in_child, listener,
	    err)) == NULL)
		return -1;
	if (blocks_open(err) < 0 ||
	    (listener->failures = failures_new(err)) == NULL ||
	    (listener->space = space_shared_new(err)) == NULL)
		return -1;
	return 0;
}

static void
listener_on_workers_changed(void *context)
{
	struct listener *listener = context;

	if (listener->workers[WORKERS_FOR_OWN] == NULL)
		return;
	listener_weigh(listener);
	if ((listener->process->is_stopping || listener->is_leaving) &&
	    workers_count(listener->workers[WORKERS_FOR_STRANGERS]) == 0 &&
	    workers_count(listener->workers[WORKERS_FOR_OWN]) == 0)
		loop_stop(listener->process->loop);
	listener_watch_sockets(listener);
}

static bool
listener_on_ask(void *context, uint64_t asker, struct slice line)
{
	struct listener *listener = context;

	return helpers_ask(listener->helpers, asker, line);
}

static void
listener_on_answer(void *context, uint64_t asker, struct slice line)
{
	struct listener *listener = context;

	for (int i = 0; i < WORKERS_KINDS; i++)
		workers_answer(listener->workers[i], asker, line);
}

static void
bound_socket_watch(struct bound_socket *bound)
{
	if (bound->watch == NULL)
		bound->watch = loop_watch(
		    bound->listener->process->loop, bound->fd,
		    LOOP_READ, listener_on_connection, bound);
}

static int
listener_on_keys_wanted(void *context, bool is_submission)
{
	struct listener *listener = context;
	struct err err;
	int fd;

	if (listener->keys == NULL)
		return -1;
	fd = keys_open(listener->keys, is_submission, &err);
	if (fd < 0)
		warning("%s", err.text);
	return fd;
}

/* Whoever checks passwords. */
static int
listener_on_helper_wanted(void *context, struct err *err)
{
	struct listener *listener = context;

	if (listener->auth == NULL)
		return err_set(err, "nobody checks passwords");
	return auth_process_open(listener->auth, err);
}

/* Our own users get half as many workers, if they have a listener. */
static int
listener_resize_workers(struct listener *listener, struct err *err)
{
	unsigned workers = listener->process->conf->smtpserver_workers;
	unsigned own = 0;

	for (struct bound_socket *l = listener->sockets; l != NULL; l = l->next)
		if (l->is_submission)
			own = (workers + 1) / 2;
	return workers_resize(listener->workers[WORKERS_FOR_STRANGERS],
	    workers, err) != 0 ||
	    workers_resize(listener->workers[WORKERS_FOR_OWN], own, err) != 0 ?
	    -1 : 0;
}

int
listener_start(struct process *process, struct err *err)
{
	struct listener *listener = process->state;
	const struct conf *conf = process->conf;
	struct workers_owner owner = {
		listener_close_in_child, listener_on_workers_changed,
		    listener_on_ask, listener, listener_on_keys_wanted,
		false, listener->failures, listener->space
	};

	if (conf_spool_open(conf, 0, &listener->spool, err) != 0)
		return -1;
	listener->clients = clients_new();
	listener->peers = peers_new(conf);
	listener->policy = policy_new(conf);
	listener->arrivals = arrivals_new(process->loop, listener_on_arrival,
	    listener);
	listener->helpers = helpers_new(process, helper_kinds,
	    listener_close_in_child,
	    listener_on_answer, listener);
	helpers_open_with(listener->helpers, listener_on_helper_wanted);
	listener->hearing = hearing_new(process, listener->failures);
	listener->local = local_mail_start(process, listener_close_in_child,
	    listener);
	for (int i = 0; i < WORKERS_KINDS; i++) {
		owner.is_submission = i == WORKERS_FOR_OWN;
		listener->workers[i] = workers_new(process, listener->spool,
		    listener->clients, &owner);
	}
	if (listener->keys != NULL)
		keys_attach(listener->keys);
	if (listener->auth != NULL)
		auth_process_attach(listener->auth);
	if (listener_resize_workers(listener, err) != 0)
		return -1;
	for (struct bound_socket *l = listener->sockets; l != NULL; l = l->next)
		bound_socket_watch(l);
	return 0;
}

/* The first passwords: as the first certificate. */
static void
listener_renew_auth(struct listener *listener)
{
	struct process *process = listener->process;
	struct err err;

	if (listener->auth != NULL)
		auth_process_reload(listener->auth);
	else if (auth_process_is_wanted(process->conf) && (listener->auth =
	    auth_process_start(process, listener_close_in_child, listener,
	    &err)) == NULL)
		warning("%s", err.text);
}

/* The first certificate: workers that know of no keys make room for some
 * that do.  This is for one who runs alone, and never had rights to drop: the
 * supervisor starts a successor. */
static void
listener_renew_keys(struct listener *listener)
{
	struct process *process = listener->process;
	struct err err;

	if (listener->keys != NULL) {
		keys_reload(listener->keys);
		return;
	}
	if (!conf_has_certificate(process->conf))
		return;
	listener->keys = keys_start(process, listener_close_in_child,
	    listener, &err);
	if (listener->keys == NULL) {
		warning("%s", err.text);
		return;
	}
	for (int i = 0; i < WORKERS_KINDS; i++)
		(void)workers_resize(listener->workers[i], 0, &err);
}

static const struct conf_listen *
listen_find(const struct conf *conf, const char *text)
{
	for (size_t i = 0; i < conf->listen_count; i++)
		if (strcmp(conf->listens[i].text, text) == 0)
			return &conf->listens[i];
	return NULL;
}

/* A listener that stays may get another purpose. */
static bool
bound_socket_renew(struct bound_socket *bound, const struct conf *conf)
{
	const struct conf_listen *row = listen_find(conf, bound->text);

	if (row == NULL)
		return false;
	bound->is_submission = row->is_submission;
	bound->is_tls = row->is_tls;
	return true;
}

/* Where there is more to read than workers were let at when they began,
 * fresh ones take what comes, and these end what they have. */
static void
listener_renew_workers(struct listener *listener, const struct conf *old)
{
	bool may_read = session_may_read(old, listener->process->conf);
	struct err err;

	for (int i = 0; i < WORKERS_KINDS; i++)
		if (may_read)
			workers_tell(listener->workers[i], "reload");
		else
			(void)workers_resize(listener->workers[i], 0, &err);
}

static void
listener_renew_sockets(struct listener *listener)
{
	const struct conf *conf = listener->process->conf;
	struct bound_socket **at = &listener->sockets, *fresh;
	struct err err;

	while (*at != NULL)
		if (bound_socket_renew(*at, conf))
			at = &(*at)->next;
		else
			bound_socket_free(at);
	for (size_t i = 0; i < conf->listen_count; i++) {
		if (listener->process->lifeline >= 0 ||
		    sockets_serve(listener, &conf->listens[i]))
			continue;
		fresh = bound_socket_new(listener, &conf->listens[i], -1,
		    &err);
		if (fresh != NULL)
			bound_socket_watch(fresh);
		else
			warning("%s", err.text);
	}
}

/* Those who are still here go by the new file, too. */
static void
listener_reload_leaving(struct listener *listener)
{
	if (listener->keys != NULL)
		keys_reload(listener->keys);
	if (listener->auth != NULL)
		auth_process_reload(listener->auth);
	for (int i = 0; i < WORKERS_KINDS; i++)
		workers_tell(listener->workers[i], "reload");
}

void
listener_reload(struct process *process, const struct conf *old)
{
	struct listener *listener = process->state;
	const struct conf *conf = process->conf;
	struct err err;

	if (listener->is_leaving) {
		listener_reload_leaving(listener);
		return;
	}
	listener_renew_sockets(listener);
	peers_free(&listener->peers);
	listener->peers = peers_new(conf);
	policy_free(&listener->policy);
	listener->policy = policy_new(conf);
	listener_renew_keys(listener);
	listener_renew_auth(listener);
	listener_renew_workers(listener, old);
	helpers_reload(listener->helpers);
	hearing_reload(listener->hearing);
	local_mail_free(&listener->local);
	listener->local = local_mail_start(process, listener_close_in_child,
	    listener);
	if (listener_resize_workers(listener, &err) != 0)
		warning("%s", err.text);
	listener_watch_sockets(listener);
}

/* Whose proxy has yet to say who they are still find a worker. */
static void
listener_leave_look(void *context)
{
	struct listener *listener = context;
	struct err err;

	if (arrivals_count(listener->arrivals) > 0) {
		timer_set(listener->process->loop, &listener->leave_timer,
		    clock_steady_ms() + LEAVE_LOOK_MS, listener_leave_look,
		    listener);
		return;
	}
	while (listener->sockets != NULL)
		bound_socket_free(&listener->sockets);
	for (int i = 0; i < WORKERS_KINDS; i++)
		(void)workers_resize(listener->workers[i], 0, &err);
	listener_on_workers_changed(listener);
}

/* Who waits at a socket that the successor does not have comes in first.
 * Closed, for the kernel not to give us more; who came by it is known by its
 * name until no proxy owes a header. */
void
listener_leave(struct process *process)
{
	struct listener *listener = process->state;

	if (listener->is_leaving)
		return;
	for (struct bound_socket *l = listener->sockets; l != NULL;
	    l = l->next) {
		listener_accept(l, LISTEN_BACKLOG);
		watch_free(&l->watch);
		close(l->fd);
		l->fd = -1;
	}
	listener->is_leaving = true;
	local_mail_free(&listener->local);
	timer_clear(&listener->pause_timer);
	listener_leave_look(listener);
}

static void
listener_on_stop_timer(void *context)
{
	struct listener *listener = context;

	for (int i = 0; i < WORKERS_KINDS; i++)
		workers_kill(listener->workers[i]);
}

void
listener_stop(struct process *process)
{
	struct listener *listener = process->state;

	while (listener->sockets != NULL)
		bound_socket_free(&listener->sockets);
	timer_clear(&listener->pause_timer);
	timer_clear(&listener->leave_timer);
	local_mail_free(&listener->local);
	for (int i = 0; i < WORKERS_KINDS; i++)
		workers_stop(listener->workers[i]);
	timer_set(process->loop, &listener->stop_timer,
	    clock_steady_ms() + STOP_FOR_MS, listener_on_stop_timer, listener);
	listener_on_workers_changed(listener);
}

void
listener_release(struct process *process)
{
	struct listener *listener = process->state;

	while (listener->sockets != NULL)
		bound_socket_free(&listener->sockets);
	timer_clear(&listener->pause_timer);
	timer_clear(&listener->leave_timer);
	timer_clear(&listener->stop_timer);
	local_mail_free(&listener->local);
	hearing_free(&listener->hearing);
	helpers_free(&listener->helpers);
	arrivals_free(&listener->arrivals);
	policy_free(&listener->policy);
	peers_free(&listener->peers);
	for (int i = 0; i < WORKERS_KINDS; i++)
		workers_free(&listener->workers[i]);
	keys_free(&listener->keys);
	auth_process_free(&listener->auth);
	failures_free(&listener->failures);
	blocks_close();
	space_shared_free(&listener->space);
	clients_free(&listener->clients);
	spool_close(&listener->spool);
	mem_free(&listener);
	process->state = NULL;
}
