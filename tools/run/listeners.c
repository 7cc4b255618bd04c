/* listeners.c - the listening sockets of an instance
 *
 * In     the listeners of a configuration; what a service manager gave
 * Out    bound sockets; the line of the one that cannot be bound
 * Holds  every socket that clients come in by, over restarts of smtpserver
 * Spec   listeners.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "daemon/listen_socket.h"
#include "tools/run/listeners.h"

#include "base/banned.h"

static struct run_listener *
listener_find(const struct run_listeners *listeners, const char *text)
{
	for (size_t i = 0; i < listeners->count; i++)
		if (strcmp(listeners->rows[i].text, text) == 0)
			return &listeners->rows[i];
	return NULL;
}

static unsigned
listener_port(const struct conf_listen *at)
{
	return ntohs(at->address.ss_family == AF_INET6 ?
	    ((const struct sockaddr_in6 *)&at->address)->sin6_port :
	    ((const struct sockaddr_in *)&at->address)->sin_port);
}

/* Ours that have at's port, and that conf does not have any more. */
static size_t
listeners_going(const struct run_listeners *now, const struct conf *conf,
    const struct conf_listen *at, int *out_fds)
{
	char port[16];
	size_t count = 0;

	snprintf(port, sizeof(port), ":%u", listener_port(at));
	for (size_t i = 0; i < now->count; i++)
		if (at->address.ss_family != AF_UNIX &&
		    listen_socket_path(now->rows[i].text) == NULL &&
		    conf_listen_find(conf, now->rows[i].text) == NULL &&
		    slice_ends(slice_of(now->rows[i].text), port))
			out_fds[count++] = now->rows[i].fd;
	return count;
}

static int
listener_socket_new(const struct run_listeners *now, const struct conf *conf,
    const struct conf_listen *at, struct err *err)
{
	int *going = mem_alloc(now->count + 1, sizeof(*going));
	int fd = listen_socket_beside(at, going,
	    listeners_going(now, conf, at, going), err), error = errno;

	mem_free(&going);
	errno = error;
	return fd;
}

static bool
listeners_have(const struct run_listeners *listeners,
    const struct conf_listen *at)
{
	for (size_t i = 0; i < listeners->count; i++)
		if (given_fits(listeners->rows[i].fd, at))
			return true;
	return false;
}

static int
listener_add(const struct run_listeners *now, struct given *given,
    const struct conf *conf, const struct conf_listen *at,
    struct run_listeners *fresh, struct err *err)
{
	const struct run_listener *old = listener_find(now, at->text);
	struct run_listener *listener = &fresh->rows[fresh->count];

	if (listeners_have(fresh, at))
		return 0;
	listener->is_given = old != NULL && old->is_given;
	listener->fd = old != NULL ? old->fd : given_find(given, at);
	if (old == NULL && listener->fd >= 0)
		listener->is_given = true;
	else if (old == NULL)
		listener->fd = listener_socket_new(now, conf, at, err);
	if (listener->fd < 0 && at->is_optional && errno != EADDRINUSE) {
		warning("%s; IPv4 alone is served", err->text);
		return 0;
	}
	if (listener->fd < 0)
		return -1;
	strlcpy(listener->text, at->text, sizeof(listener->text));
	listener->is_submission = at->is_submission;
	listener->is_tls = at->is_tls;
	fresh->count++;
	return 0;
}

static void
err_at(struct err *err, const struct conf_at *at)
{
	struct err what = *err;

	err_set(err, "%s:%u: %s", at->file ? at->file : "configuration",
	    at->line, what.text);
}

int
run_listeners_bind(const struct run_listeners *now, struct given *given,
    const struct conf *conf, struct run_listeners *fresh, struct err *err)
{
	memset(fresh, 0, sizeof(*fresh));
	fresh->rows = mem_alloc(conf->listen_count + 1,
	    sizeof(*fresh->rows));
	for (size_t i = 0; i < conf->listen_count; i++) {
		if (listener_add(now, given, conf, &conf->listens[i], fresh,
		    err) == 0)
			continue;
		err_at(err, &conf->listens[i].at);
		run_listeners_close(fresh, now, given);
		return -1;
	}
	return 0;
}

bool
run_listeners_differ(const struct run_listeners *a,
    const struct run_listeners *b)
{
	if (a->count != b->count)
		return true;
	for (size_t i = 0; i < a->count; i++)
		if (a->rows[i].fd != b->rows[i].fd ||
		    a->rows[i].is_submission != b->rows[i].is_submission ||
		    a->rows[i].is_tls != b->rows[i].is_tls)
			return true;
	return false;
}

static bool
listeners_have_fd(const struct run_listeners *listeners, int fd)
{
	for (size_t i = 0; listeners != NULL && i < listeners->count; i++)
		if (listeners->rows[i].fd == fd)
			return true;
	return false;
}

void
run_listeners_bar(const struct run_listeners *gone,
    const struct run_listeners *kept)
{
	for (size_t i = 0; i < gone->count; i++)
		if (!gone->rows[i].is_given &&
		    !listeners_have_fd(kept, gone->rows[i].fd))
			listen_socket_bar(gone->rows[i].fd);
}

void
run_listeners_close(struct run_listeners *gone,
    const struct run_listeners *kept, struct given *given)
{
	for (size_t i = 0; i < gone->count; i++) {
		struct run_listener *listener = &gone->rows[i];

		if (listeners_have_fd(kept, listener->fd))
			continue;
		if (listener->is_given)
			given_return(given, listener->fd);
		else
			listen_socket_close(listener->fd, listener->text);
	}
	mem_free(&gone->rows);
	gone->count = 0;
}

/* The launcher binds it, when the scheduler asks for the service: this one
 * is closed again. */
int
run_listeners_try_mailq(const struct run_listeners *scheduler,
    const struct conf *was, const struct conf *now, struct err *err)
{
	const struct conf_listen *at = &now->mailq.listen;
	int fd;

	if (at->length == 0 || listeners_have(scheduler, at) ||
	    listen_socket_path(at->text) != NULL ||
	    (was != NULL && was->mailq.listen.length != 0 &&
	    listener_port(&was->mailq.listen) == listener_port(at)))
		return 0;
	fd = listen_socket(at, err);
	if (fd < 0) {
		err_at(err, &at->at);
		return -1;
	}
	listen_socket_close(fd, at->text);
	return 0;
}

static void
listeners_add_given(struct run_listeners *out, int fd, const char *text)
{
	struct run_listener *row = &out->rows[out->count++];

	row->fd = fd;
	row->is_given = true;
	strlcpy(row->text, text, sizeof(row->text));
}

void
run_listeners_scheduler(struct given *given, const struct conf *conf,
    struct run_listeners *out)
{
	char path[CONF_LISTEN_BYTES];
	int n = snprintf(path, sizeof(path), "%s/scheduler.sock",
	    conf->run_dir), fd;

	out->rows = mem_alloc(2, sizeof(*out->rows));
	if (n > 0 && (size_t)n < sizeof(path) &&
	    (fd = given_find_path(given, path)) >= 0)
		listeners_add_given(out, fd, path);
	if (conf->mailq.listen.length != 0 &&
	    (fd = given_find(given, &conf->mailq.listen)) >= 0)
		listeners_add_given(out, fd, conf->mailq.listen.text);
}
