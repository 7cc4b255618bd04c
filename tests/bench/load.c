/* load.c - an SMTP client that sends as fast as it is let
 *
 * In     options; see usage
 * Out    one JSON line: counts, the steady-clock moments of the first
 *        connect and of the last 250, latency percentiles
 * Holds  one struct session a connection; one message, made once
 *
 * SPDX-License-Identifier: ISC
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "tests/bench/bench.h"

enum step { GREETING, HELLO, STRANGER, STARTTLS, SHAKE, HELLO_AGAIN, ENVELOPE,
	BODY, BYE };

struct session {
	int		 fd;
	SSL		*ssl;		/* NULL: in the clear */
	enum step	 step;
	unsigned	 replies_due;	/* until the next step */
	bool		 is_refused;
	unsigned	 sent;		/* messages on this connection */
	double		 began_s;	/* of the message under way */
	const char	*out;		/* what is still to be written */
	size_t		 out_n;
	char		*envelope;
	char		 in[8192];
	size_t		 in_n;
};

static struct {
	unsigned	port, sessions, messages, per_connection, rcpts, size;
	unsigned	domains, users;
	bool		is_tls, handshakes;	/* handshakes: nothing else */
	const char	*domain;
	const char	*message;	/* a file: as DATA has it, but for the
					 * last dot; NULL: one is made */
	const char	*sender;
	const char	*client;	/* told by XCLIENT; NULL: not */
} option = { 25, 20, 1000, 0, 1, 4096, 1, 0, false, false,
	"bench.test", NULL, "bench@source.test", NULL };

static char *body;
static size_t body_n;
static unsigned started, accepted, refused, connections;
static double *latencies, first_s, last_s;
static int poller;
static SSL_CTX *tls;

static void
body_read(void)
{
	FILE *file = fopen(option.message, "r");

	body = malloc((1 << 20) + 4);
	if (file == NULL || body == NULL)
		die(option.message);
	body_n = fread(body, 1, 1 << 20, file);
	memcpy(body + body_n, ".\r\n", 3);
	body_n += 3;
	fclose(file);
}

static void
body_make(void)
{
	size_t at;
	int n;

	body = malloc(option.size + 1024);
	if (body == NULL)
		die("malloc");
	n = snprintf(body, 1024, "From: Bench <bench@source.test>\r\n"
	    "To: somebody@%s\r\nSubject: bench\r\n"
	    "Date: Fri, 20 Nov 2026 12:00:00 +0000\r\n"
	    "Message-Id: <bench@source.test>\r\n\r\n", option.domain);
	for (at = (size_t)n; at + 80 < option.size; at += 80)
		snprintf(body + at, 81, "%078zu\r\n", at);
	body_n = at + (size_t)snprintf(body + at, 8, ".\r\n");
}

static void
session_wants(struct session *s, unsigned events)
{
	struct epoll_event event = { .events = events, .data.ptr = s };

	if (epoll_ctl(poller, EPOLL_CTL_MOD, s->fd, &event) < 0)
		die("epoll_ctl");
}

static void
session_write(struct session *s)
{
	while (s->out_n > 0) {
		ssize_t n = s->ssl != NULL ?
		    SSL_write(s->ssl, s->out, (int)s->out_n) :
		    write(s->fd, s->out, s->out_n);

		if (n < 0 && s->ssl != NULL && SSL_get_error(s->ssl,
		    (int)n) == SSL_ERROR_WANT_WRITE)
			errno = EAGAIN;
		if (n < 0 && errno == EAGAIN) {
			session_wants(s, EPOLLIN | EPOLLOUT);
			return;
		}
		if (n < 0)
			die("write");
		s->out += n;
		s->out_n -= (size_t)n;
		if (s->out_n == 0)
			session_wants(s, EPOLLIN);
	}
}

static void
session_send(struct session *s, const char *text, size_t n, enum step next,
    unsigned replies)
{
	s->out = text;
	s->out_n = n;
	s->step = next;
	s->replies_due = replies;
	session_write(s);
}

static void
session_open(struct session *s)
{
	struct sockaddr_in to = { .sin_family = AF_INET,
	    .sin_port = htons((uint16_t)option.port) };
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = s };
	int on = 1;

	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	s->fd = socket(AF_INET, SOCK_STREAM, 0);
	if (s->fd < 0 || connect(s->fd, (void *)&to, sizeof(to)) < 0)
		die("connect");
	setsockopt(s->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	fcntl(s->fd, F_SETFL, O_NONBLOCK);
	s->step = GREETING;
	s->replies_due = 1;
	s->sent = 0;
	s->in_n = 0;
	connections++;
	if (epoll_ctl(poller, EPOLL_CTL_ADD, s->fd, &event) < 0)
		die("epoll_ctl");
}

