/* admit.c - accepts, counts, refuses or hands over
 *
 * In     connections
 * Out    connections that a worker serves, or 421 and the end
 * Holds  nothing of its own
 * Trusts nothing: it reads no byte of a client; sessions in all and for
 *        each client are bounded (`limit sessions`, `sessions-per-client`)
 * Spec   RFC 5321 section 3.8 (421); shed.h
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
#include "journal/counters.h"
#include "journal/event.h"
#include "smtpserver/listener/internal.h"
#include "smtpserver/policy/shed.h"

#include "base/banned.h"

enum {
	ACCEPTS_MAX = 64,		/* in one turn */
	PAUSE_FOR_MS = 100,		/* when descriptors are used up */
	ENDPOINT_BYTES = 72
};

static struct workers *
workers_of(const struct bound_socket *bound)
{
	return bound->listener->workers[bound->is_submission ? WORKERS_FOR_OWN :
	    WORKERS_FOR_STRANGERS];
}

static unsigned
listener_session_count(const struct listener *listener)
{
	return workers_session_count(listener->workers[WORKERS_FOR_STRANGERS]) +
	    workers_session_count(listener->workers[WORKERS_FOR_OWN]);
}

/* Can a connection be dealt with now: given to a worker, or refused because
 * all have as many as they can hold?  Else it waits in the backlog. */
static bool
socket_can_accept(const struct bound_socket *bound)
{
	const struct workers *workers = workers_of(bound);

	return workers_has_room(workers) ||
	    (workers_count(workers) > 0 && workers_is_full(workers));
}

void
listener_watch_sockets(struct listener *listener)
{
	for (struct bound_socket *l = listener->sockets; l != NULL; l = l->next)
		if (l->watch != NULL)
			watch_set(l->watch, !listener->is_paused &&
			    socket_can_accept(l) ? LOOP_READ : 0);
}

/* ---- accepting -------------------------------------------------------- */

