/* idle.c - clients that hold a session and do little with it
 *
 * In     options; see usage
 * Out    "ready" when all are greeted; at the end of stdin how many are
 *        still there
 * Holds  a connection each, from addresses of 127.1.0.0/16 in turn; with
 *        --tls encrypted from the first byte
 *
 * SPDX-License-Identifier: ISC
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "tests/bench/bench.h"

enum { AT_ONCE = 200, EVENTS = 256, WAIT_MS = 60000, WAIT_TLS_MS = 300000 };

static const char slow_text[] = "EHLO slow.bench.test\r\nNOOP\r\n";

struct client {
	int		 fd;		/* -1: the server has closed it */
	SSL		*ssl;		/* NULL: in the clear */
	bool		 is_greeted, is_slow;
	size_t		 sent;		/* of slow_text, endlessly */
};

static struct client *clients;
static unsigned count = 10000, greeted, gone, slow_percent = 50;
static int port, epoll, patience_ms;	/* 0: as above */
static SSL_CTX *context;	/* NULL: no TLS */

static void
dial(struct client *client, unsigned number)
{
	struct sockaddr_in there = { .sin_family = AF_INET,
	    .sin_port = htons((uint16_t)port),
	    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct sockaddr_in here = { .sin_family = AF_INET,
	    .sin_addr.s_addr = htonl(0x7f010001u + number % 2000) };
	/* a client of TLS speaks first, as soon as it is connected */
	struct epoll_event event = { .data.u32 = number,
	    .events = context != NULL ? EPOLLIN | EPOLLOUT : EPOLLIN };
	int one = 1;

	client->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	if (client->fd < 0)
		die("socket");
	/* the port is chosen with the other end known: there are enough */
	(void)setsockopt(client->fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT,
	    &one, sizeof(one));
	if (bind(client->fd, (struct sockaddr *)&here, sizeof(here)) != 0)
		die("bind");
	if (connect(client->fd, (struct sockaddr *)&there,
	    sizeof(there)) != 0 && errno != EINPROGRESS)
		die("connect");
	if (epoll_ctl(epoll, EPOLL_CTL_ADD, client->fd, &event) != 0)
		die("epoll_ctl");
	if (context != NULL) {
		client->ssl = SSL_new(context);
		if (client->ssl == NULL ||
		    SSL_set_fd(client->ssl, client->fd) != 1)
			die("TLS");
		SSL_set_connect_state(client->ssl);
	}
	client->is_slow = number % 100 < slow_percent;
}

/* As recv; EAGAIN while the handshake lasts. */
static ssize_t
receive(struct client *client, char *bytes, size_t size)
{
	int n, why;

	if (client->ssl == NULL)
		return recv(client->fd, bytes, size, 0);
	n = SSL_read(client->ssl, bytes, (int)size);
	if (n > 0)
		return n;
	why = SSL_get_error(client->ssl, n);
	errno = why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE ?
	    EAGAIN : EIO;
	return why == SSL_ERROR_ZERO_RETURN ? 0 : -1;
}

static bool
say(struct client *client, char byte)
{
	if (client->ssl != NULL)
		return client->is_greeted &&
		    SSL_write(client->ssl, &byte, 1) == 1;
	return send(client->fd, &byte, 1, MSG_NOSIGNAL) == 1;
}

static void
hear(struct client *client)
{
	char bytes[4096];
	ssize_t n = receive(client, bytes, sizeof(bytes));

	if (n > 0) {
		if (!client->is_greeted) {
			client->is_greeted = true;
			greeted++;
		}
		return;
	}
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	SSL_free(client->ssl);
	client->ssl = NULL;
	close(client->fd);
	client->fd = -1;
	gone++;
}

static void
turn(int wait_ms)
{
	struct epoll_event events[EVENTS];
	int n = epoll_wait(epoll, events, EVENTS, wait_ms);

	for (int i = 0; i < n; i++) {
		struct epoll_event *event = &events[i];

		if (event->data.u32 >= count)
			continue;		/* stdin */
		if (event->events & EPOLLOUT) {
			event->events = EPOLLIN;
			(void)epoll_ctl(epoll, EPOLL_CTL_MOD,
			    clients[event->data.u32].fd, event);
		}
		hear(&clients[event->data.u32]);
	}
}

/* One byte for each slow one. */
static void
drip(void)
{
	for (unsigned i = 0; i < count; i++) {
		struct client *client = &clients[i];
		char byte = slow_text[client->sent % (sizeof(slow_text) - 1)];

		if (client->fd >= 0 && client->is_slow && say(client, byte))
			client->sent++;
	}
}

static void
connect_all(void)
{
	double end = now_s() + (patience_ms > 0 ? patience_ms :
	    context != NULL ? WAIT_TLS_MS : WAIT_MS) /
	    1000.0;

	for (unsigned made = 0; greeted + gone < count;) {
		while (made < count && made < greeted + gone + AT_ONCE) {
			dial(&clients[made], made);
			made++;
		}
		turn(100);
		if (now_s() > end)
			break;
	}
}

static unsigned
left(void)
{
	unsigned number = 0;

	for (unsigned i = 0; i < count; i++)
		number += clients[i].is_greeted && clients[i].fd >= 0;
	return number;
}

/* Until stdin ends. */
static void
linger(void)
{
	double next = now_s();
	struct epoll_event event = { .events = EPOLLIN,
	    .data.u32 = count };
	char byte;

	(void)fcntl(STDIN_FILENO, F_SETFL, O_NONBLOCK);
	(void)epoll_ctl(epoll, EPOLL_CTL_ADD, STDIN_FILENO, &event);
	for (;;) {
		ssize_t n = read(STDIN_FILENO, &byte, 1);

		if (n == 0 || (n < 0 && errno != EAGAIN))
			return;
		if (now_s() >= next) {
			drip();
			next += 1;
		}
		turn(100);
	}
}

int
main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "port", required_argument, NULL, 'p' },
		{ "count", required_argument, NULL, 'n' },
		{ "slow", required_argument, NULL, 's' },
		{ "tls", no_argument, NULL, 't' },
		{ "wait", required_argument, NULL, 'w' }, { NULL, 0, NULL, 0 }
	};
	struct rlimit limit;
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1)
		switch (option) {
		case 'p':
			port = atoi(optarg);
			break;
		case 'n':
			count = (unsigned)atoi(optarg);
			break;
		case 's':
			slow_percent = (unsigned)atoi(optarg);
			break;
		case 'w':
			patience_ms = atoi(optarg) * 1000;
			break;
		case 't':
			context = SSL_CTX_new(TLS_client_method());
			if (context == NULL)
				die("TLS");
			(void)SSL_CTX_set_mode(context,
			    SSL_MODE_RELEASE_BUFFERS);
			break;
		default:
			fprintf(stderr, "usage: idle --port N [--count N] "
			    "[--slow PERCENT] [--tls] [--wait SECONDS]\n");
			return 64;
		}
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &limit);
	}
	clients = calloc(count, sizeof(*clients));
	epoll = epoll_create1(0);
	if (clients == NULL || epoll < 0)
		die("start");
	connect_all();
	printf("ready %u\n", left());
	fflush(stdout);
	linger();
	printf("left %u\n", left());
	return 0;
}