static void
envelope_send(struct session *s)
{
	unsigned number = started++;
	size_t room = 512 + (size_t)option.rcpts * 96, n;

	if (s->envelope == NULL)
		s->envelope = malloc(room);
	if (s->envelope == NULL)
		die("malloc");
	n = (size_t)snprintf(s->envelope, room,
	    "MAIL FROM:<%s>\r\n", option.sender);
	for (unsigned i = 0; i < option.rcpts; i++) {
		unsigned k = number * option.rcpts + i;

		n += (size_t)snprintf(s->envelope + n, room - n,
		    "RCPT TO:<u%u@", option.users ? k % option.users : k);
		n += (size_t)snprintf(s->envelope + n, room - n,
		    option.domains > 1 ? "d%u.%s>\r\n" : "%.0u%s>\r\n",
		    option.domains > 1 ? k % option.domains : 0, option.domain);
	}
	n += (size_t)snprintf(s->envelope + n, room - n, "DATA\r\n");
	s->began_s = now_s();
	s->is_refused = false;
	session_send(s, s->envelope, n, ENVELOPE, option.rcpts + 2);
}

static void
session_close(struct session *s)
{
	SSL_free(s->ssl);
	s->ssl = NULL;
	close(s->fd);
	s->fd = -1;
}

static void
session_next(struct session *s)
{
	bool is_full = option.per_connection > 0 &&
	    s->sent >= option.per_connection;

	if (started < option.messages && !is_full) {
		envelope_send(s);
		return;
	}
	session_send(s, "QUIT\r\n", 6, BYE, 1);
	/* what the server says to QUIT is not waited for */
	session_close(s);
	if (started < option.messages)
		session_open(s);
}

static void shaken(struct session *s);

static void
shake(struct session *s)
{
	int result = SSL_connect(s->ssl);

	if (result == 1)
		shaken(s);
	else if (SSL_get_error(s->ssl, result) != SSL_ERROR_WANT_READ)
		die("handshake");
}

static void
shake_begin(struct session *s)
{
	s->ssl = SSL_new(tls);
	SSL_set_fd(s->ssl, s->fd);
	s->step = SHAKE;
	s->began_s = now_s();
	shake(s);
}

static void
message_done(struct session *s, bool is_ok)
{
	last_s = now_s();
	if (is_ok)
		latencies[accepted++] = last_s - s->began_s;
	else
		refused++;
	s->sent++;
	session_next(s);
}

/* Encrypted; when handshakes are counted, that was it. */
static void
shaken(struct session *s)
{
	if (!option.handshakes) {
		session_send(s, "EHLO load.test\r\n", 16, HELLO_AGAIN, 1);
		return;
	}
	started++;
	last_s = now_s();
	if (accepted < option.messages)
		latencies[accepted++] = last_s - s->began_s;
	session_send(s, "QUIT\r\n", 6, BYE, 1);
	session_close(s);
	if (started < option.messages)
		session_open(s);
}

/* From somewhere else, as a proxy in front would say. */
static void
stranger_send(struct session *s)
{
	static char line[128];
	int n = snprintf(line, sizeof(line), "XCLIENT ADDR=%s "
	    "NAME=mx.source.example\r\n", option.client);

	session_send(s, line, (size_t)n, STRANGER, 1);
}

static void
step_done(struct session *s)
{
	switch (s->step) {
	case GREETING:
		session_send(s, "EHLO load.test\r\n", 16, HELLO, 1);
		break;
	case HELLO:
		if (option.is_tls)
			session_send(s, "STARTTLS\r\n", 10, STARTTLS, 1);
		else if (option.client != NULL)
			stranger_send(s);
		else
			session_next(s);
		break;
	case STRANGER:
		session_send(s, "EHLO load.test\r\n", 16, HELLO_AGAIN, 1);
		break;
	case STARTTLS:
		shake_begin(s);
		break;
	case HELLO_AGAIN:
		session_next(s);
		break;
	case SHAKE:
		break;
	case ENVELOPE:
		if (s->is_refused) {
			fprintf(stderr, "load: an envelope was refused\n");
			exit(1);
		}
		session_send(s, body, body_n, BODY, 1);
		break;
	case BODY:
		message_done(s, !s->is_refused);
		break;
	case BYE:
		break;
	}
}

static ssize_t
bytes_read(struct session *s)
{
	size_t room = sizeof(s->in) - s->in_n;
	int n;

	if (s->ssl == NULL)
		return read(s->fd, s->in + s->in_n, room);
	n = SSL_read(s->ssl, s->in + s->in_n, (int)room);
	if (n <= 0 && SSL_get_error(s->ssl, n) == SSL_ERROR_WANT_READ) {
		errno = EAGAIN;
		return -1;
	}
	return n;
}

