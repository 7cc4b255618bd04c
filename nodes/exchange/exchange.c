/* exchange.c - who asks this node, and whom it asks
 *
 * In     connections of users and of nodes
 * Out    a transit each
 * Holds  the transits, at most EXCHANGE_TRANSITS_MAX of each kind
 * Trusts the kernel about users; nobody before his certificate was seen:
 *        who has not finished his handshake gives way to who comes
 * Spec   exchange.h
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
#include "nodes/exchange/transit.h"
#include "tls/link.h"

#include "base/banned.h"

/* The accounts of agents and router may read here, but ask no other node: they
 * have no need to, and agents talk with strangers. */
static bool
exchange_may_ask(const struct exchange *exchange,
    const struct rights_peer *peer)
{
	const struct peer_rules *rules = &exchange->means->rules;

	return peer->right == RIGHT_WRITE || (peer->right == RIGHT_READ &&
	    peer->uid != rules->readers[0] && peer->uid != rules->readers[1]);
}

static void
exchange_take_user(struct exchange *exchange, int fd)
{
	struct transit *transit;
	struct rights_peer peer;

	if (exchange->counts[0] >= EXCHANGE_TRANSITS_MAX ||
	    peer_ask(fd, &exchange->means->rules, &peer) < 0 ||
	    (!exchange_may_ask(exchange, &peer) &&
	    exchange->denied_count >= EXCHANGE_DENIED_MAX)) {
		close(fd);
		return;
	}
	transit = transit_new(exchange, fd, true);
	transit->may_write = peer.right == RIGHT_WRITE;
	transit->is_owner = peer.uid == exchange->means->rules.writers[0] ||
	    peer.uid == exchange->means->rules.writers[1];
	if (nodes_who_is_good(slice_of(peer.name)))
		strlcpy(transit->who, peer.name, sizeof(transit->who));
	else
		snprintf(transit->who, sizeof(transit->who), "%ju",
		    (uintmax_t)peer.uid);
	transit->is_denied = !exchange_may_ask(exchange, &peer);
	exchange->denied_count += transit->is_denied;
}

/* The oldest whose handshake is under way makes room. */
static bool
exchange_make_room(struct exchange *exchange)
{
	struct transit *transit;

	if (exchange->counts[1] < EXCHANGE_TRANSITS_MAX)
		return true;
	TAILQ_FOREACH(transit, &exchange->transits, entry)
		if (transit->at == AT_SHAKE) {
			transit_free(&transit);
			return true;
		}
	return false;
}

static void
exchange_take_node(struct exchange *exchange, int fd)
{
	struct transit *transit;
	size_t dropped;
	struct err err;
	int on = 1;

	if (!exchange_make_room(exchange)) {
		close(fd);
		return;
	}
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	transit = transit_new(exchange, fd, false);
	if (stream_start_tls(transit->sides[SIDE_NEAR], exchange->means->server,
	    &dropped, &err) < 0)
		transit_free(&transit);
}

static void
exchange_accept(struct exchange *exchange, int which)
{
	int fd = accept4(exchange->listeners[which], NULL, NULL,
	    SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (fd < 0)
		return;
	if (which == 0)
		exchange_take_user(exchange, fd);
	else
		exchange_take_node(exchange, fd);
}

static void
exchange_on_user(void *context, unsigned ready)
{
	exchange_accept(context, 0);
}

static void
exchange_on_node(void *context, unsigned ready)
{
	exchange_accept(context, 1);
}

/* ---- life -------------------------------------------------------------- */

static void
exchange_on_leave_time(void *context)
{
	struct exchange *exchange = context;

	loop_stop(exchange->process->loop);
}

static void
exchange_on_lifeline(void *context, unsigned ready)
{
	struct exchange *exchange = context;

	exchange->is_leaving = true;
	watch_free(&exchange->lifeline);
	watch_free(&exchange->watches[0]);
	watch_free(&exchange->watches[1]);
	timer_set(exchange->process->loop, &exchange->leave_timer,
	    clock_steady_ms() + EXCHANGE_LEAVE_MS, exchange_on_leave_time,
	    exchange);
	if (TAILQ_EMPTY(&exchange->transits))
		loop_stop(exchange->process->loop);
}

struct exchange *
exchange_new(struct process *process, const struct exchange_means *means,
    int local, int network, int lifeline)
{
	struct exchange *exchange = mem_alloc(1, sizeof(*exchange));

	exchange->process = process;
	exchange->cluster = &process->conf->cluster;
	exchange->means = means;
	exchange->self = conf_cluster_find(exchange->cluster, slice_of(
	    exchange->cluster->self));
	exchange->listeners[0] = local;
	exchange->listeners[1] = network;
	TAILQ_INIT(&exchange->transits);
	exchange->watches[0] = loop_watch(process->loop, local, LOOP_READ,
	    exchange_on_user, exchange);
	if (network >= 0)
		exchange->watches[1] = loop_watch(process->loop, network,
		    LOOP_READ, exchange_on_node, exchange);
	exchange->lifeline = loop_watch(process->loop, lifeline, LOOP_READ,
	    exchange_on_lifeline, exchange);
	return exchange;
}

void
exchange_free(struct exchange **pexchange)
{
	struct exchange *exchange = *pexchange;
	struct transit *transit;

	if (exchange == NULL)
		return;
	while ((transit = TAILQ_FIRST(&exchange->transits)) != NULL)
		transit_free(&transit);
	timer_clear(&exchange->leave_timer);
	watch_free(&exchange->lifeline);
	watch_free(&exchange->watches[0]);
	watch_free(&exchange->watches[1]);
	mem_free(pexchange);
}
