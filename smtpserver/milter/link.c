/* link.c - one milter: its conversation and the connection under it
 *
 * In     goals; a milter's bytes
 * Out    a talk that is done
 * Holds  one descriptor
 * Trusts the milter with nothing: what it does not say in time is trouble
 * Spec   link.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "grammar/net.h"
#include "smtpserver/milter/link.h"
#include "io/unix_socket.h"

#include "base/banned.h"

enum { READ_BYTES = 65536 };

static void link_on_socket(void *context, unsigned ready);
static void link_on_timer(void *context);

static void
link_hang_up(struct link *link)
{
	if (link->fd < 0)
		return;
	watch_free(&link->watch);
	close(link->fd);
	link->fd = -1;
	link->is_connecting = false;
}

/* ---- time ------------------------------------------------------------- */

static int64_t
link_patience(const struct link *link)
{
	if (link->talk.where < TALK_OPEN)
		return link->conf->connect_ms;
	return link->talk.step <= TALK_DATA ||
	    link->talk.step == TALK_UNKNOWN ? link->conf->command_ms :
	    link->conf->timeout_ms;
}

/* A timer that comes early is set again: most answers move none. */
static void
link_wait(struct link *link)
{
	link->until_ms = clock_steady_ms() + link_patience(link);
	if (link->timer.at_ms == 0 || link->until_ms < link->timer.at_ms)
		timer_set(link->loop, &link->timer, link->until_ms,
		    link_on_timer,
		    link);
}

/* ---- the socket ------------------------------------------------------- */

/* returns -1 with err */
static int
link_open_socket(struct link *link, struct err *err)
{
	struct sockaddr_storage address;
	socklen_t length;
	int one = 1;

	if (unix_or_inet_address(slice_of(link->conf->socket), &address,
	    &length, err) < 0)
		return -1;
	link->fd = socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC |
	    SOCK_NONBLOCK, 0);
	if (link->fd < 0)
		return err_sys(err, "cannot make a socket");
	if (address.ss_family != AF_UNIX)
		(void)setsockopt(link->fd, IPPROTO_TCP, TCP_NODELAY, &one,
		    sizeof(one));
	link->watch = loop_watch(link->loop, link->fd, LOOP_READ,
	    link_on_socket,
	    link);
	if (connect(link->fd, (struct sockaddr *)&address, length) == 0) {
		talk_opened(&link->talk);
		return 0;
	}
	link->is_connecting = errno == EINPROGRESS;
	if (link->is_connecting)
		watch_set(link->watch, LOOP_WRITE);
	return link->is_connecting ? 0 : err_sys(err, "%s",
	    link->conf->socket);
}

static void
link_write(struct link *link)
{
	struct talk *talk = &link->talk;

	while (link->fd >= 0 && !link->is_connecting && talk->out.len > 0) {
		ssize_t n = send(link->fd, talk->out.buf, talk->out.len,
		    MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno != EAGAIN) {
			talk_lose(talk);
			break;
		}
		if (n < 0)
			break;
		str_consume(&talk->out, (size_t)n);
		if (talk->out.len == 0)
			talk_sent(talk);
	}
	if (talk->where == TALK_NOWHERE && !link->is_connecting)
		link_hang_up(link);
	else if (link->fd >= 0 && !link->is_connecting)
		watch_set(link->watch, LOOP_READ |
		    (talk->out.len > 0 ? LOOP_WRITE : 0));
}

static void
link_connected(struct link *link)
{
	int error = 0;
	socklen_t length = sizeof(error);

	link->is_connecting = false;
	(void)getsockopt(link->fd, SOL_SOCKET, SO_ERROR, &error, &length);
	if (error != 0)
		talk_fail(&link->talk, strerror(error));
	else
		talk_opened(&link->talk);
}

static void
link_read(struct link *link)
{
	static char piece[READ_BYTES];
	ssize_t n = recv(link->fd, piece, sizeof(piece), 0);

	if (n > 0)
		talk_hear(&link->talk, (struct slice){ piece, (size_t)n });
	else if (n == 0 || (errno != EAGAIN && errno != EINTR))
		talk_lose(&link->talk);
}

static void
link_on_socket(void *context, unsigned ready)
{
	struct link *link = context;

	if (link->is_connecting)
		link_connected(link);
	else if (ready & (LOOP_READ | LOOP_HANGUP))
		link_read(link);
	link_write(link);
	if (link->talk.state == TALK_BUSY)
		link_wait(link);
	link->stir(link->context);
}

static void
link_on_timer(void *context)
{
	struct link *link = context;

	if (link->talk.state == TALK_DONE)
		return;
	if (clock_steady_ms() < link->until_ms) {
		timer_set(link->loop, &link->timer, link->until_ms,
		    link_on_timer,
		    link);
		return;
	}
	talk_fail(&link->talk, "no answer in time");
	link_hang_up(link);
	link->stir(link->context);
}

/* ---- what the owner calls --------------------------------------------- */

void
link_go(struct link *link, enum talk_step goal, struct filter_mail *mail,
    struct filter_result *result)
{
	struct err err = { "" };

	talk_begin(&link->talk, goal, mail, result);
	if (link->talk.state == TALK_SHUT &&
	    link_open_socket(link, &err) != 0) {
		link_hang_up(link);
		talk_fail(&link->talk, err.text);
	}
	link_write(link);
	if (link->talk.state != TALK_DONE)
		link_wait(link);
}

void
link_abort(struct link *link)
{
	talk_abort(&link->talk);
	link_write(link);
}

void
link_init(struct link *link, struct loop *loop,
    const struct conf_milter *conf, const struct filter_facts *facts,
    loop_fn *stir, void *context)
{
	memset(link, 0, sizeof(*link));
	talk_init(&link->talk, facts);
	link->conf = conf;
	link->loop = loop;
	link->fd = -1;
	link->stir = stir;
	link->context = context;
}

void
milter_link_release(struct link *link)
{
	if (link->fd >= 0 && link->talk.where >= TALK_OPEN) {
		packet_end(&link->talk.out,
		    packet_begin(&link->talk.out, MILTER_QUIT));
		(void)send(link->fd, link->talk.out.buf,
		    link->talk.out.len, MSG_NOSIGNAL | MSG_DONTWAIT);
	}
	link_hang_up(link);
	timer_clear(&link->timer);
	talk_release(&link->talk);
}
