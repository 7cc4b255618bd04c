/* dial.c - a connection to one place, on its way
 *
 * In     an address; readiness of a socket
 * Out    a connected descriptor, or why there is none
 * Holds  the socket until then
 * Spec   dial.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <unistd.h>

#include "base/mem.h"
#include "share/redis/dial.h"
#include "tls/outward/client_stream.h"

#include "base/banned.h"

struct dial {
	int		 fd;
	struct watch	*watch;
	dial_fn		*fn;
	void		*context;
};

static void
dial_on_ready(void *context, unsigned ready)
{
	struct dial *dial = context;
	dial_fn *fn = dial->fn;
	int trouble = 0, on = 1, fd = dial->fd;
	socklen_t n = sizeof(trouble);
	struct err err;

	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &trouble, &n) != 0)
		trouble = errno;
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	context = dial->context;
	if (trouble == 0)
		dial->fd = -1;
	dial_free(&dial);
	errno = trouble;
	if (trouble != 0)
		(void)err_sys(&err, "connect");
	fn(context, trouble == 0 ? fd : -1, &err);
}

struct dial *
dial_new(struct loop *loop, const struct store_place *place, dial_fn *fn,
    void *context, struct err *err)
{
	struct dial *dial = mem_alloc(1, sizeof(*dial));

	dial->fn = fn;
	dial->context = context;
	dial->fd = socket(place->address.ss_family,
	    SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (dial->fd < 0 || (connect(dial->fd,
	    (const struct sockaddr *)&place->address, place->length) != 0 &&
	    errno != EINPROGRESS)) {
		(void)err_sys(err, "connect");
		dial_free(&dial);
		return NULL;
	}
	dial->watch = loop_watch(loop, dial->fd, LOOP_WRITE, dial_on_ready,
	    dial);
	return dial;
}

void
dial_free(struct dial **pdial)
{
	struct dial *dial = *pdial;

	if (dial == NULL)
		return;
	watch_free(&dial->watch);
	if (dial->fd >= 0)
		close(dial->fd);
	mem_free(pdial);
}

int
dial_encrypt(struct stream *stream, struct tls_client *tls, const char *host,
    struct err *err)
{
	char key[TLS_KEY_BYTES];
	const struct tls_goal goal = { .key = key, .sni = host,
	    .names = &host, .name_count = 1, .is_strict = true };

	snprintf(key, sizeof(key), "redis %s", host);
	return tls == NULL ? 0 : stream_start_tls_client(stream, tls, &goal,
	    err);
}
