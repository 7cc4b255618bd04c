/* neighbours.c - the sockets of other programs that a configuration names
 *
 * In     a conf; the sockets
 * Out    which there are, whether somebody listens, a warning for each that
 *        is silent
 * Holds  one connection at a time, each with a bound; nothing is said on it
 * Spec   neighbours.h; zmailer(8), check
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "daemon/machine/look.h"
#include "daemon/machine/neighbours.h"
#include "grammar/net.h"
#include "io/unix_socket.h"

#include "base/banned.h"

/* ---- which there are ---------------------------------------------------- */

struct neighbour_list {
	struct arena		 *arena;
	struct machine_neighbour *all;
	size_t			  count;
};

static void
neighbour_note(struct neighbour_list *list, const char *kind,
    const char *name, struct conf_at at)
{
	if (name == NULL)
		return;
	for (size_t i = 0; i < list->count; i++)
		if (strcmp(list->all[i].kind, kind) == 0 &&
		    strcmp(list->all[i].name, name) == 0)
			return;
	list->all = arena_grow(list->arena, list->all, list->count,
	    sizeof(*list->all));
	list->all[list->count++] = (struct machine_neighbour){ kind, name,
	    at };
}

static bool
neighbour_is_socket(const char *name)
{
	return name != NULL && (unix_socket_is_meant(slice_of(name)) ||
	    strncmp(name, "inet:", 5) == 0);
}

/* A next hop on this host or another, by its socket. */
static void
neighbour_note_hop(struct neighbour_list *list, const char *channel,
    const char *host, struct conf_at at)
{
	if (channel != NULL && strcmp(channel, "lmtp") == 0 &&
	    neighbour_is_socket(host))
		neighbour_note(list, "lmtp", host, at);
}

size_t
machine_neighbours(const struct conf *conf, struct arena *arena,
    struct machine_neighbour **out)
{
	struct neighbour_list list = { arena, NULL, 0 };

	for (size_t i = 0; i < conf->milter_count; i++)
		neighbour_note(&list, "milter", conf->milters[i].socket,
		    conf->milters[i].at);
	if (neighbour_is_socket(conf->content_filter.socket))
		neighbour_note(&list, "content-filter",
		    conf->content_filter.socket, conf->content_filter.at);
	for (size_t i = 0; i < conf->rule_count; i++)
		neighbour_note(&list, "policy-service", conf->rules[i].service,
		    conf->rules[i].at);
	if (conf->auth.kind == AUTH_DOVECOT ||
	    conf->auth.kind == AUTH_SASLAUTHD)
		neighbour_note(&list, "auth", conf->auth.socket,
		    conf->auth.at);
	for (size_t i = 0; i < conf->domain_count; i++)
		neighbour_note_hop(&list, conf->domains[i].deliver.channel,
		    conf->domains[i].deliver.host, conf->domains[i].at);
	for (size_t i = 0; i < conf->route_count; i++)
		neighbour_note_hop(&list, conf->routes[i].channel,
		    conf->routes[i].host, conf->routes[i].at);
	*out = list.all;
	return list.count;
}

/* ---- whether somebody listens ------------------------------------------- */

static bool
knock_address(const char *name, struct sockaddr_storage *out,
    socklen_t *out_length)
{
	struct slice path = slice_of(name);
	struct err ignored;
	struct stat st;

	*out_length = sizeof(struct sockaddr_un);
	if (slice_starts(path, "inet:"))
		return unix_or_inet_address(path, out, out_length,
		    &ignored) == 0;
	(void)unix_socket_path(path, &path);
	if (!slice_starts(path, "/") || (stat(path.p, &st) == 0 &&
	    !S_ISSOCK(st.st_mode)))
		return false;		/* a command */
	return unix_socket_address(path, (struct sockaddr_un *)out,
	    &ignored) == 0;
}

/* 0, or why it did not connect. */
static int
knock_connect(int fd, const struct sockaddr *address, socklen_t length)
{
	struct pollfd wait = { .fd = fd, .events = POLLOUT };
	socklen_t size = sizeof(int);
	int error = 0;

	if (connect(fd, address, length) == 0 || errno == EAGAIN)
		return 0;		/* EAGAIN: its queue is full */
	if (errno != EINPROGRESS)
		return errno;
	if (poll(&wait, 1, MACHINE_KNOCK_MS) != 1)
		return ETIMEDOUT;
	return getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0 ?
	    errno : error;
}

enum machine_knock
machine_knock(const char *name, struct err *err)
{
	struct sockaddr_storage address;
	socklen_t length = 0;
	int fd, error;

	if (!knock_address(name, &address, &length))
		return MACHINE_UNKNOWN;
	fd = socket(address.ss_family,
	    SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return MACHINE_UNKNOWN;
	error = knock_connect(fd, (struct sockaddr *)&address, length);
	close(fd);
	if (error == 0)
		return MACHINE_ANSWERS;
	if (error == EACCES || error == EPERM)
		return MACHINE_UNKNOWN;
	err_set(err, "%s", strerror(error));
	return MACHINE_SILENT;
}

/* ---- the warning -------------------------------------------------------- */

void
machine_check_neighbours(const struct machine_look *look)
{
	struct machine_neighbour *all;
	size_t count = machine_neighbours(look->conf, look->arena, &all);
	struct err err;

	for (size_t i = 0; i < count; i++) {
		bool is_hop = strcmp(all[i].kind, "lmtp") == 0;

		if (machine_knock(all[i].name, &err) != MACHINE_SILENT)
			continue;
		machine_tell(look, CONF_WARNING, all[i].at, is_hop ?
		    "start the program that it belongs to; mail for it waits "
		    "until then" : "start the program that it belongs to, or "
		    "take the statement out", arena_printf(look->arena,
		    "nobody listens at the socket of %s, %s: %s", all[i].kind,
		    all[i].name, err.text));
	}
}

/* syslog's and journald's sockets take datagrams. */
void
machine_check_log_to(const struct machine_look *look)
{
	const struct conf_log_to *to = &look->conf->log_to;
	struct sockaddr_un address;
	struct err err;
	int fd;

	if (to->kind == LOG_TO_NONE ||
	    unix_socket_address(slice_of(to->path), &address, &err) < 0)
		return;
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return;
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0 &&
	    errno != EACCES && errno != EPERM)
		machine_tell(look, CONF_WARNING, to->at, "start the program "
		    "that it belongs to, or take the statement out; events "
		    "wait until then, and mail does not",
		    arena_printf(look->arena, "nobody takes events at %s: %s",
		    to->path, strerror(errno)));
	close(fd);
}
