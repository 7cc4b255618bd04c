/* listen.c - zmailer metrics --listen: the metrics by HTTP
 *
 * In     ADDRESS:PORT, PORT or unix:/PATH; requests
 * Out    /metrics, to anybody who reaches it
 * Holds  a listening socket; a process for each connection, a few at a time,
 *        each for a short time
 * Trusts nobody: root's rights are gone before the first connection, and a
 *        process that reads a request can write only the answer
 * Spec   zmailer-metrics(8); scrape.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/clock.h"
#include "daemon/listen_socket.h"
#include "daemon/sandbox.h"
#include "daemon/skeleton.h"
#include "grammar/net.h"
#include "tools/zmailer/metrics/metrics.h"
#include "tools/zmailer/metrics/scrape.h"
#include "io/unix_socket.h"

#include "base/banned.h"

enum {
	SCRAPES_AT_ONCE = 16,
	REQUEST_FOR_MS = 5000,		/* until it is whole */
	SCRAPE_FOR_S = 30,		/* all of it */
	SCRAPE_REAP_MS = 100, SCRAPE_ROOM_MS = 5, IDLE_MS = 1000,
	UNIX_MODE = 0660
};

static volatile sig_atomic_t scrapes_are_over;

static void
on_scrapes_end(int number)
{
	(void)number;
	scrapes_are_over = 1;
}

/* ---- the socket --------------------------------------------------------- */

static int
scrape_endpoint(const char *text, struct conf_listen *out, struct err *err)
{
	struct slice path;

	*out = (struct conf_listen){ .length = sizeof(struct sockaddr_un) };
	if (!unix_socket_path(slice_of(text), &path)) {
		if (net_endpoint_parse(slice_of(text), 0, &out->address,
		    &out->length, err) != 0)
			return -1;
		net_endpoint_text((struct sockaddr *)&out->address, out->text,
		    sizeof(out->text));
		return 0;
	}
	if (!slice_starts(path, "/") || unix_socket_address(path,
	    (struct sockaddr_un *)&out->address, NULL) < 0 ||
	    strlcpy(out->text, text, sizeof(out->text)) >=
	    sizeof(out->text))
		return err_set(err, "unix: wants an absolute path that is not "
		    "too long for a socket");
	return 0;
}

static bool
scrape_is_local(const struct conf_listen *at)
{
	const struct sockaddr_in *four = (const void *)&at->address;
	const struct sockaddr_in6 *six = (const void *)&at->address;

	switch (at->address.ss_family) {
	case AF_INET:
		return ntohl(four->sin_addr.s_addr) >> 24 == 127;
	case AF_INET6:
		return IN6_IS_ADDR_LOOPBACK(&six->sin6_addr);
	default:
		return true;
	}
}

/* A port that was 0 is known afterwards. */
static void
scrape_say(int fd, struct conf_listen *at)
{
	if (at->address.ss_family != AF_UNIX &&
	    getsockname(fd, (struct sockaddr *)&at->address, &at->length) ==
	    0)
		net_endpoint_text((struct sockaddr *)&at->address, at->text,
		    sizeof(at->text));
	fprintf(stderr, "zmailer: metrics: listening on %s%s\n", at->text,
	    scrape_is_local(at) ? "" : ": whoever reaches this address may "
	    "read them; PORT alone is for this machine");
}

/* ---- one connection ----------------------------------------------------- */

static bool
scrape_receive(int fd, struct scrape *out)
{
	int64_t end_ms = clock_steady_ms() + REQUEST_FOR_MS, left_ms;
	struct pollfd wait = { .fd = fd, .events = POLLIN };
	struct str in = STR_INIT;
	bool is_whole = false;

	while (!is_whole && (left_ms = end_ms - clock_steady_ms()) > 0 &&
	    poll(&wait, 1, (int)left_ms) > 0) {
		ssize_t n = read(fd, str_room(&in, SCRAPE_BYTES_MAX),
		    SCRAPE_BYTES_MAX);

		if (n <= 0)
			break;
		in.len += (size_t)n;
		in.buf[in.len] = '\0';
		is_whole = scrape_read(str_slice(&in), out);
	}
	str_release(&in);
	return is_whole;
}

static void
scrape_send(int fd, struct slice bytes)
{
	while (bytes.n > 0) {
		ssize_t n = write(fd, bytes.p, bytes.n);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return;
		bytes = slice_from(bytes, (size_t)n);
	}
	/* what he may still say is no reason to break what he reads */
	(void)shutdown(fd, SHUT_WR);
}

/* silent  closed when the request is whole */
static void
scrape_serve(int fd, int silent, const char *conf_path)
    __attribute__((noreturn));
