/* desk.c - who asks this node, and whom it asks
 *
 * In     connections of users and of nodes
 * Out    a session each
 * Holds  the sessions, at most DESK_SESSIONS_MAX of each kind
 * Trusts the kernel about users; nobody before his certificate was seen:
 *        who has not finished his handshake gives way to who comes
 * Spec   desk.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "nodes/desk/session.h"
#include "tls/link.h"

#include "base/banned.h"

/* The accounts of agents and router may read here, but ask no other node: they
 * have no need to, and agents talk with strangers. */
static bool
desk_may_ask(const struct desk *desk, const struct rights_peer *peer)
{
	const struct peer_rules *rules = &desk->means->rules;

	return peer->right == RIGHT_WRITE || (peer->right == RIGHT_READ &&
	    peer->uid != rules->readers[0] && peer->uid != rules->readers[1]);
}

static void
desk_take_user(struct desk *desk, int fd)
{
	struct session *session;
	struct rights_peer peer;

	if (desk->counts[0] >= DESK_SESSIONS_MAX ||
	    peer_ask(fd, &desk->means->rules, &peer) < 0) {
		close(fd);
		return;
	}
	session = session_new(desk, fd, true);
	session->may_write = peer.right == RIGHT_WRITE;
	if (desk_who_is_good(slice_of(peer.name)))
		strlcpy(session->who, peer.name, sizeof(session->who));
	else
		snprintf(session->who, sizeof(session->who), "%ju",
		    (uintmax_t)peer.uid);
	session->is_denied = !desk_may_ask(desk, &peer);
}

/* The oldest whose handshake is under way makes room. */
static bool
desk_make_room(struct desk *desk)
{
	struct session *session;

	if (desk->counts[1] < DESK_SESSIONS_MAX)
		return true;
	TAILQ_FOREACH(session, &desk->sessions, entry)
		if (session->at == AT_SHAKE) {
			session_free(&session);
			return true;
		}
	return false;
}

static void
desk_take_node(struct desk *desk, int fd)
{
	struct session *session;
	size_t dropped;
	struct err err;
	int on = 1;

	if (!desk_make_room(desk)) {
		close(fd);
		return;
	}
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	session = session_new(desk, fd, false);
	if (stream_start_tls(session->sides[SIDE_NEAR], desk->means->server,
	    &dropped, &err) < 0)
		session_free(&session);
}

static void
desk_accept(struct desk *desk, int which)
{
	int fd = accept4(desk->listeners[which], NULL, NULL,
	    SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (fd < 0)
		return;
	if (which == 0)
		desk_take_user(desk, fd);
	else
		desk_take_node(desk, fd);
}

static void
desk_on_user(void *context, unsigned ready)
{
	desk_accept(context, 0);
}

static void
desk_on_node(void *context, unsigned ready)
{
	desk_accept(context, 1);
}

/* ---- life -------------------------------------------------------------- */

static void
desk_on_leave_time(void *context)
{
	struct desk *desk = context;

	loop_stop(desk->process->loop);
}

static void
desk_on_lifeline(void *context, unsigned ready)
{
	struct desk *desk = context;

	desk->is_leaving = true;
	watch_free(&desk->lifeline);
	watch_free(&desk->watches[0]);
	watch_free(&desk->watches[1]);
	timer_set(desk->process->loop, &desk->leave_timer, clock_steady_ms() +
	    DESK_LEAVE_MS, desk_on_leave_time, desk);
	if (TAILQ_EMPTY(&desk->sessions))
		loop_stop(desk->process->loop);
}

struct desk *
desk_new(struct process *process, const struct desk_means *means, int local,
    int network, int lifeline)
{
	struct desk *desk = mem_alloc(1, sizeof(*desk));

	desk->process = process;
	desk->cluster = &process->conf->cluster;
	desk->means = means;
	desk->self = conf_cluster_find(desk->cluster, slice_of(
	    desk->cluster->self));
	desk->listeners[0] = local;
	desk->listeners[1] = network;
	TAILQ_INIT(&desk->sessions);
	desk->watches[0] = loop_watch(process->loop, local, LOOP_READ,
	    desk_on_user, desk);
	if (network >= 0)
		desk->watches[1] = loop_watch(process->loop, network,
		    LOOP_READ, desk_on_node, desk);
	desk->lifeline = loop_watch(process->loop, lifeline, LOOP_READ,
	    desk_on_lifeline, desk);
	return desk;
}

void
desk_free(struct desk **pdesk)
{
	struct desk *desk = *pdesk;
	struct session *session;

	if (desk == NULL)
		return;
	while ((session = TAILQ_FIRST(&desk->sessions)) != NULL)
		session_free(&session);
	timer_clear(&desk->leave_timer);
	watch_free(&desk->lifeline);
	watch_free(&desk->watches[0]);
	watch_free(&desk->watches[1]);
	mem_free(pdesk);
}
