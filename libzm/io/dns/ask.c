/* ask.c - many questions to the DNS at once, none of which blocks
 *
 * In     questions; datagrams of name servers, streams where those are cut
 * Out    one call for each question
 * Holds  a socket and a timer for each question on its way
 * Trusts no datagram: it comes from the server that was asked, to the port
 *        it was asked from, and repeats id and question
 * Spec   RFC 1035 sections 4.2.1, 4.2.2; RFC 5452 section 9; RFC 7766
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/str.h"
#include "io/dns/ask.h"

#include "base/banned.h"

enum { TRIES = 2, ANSWER_BYTES_MAX = 4096,
	LENGTH_BYTES = 2 };	/* in front of a message on a stream */

struct flight {
	struct dns_asker	*asker;
	unsigned char		 query[DNS_QUERY_BYTES_MAX];
	size_t			 query_bytes;	/* 0: no domain */
	dns_answer_fn		*fn;
	void			*context;
	int			 fd;		/* -1: waits */
	struct watch		*watch;
	struct timer		 timer;
	unsigned		 tries;
	struct str		 in;		/* from a stream */
	TAILQ_ENTRY(flight)	 entry;
};

TAILQ_HEAD(flight_list, flight);

struct dns_asker {
	struct loop		*loop;
	struct dns_address	 servers[DNS_SERVERS_MAX];
	size_t			 server_count;
	struct flight_list	 waiting, flying;
	unsigned		 flying_count;
};

static void flight_try(struct flight *flight);

static void
socket_close(struct flight *flight)
{
	watch_free(&flight->watch);
	if (flight->fd >= 0)
		close(flight->fd);
	flight->fd = -1;
	str_release(&flight->in);
}

static void
next_take_off(struct dns_asker *asker)
{
	struct flight *next = TAILQ_FIRST(&asker->waiting);

	if (next == NULL || asker->flying_count >= DNS_FLIGHTS_MAX)
		return;
	TAILQ_REMOVE(&asker->waiting, next, entry);
	TAILQ_INSERT_TAIL(&asker->flying, next, entry);
	asker->flying_count++;
	flight_try(next);
}

static void
flight_end(struct flight *flight, enum dns_result result,
    const unsigned char *answer, size_t n)
{
	struct dns_asker *asker = flight->asker;

	socket_close(flight);
	timer_clear(&flight->timer);
	TAILQ_REMOVE(&asker->flying, flight, entry);
	asker->flying_count--;
	flight->fn(flight->context, result, answer, n);
	mem_free(&flight);
	next_take_off(asker);
}

/* ---- a stream, for an answer that a datagram has no room for ------------ */

/* The server of the try that is under way. */
static const struct dns_address *
flight_server(const struct flight *flight)
{
	const struct dns_asker *asker = flight->asker;

	return &asker->servers[(flight->tries - 1) % asker->server_count];
}

static void
flight_land(struct flight *flight, const unsigned char *answer, size_t n)
{
	enum dns_result result = dns_answer_result(answer, n);

	if (result == DNS_TRY_AGAIN && flight->tries < TRIES)
		flight_try(flight);
	else
		flight_end(flight, result, answer, n);
}

/* RFC 1035 section 4.2.2 */
static void
on_stream(void *context, unsigned ready)
{
	struct flight *flight = context;
	struct str answer;
	ssize_t n = recv(flight->fd, str_room(&flight->in, ANSWER_BYTES_MAX),
	    ANSWER_BYTES_MAX, 0);
	const unsigned char *p;
	size_t length;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		flight_try(flight);
		return;
	}
	flight->in.len += (size_t)n;
	p = (const unsigned char *)flight->in.buf;
	length = flight->in.len < LENGTH_BYTES ? SIZE_MAX / 2 :
	    (size_t)p[0] << 8 | p[1];
	if (flight->in.len < LENGTH_BYTES + length)
		return;
	if (!dns_is_answer(p + LENGTH_BYTES, length, flight->query,
	    flight->query_bytes)) {
		flight_try(flight);
		return;
	}
	answer = flight->in;		/* outlives the socket */
	str_init(&flight->in);
	flight_land(flight, p + LENGTH_BYTES, length);
	str_release(&answer);
}

static void
on_connected(void *context, unsigned ready)
{
	struct flight *flight = context;
	unsigned char out[LENGTH_BYTES + DNS_QUERY_BYTES_MAX];
	size_t n = LENGTH_BYTES + flight->query_bytes;

	out[0] = (unsigned char)(flight->query_bytes >> 8);
	out[1] = (unsigned char)(flight->query_bytes & 0xff);
	memcpy(out + LENGTH_BYTES, flight->query, flight->query_bytes);
	if (send(flight->fd, out, n, MSG_NOSIGNAL) != (ssize_t)n) {
		flight_try(flight);
		return;
	}
	watch_free(&flight->watch);
	flight->watch = loop_watch(flight->asker->loop, flight->fd, LOOP_READ,
	    on_stream, flight);
}