static void
scrape_serve(int fd, int silent, const char *conf_path)
{
	static const struct sandbox rules = { .readable = { "/" },
	    .readable_count = 1, .may_list = true, .sockets = SOCKETS_LOCAL };
	struct str text = STR_INIT, answer = STR_INIT;
	struct scrape scrape;
	struct err err;

	(void)signal(SIGTERM, SIG_DFL);
	(void)signal(SIGINT, SIG_DFL);
	(void)alarm(SCRAPE_FOR_S);
	if (sandbox_enter(&rules, &err) < 0) {
		warning("metrics: %s", err.text);
		_exit(EX_OSERR);
	}
	if (!scrape_receive(fd, &scrape))
		_exit(EX_PROTOCOL);
	close(silent);
	/* what is in force may be another one since the last time */
	if (scrape.status == 200 && metrics_text(verb_conf_spool(conf_path),
	    scrape.is_open, &text) != EX_OK)
		scrape.status = 500;
	scrape_answer(&scrape, str_slice(&text), &answer);
	scrape_send(fd, str_slice(&answer));
	_exit(EX_OK);
}

/* ---- all of them -------------------------------------------------------- */

/* One end of a pipe; the other is closed when the request is complete, so that
 * silent clients are known. */
struct scrapes {
	struct {
		pid_t	pid;		/* 0: the place is free */
		int	silent;
		int64_t	began_ms;
	} at_work[SCRAPES_AT_ONCE];
	unsigned	count;
};

static void
scrapes_reap(struct scrapes *scrapes)
{
	pid_t pid;

	while (scrapes->count > 0 && (pid = waitpid(-1, NULL, WNOHANG)) > 0)
		for (int i = 0; i < SCRAPES_AT_ONCE; i++)
			if (scrapes->at_work[i].pid == pid) {
				close(scrapes->at_work[i].silent);
				scrapes->at_work[i].pid = 0;
				scrapes->count--;
			}
}

/* If all places are taken, the client that has been silent for longest is
 * closed for a new one. */
static void
scrapes_make_room(struct scrapes *scrapes)
{
	int oldest = -1;

	for (int i = 0; i < SCRAPES_AT_ONCE; i++) {
		struct pollfd look = { .fd = scrapes->at_work[i].silent };

		if (poll(&look, 1, 0) == 0 && (oldest < 0 ||
		    scrapes->at_work[i].began_ms <
		    scrapes->at_work[oldest].began_ms))
			oldest = i;
	}
	if (oldest >= 0)
		(void)kill(scrapes->at_work[oldest].pid, SIGKILL);
}

static void
scrapes_take(struct scrapes *scrapes, int socket, const char *conf_path)
{
	int fd = accept(socket, NULL, NULL), ends[2], place = 0;
	pid_t pid;

	if (fd < 0)
		return;
	if (pipe2(ends, O_CLOEXEC) != 0) {
		close(fd);
		return;
	}
	(void)fcntl(fd, F_SETFL, 0);
	pid = fork();
	if (pid == 0) {
		close(socket);
		scrape_serve(fd, ends[1], conf_path);
	}
	close(fd);
	close(ends[1]);
	if (pid < 0) {
		close(ends[0]);
		return;
	}
	while (scrapes->at_work[place].pid != 0)
		place++;
	scrapes->at_work[place].pid = pid;
	scrapes->at_work[place].silent = ends[0];
	scrapes->at_work[place].began_ms = clock_steady_ms();
	scrapes->count++;
}

static void
scrapes_loop(int socket, const char *conf_path)
{
	struct pollfd wait = { .fd = socket, .events = POLLIN };
	struct scrapes scrapes = { .count = 0 };

	while (!scrapes_are_over) {
		scrapes_reap(&scrapes);
		if (poll(&wait, 1, scrapes.count > 0 ? SCRAPE_REAP_MS :
		    IDLE_MS) <= 0 || (wait.revents & POLLIN) == 0)
			continue;
		if (scrapes.count < SCRAPES_AT_ONCE) {
			scrapes_take(&scrapes, socket, conf_path);
			continue;
		}
		/* who is one too many waits in the backlog */
		scrapes_make_room(&scrapes);
		(void)poll(NULL, 0, SCRAPE_ROOM_MS);
	}
}

int
metrics_listen(const struct conf *conf, const struct arguments *arguments,
    const char *where)
{
	struct sigaction end = { .sa_handler = on_scrapes_end };
	struct conf_listen at;
	struct err err;
	int fd;

	if (scrape_endpoint(where, &at, &err) < 0)
		return arguments_refuse(arguments, "--listen %s: %s", where,
		    err.text);
	fd = listen_socket(&at, &err);
	if (fd < 0)
		return verb_failed("metrics", &err, EX_UNAVAILABLE);
	if (listen_socket_path(at.text) != NULL)
		(void)chmod(listen_socket_path(at.text), UNIX_MODE);
	if (daemon_drop(conf, ROLE_ROUTER, &err) < 0)
		return verb_failed("metrics", &err, EX_OSERR);
	sigemptyset(&end.sa_mask);
	(void)sigaction(SIGTERM, &end, NULL);
	(void)sigaction(SIGINT, &end, NULL);
	(void)signal(SIGPIPE, SIG_IGN);
	scrape_say(fd, &at);
	scrapes_loop(fd, arguments->conf_path);
	listen_socket_close(fd, at.text);
	return EX_OK;
}
