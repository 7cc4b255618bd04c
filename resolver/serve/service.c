/* service.c - the two sockets of the resolver, from its start to its end
 *
 * In     datagrams; the end of the lifeline
 * Out    an answer for each question
 * Holds  who asked, until he is answered
 * Trusts no datagram; who can reach a loopback address is of this host
 * Spec   service.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/mem.h"
#include "resolver/serve/service.h"
#include "resolver/serve/streams.h"

#include "base/banned.h"

enum {
	DATAGRAM_BYTES_MAX = 4096,
	DATAGRAMS_A_TURN = 64
};

struct service {
	struct loop	*loop;
	struct questions	*questions;
	int		 datagrams;
	struct watch	*reader, *lifeline;
	struct streams	*streams;
	struct timer	 leave_timer;
};

struct datagram {		/* who asked */
	struct service		*service;
	struct sockaddr_storage	 from;
	socklen_t		 from_bytes;
};

/* questions_answer_fn.  One that cannot be sent was not waited for, or is asked
 * again. */
static void
datagram_on_answer(void *context, struct slice bytes)
{
	struct datagram *datagram = context;

	(void)sendto(datagram->service->datagrams, bytes.p, bytes.n,
	    MSG_DONTWAIT | MSG_NOSIGNAL,
	    (const struct sockaddr *)&datagram->from, datagram->from_bytes);
	mem_free(&datagram);
}

/* false: there is none. */
static bool
service_take_datagram(struct service *service)
{
	static char bytes[DATAGRAM_BYTES_MAX];
	struct datagram *datagram = mem_alloc(1, sizeof(*datagram));
	bool is_taken;
	ssize_t n;

	datagram->service = service;
	datagram->from_bytes = sizeof(datagram->from);
	n = recvfrom(service->datagrams, bytes, sizeof(bytes), MSG_DONTWAIT,
	    (struct sockaddr *)&datagram->from, &datagram->from_bytes);
	if (n < 0) {
		mem_free(&datagram);
		return errno != EAGAIN;
	}
	(void)questions_ask(service->questions,
	    (struct slice){ bytes, (size_t)n }, 0,
	    datagram_on_answer, datagram, &is_taken);
	if (!is_taken)
		mem_free(&datagram);
	return true;
}

static void
service_on_datagrams(void *context, unsigned ready)
{
	struct service *service = context;

	for (int i = 0; i < DATAGRAMS_A_TURN; i++)
		if (!service_take_datagram(service))
			break;
}

/* ---- the end ------------------------------------------------------------ */

static void
service_on_empty(void *context)
{
	struct service *service = context;

	loop_stop(service->loop);
}

static void
service_on_lifeline(void *context, unsigned ready)
{
	struct service *service = context;

	watch_free(&service->lifeline);
	watch_free(&service->reader);
	streams_leave(service->streams);
	timer_set(service->loop, &service->leave_timer,
	    clock_steady_ms() + SERVICE_LEAVE_MS, service_on_empty, service);
	questions_when_empty(service->questions, service_on_empty, service);
}

struct service *
service_new(struct loop *loop, struct questions *questions, int datagrams,
    int listener, int lifeline)
{
	struct service *service = mem_alloc(1, sizeof(*service));

	service->loop = loop;
	service->questions = questions;
	service->datagrams = datagrams;
	service->reader = loop_watch(loop, datagrams, LOOP_READ,
	    service_on_datagrams, service);
	service->streams = streams_new(loop, questions, listener);
	service->lifeline = loop_watch(loop, lifeline, LOOP_READ,
	    service_on_lifeline, service);
	return service;
}

void
service_free(struct service **pservice)
{
	struct service *service = *pservice;

	if (service == NULL)
		return;
	timer_clear(&service->leave_timer);
	watch_free(&service->reader);
	watch_free(&service->lifeline);
	streams_free(&service->streams);
	mem_free(pservice);
}