/* The same question to the same server, within the same time. */
static void
flight_stream(struct flight *flight)
{
	const struct dns_address *server = flight_server(flight);

	socket_close(flight);
	flight->fd = socket(server->address.ss_family,
	    SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (flight->fd < 0 || (connect(flight->fd,
	    (const struct sockaddr *)&server->address, server->length) != 0 &&
	    errno != EINPROGRESS)) {
		flight_try(flight);
		return;
	}
	flight->watch = loop_watch(flight->asker->loop, flight->fd, LOOP_WRITE,
	    on_connected, flight);
}

/* ---- a datagram --------------------------------------------------------- */

static void
on_datagram(void *context, unsigned ready)
{
	static unsigned char answer[ANSWER_BYTES_MAX];
	struct flight *flight = context;
	ssize_t n = recv(flight->fd, answer, sizeof(answer), 0);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n < 0) {			/* nobody listens there */
		flight_try(flight);
		return;
	}
	if (!dns_is_answer(answer, (size_t)n, flight->query,
	    flight->query_bytes))
		return;			/* a stranger's, or late */
	if (dns_answer_is_cut(answer, (size_t)n))
		flight_stream(flight);	/* RFC 7766 section 5 */
	else
		flight_land(flight, answer, (size_t)n);
}

static void
on_time(void *context)
{
	struct flight *flight = context;

	if (flight->query_bytes == 0)
		flight_end(flight, DNS_NO_NAME, NULL, 0);
	else
		flight_try(flight);
}

static bool
asker_socket_open(struct flight *flight)
{
	struct dns_asker *asker = flight->asker;
	const struct dns_address *server = &asker->servers[flight->tries %
	    asker->server_count];

	flight->fd = socket(server->address.ss_family,
	    SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (flight->fd < 0 || connect(flight->fd,
	    (const struct sockaddr *)&server->address, server->length) != 0)
		return false;
	arc4random_buf(flight->query, 2);	/* its id */
	if (send(flight->fd, flight->query, flight->query_bytes,
	    MSG_NOSIGNAL) < 0)
		return false;
	flight->watch = loop_watch(asker->loop, flight->fd, LOOP_READ,
	    on_datagram, flight);
	return true;
}

/* The next try, or the end of them. */
static void
flight_try(struct flight *flight)
{
	struct loop *loop = flight->asker->loop;

	socket_close(flight);
	if (flight->query_bytes == 0) {
		timer_set(loop, &flight->timer, clock_steady_ms(), on_time,
		    flight);
		return;
	}
	if (flight->tries >= TRIES || flight->asker->server_count == 0) {
		flight_end(flight, DNS_TRY_AGAIN, NULL, 0);
		return;
	}
	/* a socket that fails waits like a server that does not answer */
	if (!asker_socket_open(flight))
		socket_close(flight);
	flight->tries++;
	timer_set(loop, &flight->timer, clock_steady_ms() + DNS_TRY_MS,
	    on_time, flight);
}

struct dns_asker *
dns_asker_new(struct loop *loop)
{
	struct dns_asker *asker = mem_alloc(1, sizeof(*asker));

	asker->loop = loop;
	asker->server_count = dns_servers(asker->servers);
	TAILQ_INIT(&asker->waiting);
	TAILQ_INIT(&asker->flying);
	return asker;
}

static void
list_free(struct flight_list *list)
{
	struct flight *flight;

	while ((flight = TAILQ_FIRST(list)) != NULL) {
		TAILQ_REMOVE(list, flight, entry);
		socket_close(flight);
		timer_clear(&flight->timer);
		mem_free(&flight);
	}
}

void
dns_asker_free(struct dns_asker **asker)
{
	if (*asker == NULL)
		return;
	list_free(&(*asker)->waiting);
	list_free(&(*asker)->flying);
	mem_free(asker);
}

void
dns_ask(struct dns_asker *asker, const char *name, enum dns_type type,
    dns_answer_fn *fn, void *context)
{
	struct flight *flight = mem_alloc(1, sizeof(*flight));

	flight->asker = asker;
	flight->fd = -1;
	str_init(&flight->in);
	flight->fn = fn;
	flight->context = context;
	flight->query_bytes = dns_make_query(name, type, 0, flight->query);
	TAILQ_INSERT_TAIL(&asker->waiting, flight, entry);
	if (asker->server_count > 0) {
		next_take_off(asker);
		return;
	}
	/* no server at all: say so in the loop */
	TAILQ_REMOVE(&asker->waiting, flight, entry);
	TAILQ_INSERT_TAIL(&asker->flying, flight, entry);
	asker->flying_count++;
	flight->tries = TRIES;
	timer_set(asker->loop, &flight->timer, clock_steady_ms(), on_time,
	    flight);
}
