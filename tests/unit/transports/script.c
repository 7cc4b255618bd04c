/* script.c - a server that follows a script
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "tests/unit/transports/certs.h"
#include "tests/unit/transports/script.h"

#include "base/banned.h"

enum { PATIENCE_S = 60 };

static void
wrong(struct script *script, struct slice step, const char *what)
{
	if (script->wrong[0] == '\0')
		snprintf(script->wrong, sizeof(script->wrong),
		    "at step '%.*s': %.300s", (int)step.n, step.p, what);
}

/* By poll(2), which goes on when a process that was stopped does: a receive
 * with a time-out would fail. */
static bool
has_come(int fd)
{
	struct pollfd awaited = { fd, POLLIN, 0 };

	return poll(&awaited, 1, PATIENCE_S * 1000) > 0;
}

static bool
hear_more(struct script *script, int fd)
{
	char *room = str_room(&script->heard, 65536);
	ssize_t n;

	if ((script->ssl == NULL || !SSL_has_pending(script->ssl)) &&
	    !has_come(fd))
		return false;
	n = script->ssl != NULL ? SSL_read(script->ssl, room, 65536) :
	    recv(fd, room, 65536, 0);
	if (n <= 0)
		return false;
	script->heard.len += (size_t)n;
	script->heard.buf[script->heard.len] = '\0';
	return true;
}

/* Read up to and including mark; false at the end of the connection. */
static bool
hear_until(struct script *script, int fd, const char *mark, struct slice *out)
{
	size_t n = strlen(mark);

	for (;;) {
		struct slice left = slice_from(str_slice(&script->heard),
		    script->line_at);
		const char *end = left.n >= n ?
		    memmem(left.p, left.n, mark, n) : NULL;

		if (end != NULL) {
			*out = slice_first(left, (size_t)(end - left.p) + n);
			script->line_at += out->n;
			return true;
		}
		if (!hear_more(script, fd))
			return false;
	}
}

static void
say(struct script *script, int fd, const char *bytes, size_t n)
{
	while (n > 0) {
		ssize_t sent;

		errno = 0;
		sent = script->ssl != NULL ?
		    SSL_write(script->ssl, bytes, (int)n) :
		    send(fd, bytes, n, MSG_NOSIGNAL);

		if (sent <= 0 && errno == EINTR)
			continue;
		if (sent <= 0)
			return;
		bytes += sent;
		n -= (size_t)sent;
	}
}

static void
say_raw(struct script *script, int fd, struct slice text)
{
	for (size_t i = 0; i < text.n; i++) {
		char c = text.p[i];

		if (c == '\\' && i + 1 < text.n)
			switch (text.p[++i]) {
			case 'r': c = '\r'; break;
			case 'n': c = '\n'; break;
			case '0': c = '\0'; break;
			}
		say(script, fd, &c, 1);
	}
}

static void
say_many(struct script *script, int fd, struct slice number)
{
	char block[4096];
	uint64_t n = 0;

	memset(block, 'x', sizeof(block));
	slice_number(slice_trim(number), 0, UINT32_MAX, &n);
	for (; n > 0; n -= n < sizeof(block) ? n : sizeof(block))
		say(script, fd, block, n < sizeof(block) ? n : sizeof(block));
}

static void
step_line(struct script *script, int fd, struct slice step,
    struct slice want)
{
	struct slice got;
	char what[400];

	if (!hear_until(script, fd, "\n", &got)) {
		wrong(script, step, "the client said no more");
	} else if (got.n < want.n || memcmp(got.p, want.p, want.n) != 0) {
		snprintf(what, sizeof(what), "heard '%.*s'",
		    (int)(got.n < 300 ? got.n : 300), got.p);
		wrong(script, step, what);
	}
}

static struct ssl_ctx_st *
tls_of(struct script *script, struct slice name)
{
	static const char *const names[] = { "good", "expired", "other",
	    "unknown", "asks" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!slice_is(name, names[i]))
			continue;
		if (script->tls[i] == NULL)
			script->tls[i] = certs_server(names[i]);
		return script->tls[i];
	}
	abort();
}

static bool
step_tls(struct script *script, int fd, struct slice name)
{
	X509 *theirs;

	script->ssl = SSL_new(tls_of(script, name));
	SSL_set_fd(script->ssl, fd);
	if (SSL_accept(script->ssl) != 1)
		return false;
	script->line_at = script->heard.len;
	script->handshakes++;
	script->resumed += (unsigned)SSL_session_reused(script->ssl);
	theirs = SSL_get1_peer_certificate(script->ssl);
	if (theirs != NULL)
		X509_NAME_get_text_by_NID(X509_get_subject_name(theirs),
		    NID_commonName, script->client_name,
		    sizeof(script->client_name));
	X509_free(theirs);
	return true;
}

