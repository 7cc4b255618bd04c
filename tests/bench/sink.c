/* sink.c - a next hop that takes everything and counts
 *
 * In     --port N (0: any free one), --expect RECIPIENTS; --tls PEM (offer
 *        STARTTLS with this certificate and key), --chunking (offer BDAT),
 *        --delay MS (as if it were so far away: each answer waits),
 *        --any (listen on all addresses), --hold N (until SIGUSR1 no
 *        message is answered), --refuse N (each Nth recipient is unknown)
 * Out    "port N" at once; "held SECONDS", the steady-clock moment in which
 *        N messages waited for their answer; when RECIPIENTS have arrived
 *        and been answered, or at SIGTERM, one JSON line: counts and the
 *        moment of the last one
 * Holds  one struct session a connection
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "tests/bench/bench.h"

enum { IN_BYTES = 262144, OUT_BYTES = 65536 };

struct session {
	int		fd;
	SSL		*ssl;
	bool		is_data, is_last;
	size_t		chunk_left;	/* of BDAT */
	struct session	*next;		/* of those whose answer waits */
	bool		is_waiting, is_gone, is_held;
	double		due_s;
	unsigned	rcpts;
	char		in[IN_BYTES];
	size_t		in_n;
	char		out[OUT_BYTES];
	size_t		out_n;
};

static unsigned long messages, recipients, connections, expected;
static double last_s;
static SSL_CTX *tls;
static bool has_chunking;
static double delay_s;
static bool is_for_any;
static struct session *waiting, **waiting_end = &waiting;
static int poller;
static unsigned long hold;		/* so many messages; 0: none */
static unsigned long refuse, asked;	/* each so manyth recipient; 0: none */
static volatile sig_atomic_t is_over, is_let_go;

static void
on_term(int number)
{
	is_over = number;
}

static void
on_let_go(int number)
{
	is_let_go = number;
}

static void
say(struct session *s, const char *text)
{
	size_t n = strlen(text);

	if (s->out_n + n > OUT_BYTES)
		exit(1);
	memcpy(s->out + s->out_n, text, n);
	s->out_n += n;
}

static void
flush(struct session *s)
{
	ssize_t n = 0;

	if (s->out_n > 0)
		n = s->ssl != NULL ? SSL_write(s->ssl, s->out, (int)s->out_n) :
		    write(s->fd, s->out, s->out_n);
	if (n < 0 && s->ssl == NULL && errno != EPIPE && errno != ECONNRESET)
		die("write");
	s->out_n = 0;
}

/* All wait equally long: first in, first out.  Those that are held wait for
 * the signal. */
static void
wait_turn(struct session *s)
{
	s->is_waiting = true;
	s->due_s = now_s() + delay_s;
	s->next = NULL;
	*waiting_end = s;
	waiting_end = &s->next;
}

/* Answer who waited long enough; returns milliseconds to the next. */
static int
turns(void)
{
	double now = now_s();

	while (waiting != NULL && (waiting->is_held ? is_let_go :
	    waiting->due_s <= now)) {
		struct session *s = waiting;

		waiting = s->next;
		if (waiting == NULL)
			waiting_end = &waiting;
		s->is_waiting = false;
		flush(s);
		if (s->is_gone)
			free(s);
	}
	return waiting == NULL || waiting->is_held ? 1000 :
	    (int)((waiting->due_s - now) * 1000) + 1;
}

static void
hello(struct session *s)
{
	say(s, "250-sink.test\r\n250-PIPELINING\r\n250-8BITMIME\r\n"
	    "250-ENHANCEDSTATUSCODES\r\n");
	if (tls != NULL && s->ssl == NULL)
		say(s, "250-STARTTLS\r\n");
	if (has_chunking)
		say(s, "250-CHUNKING\r\n");
	say(s, "250 SIZE 0\r\n");
}

static void
starttls(struct session *s)
{
	say(s, "220 2.0.0 go on\r\n");
	flush(s);
	s->ssl = SSL_new(tls);
	SSL_set_fd(s->ssl, s->fd);
	SSL_set_accept_state(s->ssl);
}