static void
session_read(struct session *s)
{
	char *line = s->in, *lf;
	ssize_t n;

	if (s->step == SHAKE) {
		shake(s);
		return;
	}
	n = bytes_read(s);
	if (n < 0 && errno == EAGAIN)
		return;
	if (n <= 0) {
		fprintf(stderr, "load: the server closed a connection\n");
		exit(1);
	}
	s->in_n += (size_t)n;
	while ((lf = memchr(line, '\n', s->in_n - (size_t)(line - s->in)))) {
		bool is_last = lf - line > 3 && line[3] == ' ';

		if (is_last && line[0] != '2' && line[0] != '3') {
			if (s->step != BODY)
				fprintf(stderr, "load: %.*s\n",
				    (int)(lf - line), line);
			s->is_refused = true;
		}
		line = lf + 1;
		if (is_last && --s->replies_due == 0) {
			int fd = s->fd;
			size_t rest = s->in_n - (size_t)(line - s->in);

			memmove(s->in, line, rest);
			s->in_n = rest;
			step_done(s);
			if (s->fd != fd || s->fd < 0 || s->step == SHAKE)
				return;
			line = s->in;
		}
	}
	s->in_n -= (size_t)(line - s->in);
	memmove(s->in, line, s->in_n);
}

static int
by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double
percentile_ms(double part)
{
	if (accepted == 0)
		return 0;
	return latencies[(size_t)(part * (accepted - 1))] * 1000;
}

static void
usage(void)
{
	fprintf(stderr, "usage: load [--port N] [--sessions N] [--messages N] "
	    "[--per-connection N]\n            [--rcpts N] [--size BYTES] "
	    "[--domain NAME] [--domains N] [--users N]\n"
	    "            [--tls] [--handshakes] [--message FILE] "
	    "[--sender ADDRESS]\n            [--client ADDRESS]\n");
	exit(64);
}

static void
options_read(int argc, char **argv)
{
	static const struct option rows[] = {
		{ "port", 1, NULL, 'p' }, { "sessions", 1, NULL, 's' },
		{ "messages", 1, NULL, 'm' },
		{ "per-connection", 1, NULL, 'c' },
		{ "rcpts", 1, NULL, 'r' }, { "size", 1, NULL, 'b' },
		{ "domain", 1, NULL, 'd' }, { "domains", 1, NULL, 'n' },
		{ "users", 1, NULL, 'u' }, { "tls", 0, NULL, 't' },
		{ "handshakes", 0, NULL, 'h' }, { "message", 1, NULL, 'f' },
		{ "client", 1, NULL, 'x' }, { "sender", 1, NULL, 'o' },
		{ NULL, 0, NULL, 0 },
	};
	int letter;

	while ((letter = getopt_long(argc, argv, "", rows, NULL)) != -1) {
		unsigned number = optarg ?
		    (unsigned)strtoul(optarg, NULL, 10) : 0;

		switch (letter) {
		case 'p': option.port = number; break;
		case 's': option.sessions = number; break;
		case 'm': option.messages = number; break;
		case 'c': option.per_connection = number; break;
		case 'r': option.rcpts = number; break;
		case 'b': option.size = number; break;
		case 'd': option.domain = optarg; break;
		case 'n': option.domains = number; break;
		case 'u': option.users = number; break;
		case 't': option.is_tls = true; break;
		case 'h': option.is_tls = option.handshakes = true; break;
		case 'f': option.message = optarg; break;
		case 'o': option.sender = optarg; break;
		case 'x': option.client = optarg; break;
		default: usage();
		}
	}
	if (option.messages < option.sessions)
		option.sessions = option.messages;
}

int
main(int argc, char **argv)
{
	struct session *sessions;

	options_read(argc, argv);
	if (option.message != NULL)
		body_read();
	else
		body_make();
	latencies = calloc(option.messages + 1, sizeof(*latencies));
	sessions = calloc(option.sessions, sizeof(*sessions));
	poller = epoll_create1(0);
	tls = SSL_CTX_new(TLS_client_method());
	SSL_CTX_set_mode(tls, SSL_MODE_ENABLE_PARTIAL_WRITE |
	    SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
	if (latencies == NULL || sessions == NULL || poller < 0)
		die("load");
	first_s = now_s();
	for (unsigned i = 0; i < option.sessions; i++)
		session_open(&sessions[i]);
	while (accepted + refused < option.messages) {
		struct epoll_event ready[64];
		int n = epoll_wait(poller, ready, 64, 30000);

		if (n <= 0) {
			fprintf(stderr, "load: no answer for 30 s after %u of "
			    "%u messages\n", accepted, option.messages);
			return 1;
		}
		for (int i = 0; i < n; i++) {
			struct session *s = ready[i].data.ptr;

			if (s->fd >= 0 && ready[i].events & EPOLLOUT)
				session_write(s);
			if (s->fd >= 0 && ready[i].events & ~EPOLLOUT)
				session_read(s);
		}
	}
	qsort(latencies, accepted, sizeof(*latencies), by_value);
	printf("{\"accepted\":%u,\"refused\":%u,\"connections\":%u,"
	    "\"first_s\":%.6f,\"last_s\":%.6f,"
	    "\"p50_ms\":%.2f,\"p99_ms\":%.2f}\n",
	    accepted, refused, connections, first_s, last_s,
	    percentile_ms(0.5), percentile_ms(0.99));
	return refused ? 1 : 0;
}
