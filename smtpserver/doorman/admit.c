/* admit.c - accepts, counts, refuses or hands over
 *
 * In     connections
 * Out    connections with a seat, or 421 and the end
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
#include "smtpserver/doorman/internal.h"
#include "smtpserver/doorman/shed.h"

#include "base/banned.h"

enum {
	ACCEPTS_MAX = 64,		/* in one turn */
	PAUSE_FOR_MS = 100,		/* when descriptors are used up */
	ENDPOINT_BYTES = 72
};

static struct crew *
crew_of(const struct listener *listener)
{
	return listener->doorman->crews[listener->is_submission ? CREW_OWN :
	    CREW_STRANGERS];
}

static unsigned
session_count(const struct doorman *doorman)
{
	return crew_session_count(doorman->crews[CREW_STRANGERS]) +
	    crew_session_count(doorman->crews[CREW_OWN]);
}

/* Can a connection be dealt with now: given to a worker, or refused because
 * all have as many as they can hold?  Else it waits in the backlog. */
static bool
can_accept(const struct listener *listener)
{
	const struct crew *crew = crew_of(listener);

	return crew_has_room(crew) ||
	    (crew_worker_count(crew) > 0 && crew_is_full(crew));
}

void
doorman_watch_listeners(struct doorman *doorman)
{
	for (struct listener *l = doorman->listeners; l != NULL; l = l->next)
		if (l->watch != NULL)
			watch_set(l->watch, !doorman->is_paused &&
			    can_accept(l) ? LOOP_READ : 0);
}

/* ---- accepting -------------------------------------------------------- */

static void
refuse(const struct listener *listener, int fd, const char *endpoint,
    const char *status, const char *reason)
{
	const struct conf *conf = listener->doorman->process->conf;
	char line[600];
	int n = snprintf(line, sizeof(line), "421 %s %s %s\r\n", status,
	    conf->host, reason);

	/* Whether it arrives is not worth waiting for. */
	if (n > 0 && !listener->is_tls &&
	    send(fd, line, (size_t)n, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		reason = "could not be told";
	close(fd);
	event(EV_SESSION_REFUSED, NULL, "client", slice_of(endpoint),
	    "listener", slice_of(listener->text), "code", slice_of(status),
	    "reason", slice_of(reason), NULL);
}

static bool
is_stranger(const struct listener *listener, const struct net *net)
{
	return !listener->is_submission &&
	    !policy_knows(listener->doorman->policy, net);
}

/* Why not, or NULL.  sessions: of this client, with the new one. */
static const char *
refusal(const struct listener *listener, const struct net *net,
    unsigned sessions, const char **out_status)
{
	struct doorman *doorman = listener->doorman;
	const struct conf_limits *limits = &doorman->process->conf->limits;
	enum shed_level level = shed_level(session_count(doorman),
	    limits->sessions);

	*out_status = "4.3.2";
	if (!crew_has_room(crew_of(listener)) ||
	    (level >= SHED_SECOND && !shed_admits(level,
	    is_stranger(listener, net), sessions - 1))) {
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
admit_client(struct listener *listener, int fd,
    const struct sockaddr *address)
{
	struct doorman *doorman = listener->doorman;
	struct client_count *client;
	const char *reason, *status;
	char endpoint[ENDPOINT_BYTES];
	unsigned sessions;
	struct net net;

	net_endpoint_text(address, endpoint, sizeof(endpoint));
	net_of_sockaddr(address, &net);
	client = clients_enter(doorman->clients, &net, &sessions);
	reason = refusal(listener, &net, sessions, &status);
	if (reason != NULL) {
		clients_leave(doorman->clients, &client);
		refuse(listener, fd, endpoint, status, reason);
		return;
	}
	crew_give(crew_of(listener), fd, endpoint, listener->text,
	    listener->is_tls, client);
	doorman_weigh(doorman);
}

void
doorman_weigh(struct doorman *doorman)
{
	unsigned limit = doorman->process->conf->limits.sessions;
	unsigned sessions = session_count(doorman);
	int level = (int)shed_level(sessions, limit);
	char line[32];

	counters_tell(TALLY_SESSIONS, SLICE(""), sessions);
	/* workers make no difference above SHED_WAITING */
	if (level > (int)SHED_WAITING)
		level = (int)SHED_WAITING;
	if (level == doorman->pressure)
		return;
	doorman->pressure = level;
	snprintf(line, sizeof(line), "pressure %d", level);
	for (int i = 0; i < CREW_COUNT; i++)
		crew_tell(doorman->crews[i], line);
	event(EV_SESSION_PRESSURE, NULL, "level", event_number(level),
	    "sessions", event_number((int64_t)sessions),
	    "limit", event_number((int64_t)limit), NULL);
}

/* A proxy has said whose connection it is. */
void
doorman_on_arrival(void *context, const char *listener, int fd,
    const struct sockaddr *address)
{
	struct doorman *doorman = context;

	for (struct listener *l = doorman->listeners; l != NULL; l = l->next)
		if (strcmp(l->text, listener) == 0) {
			admit_client(l, fd, address);
			return;
		}
	close(fd);		/* a reload took the listener away */
}

static void
admit(struct listener *listener, int fd, const struct sockaddr *address)
{
	struct sockaddr_in here = { .sin_family = AF_INET,
	    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct doorman *doorman = listener->doorman;
	struct net net;

	if (address->sa_family == AF_UNIX) {	/* somebody here */
		admit_client(listener, fd, (const struct sockaddr *)&here);
		return;
	}
	net_of_sockaddr(address, &net);
	if (peers_trust(doorman->peers, &net) & 1u << TRUST_PROXY)
		arrivals_add(doorman->arrivals, fd, listener->text, address);
	else
		admit_client(listener, fd, address);
}

static void
on_pause_end(void *context)
{
	struct doorman *doorman = context;

	doorman->is_paused = false;
	doorman_watch_listeners(doorman);
}

/* Level-triggered: what cannot be accepted now would wake us for ever. */
static void
pause_accepting(struct doorman *doorman)
{
	warning("cannot accept a connection: %s", strerror(errno));
	doorman->is_paused = true;
	timer_set(doorman->process->loop, &doorman->pause_timer,
	    clock_steady_ms() + PAUSE_FOR_MS, on_pause_end, doorman);
}

void
doorman_on_listener(void *context, unsigned ready)
{
	struct listener *listener = context;
	struct doorman *doorman = listener->doorman;
	struct sockaddr_storage address;
	socklen_t length;

	for (int i = 0; i < ACCEPTS_MAX && can_accept(listener); i++) {
		int fd;

		length = sizeof(address);
		/* who has no name may have no family either */
		address.ss_family = AF_UNIX;
		fd = accept4(listener->fd, (struct sockaddr *)&address,
		    &length, SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (fd >= 0) {
			admit(listener, fd, (struct sockaddr *)&address);
			continue;
		}
		if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS ||
		    errno == ENOMEM)
			pause_accepting(doorman);
		if (errno != ECONNABORTED && errno != EINTR)
			break;
	}
	doorman_watch_listeners(doorman);
}