static void
client_refuse(const struct bound_socket *bound, int fd, const char *endpoint,
    const char *status, const char *reason)
{
	const struct conf *conf = bound->listener->process->conf;
	char line[600];
	int n = snprintf(line, sizeof(line), "421 %s %s %s\r\n", status,
	    conf->host, reason);

	/* Whether it arrives is not worth waiting for. */
	if (n > 0 && !bound->is_tls &&
	    send(fd, line, (size_t)n, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		reason = "could not be told";
	close(fd);
	event(EV_SESSION_REFUSED, NULL, "client", slice_of(endpoint),
	    "listener", slice_of(bound->text), "code", slice_of(status),
	    "reason", slice_of(reason), NULL);
}

static bool
client_is_stranger(const struct bound_socket *bound, const struct net *net)
{
	return !bound->is_submission &&
	    !policy_knows(bound->listener->policy, net);
}

/* Why not, or NULL.  sessions: of this client, with the new one. */
static const char *
client_refusal(const struct bound_socket *bound, const struct net *net,
    unsigned sessions, const char **out_status)
{
	struct listener *listener = bound->listener;
	const struct conf_limits *limits = &listener->process->conf->limits;
	enum shed_level level = shed_level(listener_session_count(listener),
	    limits->sessions);

	*out_status = "4.3.2";
	if (!workers_has_room(workers_of(bound)) ||
	    (level >= SHED_SECOND && !shed_admits(level,
	    client_is_stranger(bound, net), sessions - 1))) {
		counters_limit("sessions");
		return "too many sessions, try later";
	}
	*out_status = "4.7.0";
	if (limits->sessions_per_client > 0 &&
	    sessions > limits->sessions_per_client) {
		counters_limit("sessions-per-client");
		return "too many sessions from your address";
	}
	return NULL;
}

static void
client_admit(struct bound_socket *bound, int fd,
    const struct sockaddr *address)
{
	struct listener *listener = bound->listener;
	struct client_count *client;
	const char *reason, *status;
	char endpoint[ENDPOINT_BYTES];
	unsigned sessions;
	struct net net;

	net_endpoint_text(address, endpoint, sizeof(endpoint));
	net_of_sockaddr(address, &net);
	client = clients_enter(listener->clients, &net, &sessions);
	reason = client_refusal(bound, &net, sessions, &status);
	if (reason != NULL) {
		clients_leave(listener->clients, &client);
		client_refuse(bound, fd, endpoint, status, reason);
		return;
	}
	workers_give(workers_of(bound), fd, endpoint, bound->text,
	    bound->is_tls, client);
	listener_weigh(listener);
}

void
listener_weigh(struct listener *listener)
{
	unsigned limit = listener->process->conf->limits.sessions;
	unsigned sessions = listener_session_count(listener);
	int level = (int)shed_level(sessions, limit);
	char line[32];

	counters_tell(TALLY_SESSIONS, SLICE(""), sessions);
	/* workers make no difference above SHED_WAITING */
	if (level > (int)SHED_WAITING)
		level = (int)SHED_WAITING;
	if (level == listener->pressure)
		return;
	listener->pressure = level;
	snprintf(line, sizeof(line), "pressure %d", level);
	for (int i = 0; i < WORKERS_KINDS; i++)
		workers_tell(listener->workers[i], line);
	event(EV_SESSION_PRESSURE, NULL, "level", event_number(level),
	    "sessions", event_number((int64_t)sessions),
	    "limit", event_number((int64_t)limit), NULL);
}

/* A proxy has said whose connection it is. */
void
listener_on_arrival(void *context, const char *bound_to, int fd,
    const struct sockaddr *address)
{
	struct listener *listener = context;

	for (struct bound_socket *l = listener->sockets; l != NULL; l = l->next)
		if (strcmp(l->text, bound_to) == 0) {
			client_admit(l, fd, address);
			return;
		}
	close(fd);		/* a reload took the listener away */
}

static void
listener_admit(struct bound_socket *bound, int fd,
    const struct sockaddr *address)
{
	struct sockaddr_in here = { .sin_family = AF_INET,
	    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct listener *listener = bound->listener;
	struct net net;

	if (address->sa_family == AF_UNIX) {	/* somebody here */
		client_admit(bound, fd, (const struct sockaddr *)&here);
		return;
	}
	net_of_sockaddr(address, &net);
	if (peers_trust(listener->peers, &net) & 1u << TRUST_PROXY)
		arrivals_add(listener->arrivals, fd, bound->text, address);
	else
		client_admit(bound, fd, address);
}

static void
listener_on_pause_end(void *context)
{
	struct listener *listener = context;

	listener->is_paused = false;
	listener_watch_sockets(listener);
}

/* Level-triggered: what cannot be accepted now would wake us for ever. */
static void
listener_pause(struct listener *listener)
{
	warning("cannot accept a connection: %s", strerror(errno));
	listener->is_paused = true;
	timer_set(listener->process->loop, &listener->pause_timer,
	    clock_steady_ms() + PAUSE_FOR_MS, listener_on_pause_end, listener);
}

void
listener_accept(struct bound_socket *bound, unsigned most)
{
	struct listener *listener = bound->listener;
	struct sockaddr_storage address;
	socklen_t length;

	for (unsigned i = 0; i < most && socket_can_accept(bound); i++) {
		int fd;

		length = sizeof(address);
		/* who has no name may have no family either */
		address.ss_family = AF_UNIX;
		fd = accept4(bound->fd, (struct sockaddr *)&address,
		    &length, SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (fd >= 0) {
			listener_admit(bound, fd, (struct sockaddr *)&address);
			continue;
		}
		if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS ||
		    errno == ENOMEM)
			listener_pause(listener);
		if (errno != ECONNABORTED && errno != EINTR)
			break;
	}
}

void
listener_on_connection(void *context, unsigned ready)
{
	struct bound_socket *bound = context;

	listener_accept(bound, ACCEPTS_MAX);
	listener_watch_sockets(bound->listener);
}