static void
command(struct session *s, const char *line)
{
	if (strncasecmp(line, "EHLO", 4) == 0) {
		hello(s);
	} else if (strncasecmp(line, "BDAT", 4) == 0) {
		char *end;

		s->chunk_left = strtoul(line + 4, &end, 10);
		s->is_last = strncasecmp(end, " LAST", 5) == 0;
	} else if (strncasecmp(line, "STARTTLS", 8) == 0 && tls != NULL) {
		starttls(s);
	} else if (strncasecmp(line, "RCPT", 4) == 0) {
		if (refuse > 0 && ++asked % refuse == 0) {
			say(s, "550 5.1.1 nobody of this name\r\n");
			return;
		}
		s->rcpts++;
		say(s, "250 2.1.5 ok\r\n");
	} else if (strncasecmp(line, "DATA", 4) == 0) {
		s->is_data = true;
		say(s, "354 go on\r\n");
	} else if (strncasecmp(line, "QUIT", 4) == 0) {
		say(s, "221 2.0.0 bye\r\n");
	} else {
		if (strncasecmp(line, "MAIL", 4) == 0)
			s->rcpts = 0;
		say(s, "250 2.0.0 ok\r\n");
	}
}

static void
message_taken(struct session *s)
{
	s->is_data = false;
	messages++;
	recipients += s->rcpts;
	last_s = now_s();
	say(s, "250 2.0.0 taken\r\n");
	s->is_held = hold > 0 && !is_let_go;
	if (hold > 0 && messages == hold) {
		printf("held %.6f\n", last_s);
		fflush(stdout);
	}
	if (expected > 0 && recipients >= expected)
		is_over = 1;
}

/* Bytes of in that were used: the message, or all but a possible start of
 * its end. */
static size_t
take_data(struct session *s, const char *p, size_t n)
{
	const char *end;

	if (n >= 3 && memcmp(p, ".\r\n", 3) == 0) {
		message_taken(s);
		return 3;
	}
	end = memmem(p, n, "\r\n.\r\n", 5);
	if (end != NULL) {
		message_taken(s);
		return (size_t)(end - p) + 5;
	}
	return n > 4 ? n - 4 : 0;
}

static size_t
take_chunk(struct session *s, size_t n)
{
	if (n > s->chunk_left)
		n = s->chunk_left;
	s->chunk_left -= n;
	if (s->chunk_left == 0 && s->is_last)
		message_taken(s);
	else if (s->chunk_left == 0)
		say(s, "250 2.0.0 more\r\n");
	return n;
}

/* As read(2), whatever is spoken. */
static ssize_t
receive(struct session *s)
{
	int n;

	if (s->ssl == NULL)
		return read(s->fd, s->in + s->in_n, IN_BYTES - s->in_n);
	n = SSL_read(s->ssl, s->in + s->in_n, (int)(IN_BYTES - s->in_n));
	if (n > 0)
		return n;
	errno = EAGAIN;
	return SSL_get_error(s->ssl, n) == SSL_ERROR_WANT_READ ? -1 : 0;
}

/* false: it is over. */
static bool
session_read(struct session *s)
{
	ssize_t got = receive(s);
	size_t at = 0;

	if (got <= 0 && !(got < 0 && errno == EAGAIN)) {
		SSL_free(s->ssl);
		s->ssl = NULL;
		close(s->fd);
		s->fd = -1;
		s->is_gone = true;
		s->out_n = 0;
		if (!s->is_waiting)
			free(s);
		return false;
	}
	s->in_n += got > 0 ? (size_t)got : 0;
	while (at < s->in_n) {
		char *p = s->in + at, *lf;
		size_t n = s->in_n - at;

		if (s->chunk_left > 0) {
			at += take_chunk(s, n);
			continue;
		}
		if (s->is_data) {
			size_t used = take_data(s, p, n);

			at += used;
			if (s->is_data)
				break;
			continue;
		}
		lf = memchr(p, '\n', n);
		if (lf == NULL)
			break;
		command(s, p);
		at += (size_t)(lf - p) + 1;
	}
	memmove(s->in, s->in + at, s->in_n - at);
	s->in_n -= at;
	if ((delay_s == 0 && !s->is_held) || s->out_n == 0)
		flush(s);
	else if (!s->is_waiting)
		wait_turn(s);
	return got > 0;
}

