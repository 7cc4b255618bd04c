/* arrivals.c - connections of proxies, until they have said for whom
 *
 * In     connections of peers that are trusted to be proxies
 * Out    connections and the address of the client behind each
 * Holds  a descriptor, a timer and the bytes so far, for each
 * Trusts the peer to name its client, nothing else: bytes, time and number
 *        are bounded, and not one byte after the header is taken
 * Spec   haproxy, The PROXY protocol
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/queue.h>
#include <unistd.h>

#include "base/clock.h"
#include "journal/event.h"
#include "base/mem.h"
#include "grammar/net.h"
#include "grammar/smtp/proxy.h"
#include "smtpserver/listener/arrivals.h"

#include "base/banned.h"

enum { TEXT_BYTES = 128 };

struct arrival {
	struct arrivals		*arrivals;
	int			 fd;
	struct watch		*watch;
	struct timer		 timer;
	char			 bound_to[TEXT_BYTES];
	struct sockaddr_storage	 address;
	struct str		 header;
	TAILQ_ENTRY(arrival)	 entry;
};

struct arrivals {
	struct loop		*loop;
	arrivals_fn		*fn;
	void			*context;
	unsigned		 count;
	TAILQ_HEAD(, arrival)	 list;
};

struct arrivals *
arrivals_new(struct loop *loop, arrivals_fn *fn, void *context)
{
	struct arrivals *arrivals = mem_alloc(1, sizeof(*arrivals));

	arrivals->loop = loop;
	arrivals->fn = fn;
	arrivals->context = context;
	TAILQ_INIT(&arrivals->list);
	return arrivals;
}

static void
arrival_free(struct arrival *arrival)
{
	TAILQ_REMOVE(&arrival->arrivals->list, arrival, entry);
	arrival->arrivals->count--;
	watch_free(&arrival->watch);
	timer_clear(&arrival->timer);
	str_release(&arrival->header);
	if (arrival->fd >= 0)
		close(arrival->fd);
	mem_free(&arrival);
}

void
arrivals_free(struct arrivals **arrivals)
{
	struct arrival *arrival;

	if (*arrivals == NULL)
		return;
	while ((arrival = TAILQ_FIRST(&(*arrivals)->list)) != NULL)
		arrival_free(arrival);
	mem_free(arrivals);
}

void
arrivals_in_child(struct arrivals *arrivals)
{
	struct arrival *arrival;

	if (arrivals == NULL)
		return;
	TAILQ_FOREACH(arrival, &arrivals->list, entry)
		close(arrival->fd);
}

unsigned
arrivals_count(const struct arrivals *arrivals)
{
	return arrivals->count;
}

static void
arrival_refuse(struct arrival *arrival, const char *reason)
{
	char endpoint[TEXT_BYTES];

	net_endpoint_text((const struct sockaddr *)&arrival->address,
	    endpoint, sizeof(endpoint));
	event(EV_PROXY_REFUSED, NULL, "client", slice_of(endpoint),
	    "listener", slice_of(arrival->bound_to), "reason",
	    slice_of(reason), NULL);
	arrival_free(arrival);
}

static void
arrival_on_time(void *context)
{
	arrival_refuse(context, "no PROXY header in time");
}

static void
arrival_go_on(struct arrival *arrival, const struct proxy *proxy)
{
	struct arrivals *arrivals = arrival->arrivals;
	int fd = arrival->fd;

	arrival->fd = -1;
	watch_free(&arrival->watch);
	arrivals->fn(arrivals->context, arrival->bound_to, fd,
	    (const struct sockaddr *)(proxy->is_local ? &arrival->address :
	    &proxy->client));
	arrival_free(arrival);
}

/* Look at what has come, then take no more than the header of it. */
static void
arrival_on_readable(void *context, unsigned ready)
{
	struct arrival *arrival = context;
	struct str *header = &arrival->header;
	size_t before = header->len, room = PROXY_BYTES_MAX - before, take;
	char *at = str_room(header, room);
	struct proxy proxy;
	struct err err;
	ssize_t n = recv(arrival->fd, at, room, MSG_PEEK | MSG_DONTWAIT);
	int got;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		arrival_refuse(arrival, "closed before its PROXY header");
		return;
	}
	header->len += (size_t)n;
	got = proxy_parse(str_slice(header), &proxy, &err);
	if (got < 0) {
		arrival_refuse(arrival, err.text);
		return;
	}
	take = got == 0 ? (size_t)n : proxy.bytes - before;
	if (recv(arrival->fd, at, take, MSG_DONTWAIT) != (ssize_t)take)
		arrival_refuse(arrival, "its PROXY header cannot be read");
	else if (got == 1)
		arrival_go_on(arrival, &proxy);
}

static socklen_t
arrival_address_bytes(const struct sockaddr *address)
{
	return address->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6) :
	    sizeof(struct sockaddr_in);
}

void
arrivals_add(struct arrivals *arrivals, int fd, const char *bound_to,
    const struct sockaddr *address)
{
	struct arrival *arrival = mem_alloc(1, sizeof(*arrival));

	arrival->arrivals = arrivals;
	arrival->fd = fd;
	strlcpy(arrival->bound_to, bound_to, sizeof(arrival->bound_to));
	memcpy(&arrival->address, address, arrival_address_bytes(address));
	str_init(&arrival->header);
	TAILQ_INSERT_TAIL(&arrivals->list, arrival, entry);
	if (++arrivals->count > ARRIVALS_MAX) {
		arrival_refuse(arrival, "too many wait for their PROXY header");
		return;
	}
	arrival->watch = loop_watch(arrivals->loop, fd, LOOP_READ,
	    arrival_on_readable, arrival);
	timer_set(arrivals->loop, &arrival->timer,
	    clock_steady_ms() + ARRIVAL_FOR_MS, arrival_on_time, arrival);
}