/* returns false when the connection is over. */
static bool
step_do(struct script *script, int fd, struct slice step)
{
	struct slice got;

	if (slice_starts(step, ">> ")) {
		say_raw(script, fd, slice_from(step, 3));
	} else if (slice_starts(step, "> ")) {
		char line[3000];
		int n = snprintf(line, sizeof(line), SLICE_FMT "\r\n",
		    SLICE_ARG(slice_from(step, 2)));

		say(script, fd, line, (size_t)n);
	} else if (slice_starts(step, "< ")) {
		step_line(script, fd, step, slice_from(step, 2));
	} else if (slice_is(step, ".")) {
		if (!hear_until(script, fd, "\r\n.\r\n", &got))
			wrong(script, step, "the message has no end");
	} else if (slice_starts(step, "* ")) {
		say_many(script, fd, slice_from(step, 2));
	} else if (slice_starts(step, "T ")) {
		return step_tls(script, fd, slice_from(step, 2));
	} else if (slice_is(step, "!")) {
		return false;
	} else if (slice_is(step, "~")) {
		while (hear_more(script, fd))
			continue;
	}
	return true;
}

static int
next_client(struct script *script)
{
	struct timeval patience = { PATIENCE_S, 0 };
	int fd = has_come(script->listener) ? accept(script->listener, NULL,
	    NULL) : -1;

	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	script->connections++;
	script->line_at = script->heard.len;
	return fd;
}

/* Close; is_polite: with the end of TLS in order. */
static void
hang_up(struct script *script, int *fd, bool is_polite)
{
	if (script->ssl != NULL) {
		if (is_polite)
			SSL_shutdown(script->ssl);
		SSL_free(script->ssl);
		script->ssl = NULL;
	}
	close(*fd);
	*fd = -1;
}

/* A handshake failed: what was to be said in TLS will not be. */
static void
pass_over(struct slice *rest)
{
	struct slice step;

	while (slice_cut(rest, '\n', &step))
		if (slice_is(slice_trim(step), "!"))
			return;
}

static void *
follow(void *context)
{
	struct script *script = context;
	struct slice rest = slice_of(script->text), step;
	int fd = -1;

	while (slice_cut(&rest, '\n', &step)) {
		while (step.n > 0 && step.p[0] == ' ')
			step = slice_from(step, 1);
		if (step.n == 0)
			continue;
		if (fd < 0)
			fd = next_client(script);
		if (fd < 0)
			return NULL;
		if (!step_do(script, fd, step)) {
			hang_up(script, &fd, false);
			if (step.p[0] == 'T')
				pass_over(&rest);
		}
	}
	while (fd >= 0 && hear_more(script, fd))
		continue;
	if (fd >= 0)
		hang_up(script, &fd, true);
	return NULL;
}

void
script_start(struct script *script, const char *text)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_addr = { htonl(INADDR_LOOPBACK) },
	};
	socklen_t length = sizeof(address);

	memset(script, 0, sizeof(*script));
	str_init(&script->heard);
	script->text = text;
	script->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (script->listener < 0 || bind(script->listener,
	    (struct sockaddr *)&address, length) != 0 ||
	    listen(script->listener, 5) != 0 || getsockname(script->listener,
	    (struct sockaddr *)&address, &length) != 0)
		abort();
	script->port = ntohs(address.sin_port);
	if (pthread_create(&script->thread, NULL, follow, script) != 0)
		abort();
}

void
script_join(struct script *script)
{
	/* a thread that still waits for a client is woken */
	shutdown(script->listener, SHUT_RDWR);
	pthread_join(script->thread, NULL);
	close(script->listener);
}

void
script_release(struct script *script)
{
	str_release(&script->heard);
	for (size_t i = 0; i < sizeof(script->tls) / sizeof(script->tls[0]);
	    i++)
		SSL_CTX_free(script->tls[i]);
}

unsigned
script_heard(const struct script *script, const char *needle)
{
	struct slice rest = str_slice(&script->heard);
	unsigned count = 0;
	const char *at;

	while ((at = memmem(rest.p, rest.n, needle, strlen(needle))) !=
	    NULL) {
		count++;
		rest = slice_from(rest, (size_t)(at - rest.p) + 1);
	}
	return count;
}