/* What TLS holds back no poll tells of: until it has nothing more. */
static void
session_serve(struct session *s)
{
	while (session_read(s) && s->ssl != NULL)
		continue;
}

static void
tls_open(const char *pem)
{
	tls = SSL_CTX_new(TLS_server_method());
	if (tls == NULL ||
	    SSL_CTX_use_certificate_chain_file(tls, pem) != 1 ||
	    SSL_CTX_use_PrivateKey_file(tls, pem, SSL_FILETYPE_PEM) != 1)
		die(pem);
	SSL_CTX_set_session_id_context(tls, (const unsigned char *)"s", 1);
}

/* One who waits to be accepted; false: nobody does. */
static bool
session_open(int listener)
{
	int fd = accept(listener, NULL, NULL), on = 1;
	struct session *s;
	struct epoll_event event = { .events = EPOLLIN };

	if (fd < 0 && errno != EAGAIN && errno != ECONNABORTED)
		die("accept");
	if (fd < 0)
		return false;
	s = calloc(1, sizeof(*s));
	if (s == NULL)
		die("calloc");
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	fcntl(fd, F_SETFL, O_NONBLOCK);
	s->fd = fd;
	connections++;
	event.data.ptr = s;
	if (epoll_ctl(poller, EPOLL_CTL_ADD, fd, &event) < 0)
		die("epoll_ctl");
	if (write(fd, "220 sink.test\r\n", 15) < 0)
		die("write");
	return true;
}

static int
listen_on(unsigned port)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
	    .sin_port = htons((uint16_t)port) };
	socklen_t n = sizeof(at);
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = NULL };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), on = 1;

	at.sin_addr.s_addr = htonl(is_for_any ? INADDR_ANY :
	    INADDR_LOOPBACK);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (fd < 0 || bind(fd, (void *)&at, sizeof(at)) < 0 ||
	    listen(fd, 65535) < 0 || getsockname(fd, (void *)&at, &n) < 0)
		die("listen");
	if (epoll_ctl(poller, EPOLL_CTL_ADD, fd, &event) < 0)
		die("epoll_ctl");
	printf("port %u\n", ntohs(at.sin_port));
	fflush(stdout);
	return fd;
}

int
main(int argc, char **argv)
{
	static const struct option rows[] = {
		{ "port", 1, NULL, 'p' }, { "expect", 1, NULL, 'e' },
		{ "delay", 1, NULL, 'd' }, { "tls", 1, NULL, 't' },
		{ "chunking", 0, NULL, 'c' }, { "any", 0, NULL, 'a' },
		{ "hold", 1, NULL, 'h' }, { "refuse", 1, NULL, 'r' },
		{ NULL, 0, NULL, 0 },
	};
	unsigned port = 0;
	int letter, listener;

	while ((letter = getopt_long(argc, argv, "", rows, NULL)) != -1) {
		if (letter == 'p')
			port = (unsigned)strtoul(optarg, NULL, 10);
		else if (letter == 'e')
			expected = strtoul(optarg, NULL, 10);
		else if (letter == 't')
			tls_open(optarg);
		else if (letter == 'd')
			delay_s = strtod(optarg, NULL) / 1000;
		else if (letter == 'h')
			hold = strtoul(optarg, NULL, 10);
		else if (letter == 'r')
			refuse = strtoul(optarg, NULL, 10);
		else if (letter == 'c')
			has_chunking = true;
		else if (letter == 'a')
			is_for_any = true;
		else
			return 64;
	}
	signal(SIGTERM, on_term);
	signal(SIGUSR1, on_let_go);
	signal(SIGPIPE, SIG_IGN);
	poller = epoll_create1(0);
	listener = listen_on(port);
	while (!is_over || waiting != NULL) {
		struct epoll_event ready[64];
		int n = epoll_wait(poller, ready, 64, turns());

		for (int i = 0; i < n; i++) {
			/* all of them: who finds the queue full believes to
			 * be connected, and waits in vain for a greeting */
			while (session_open(listener))
				continue;
			if (ready[i].data.ptr != NULL)
				session_serve(ready[i].data.ptr);
		}
	}
	printf("{\"messages\":%lu,\"recipients\":%lu,\"connections\":%lu,"
	    "\"last_s\":%.6f}\n", messages, recipients, connections, last_s);
	return 0;
}
