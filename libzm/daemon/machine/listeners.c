/* listeners.c - is there somebody where we are to listen?
 *
 * In     the listeners of a configuration; those that zmailer has now
 * Out    a warning for each that somebody else has
 * Spec   machine.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "daemon/listen_socket.h"
#include "daemon/machine/look.h"
#include "daemon/machine/machine.h"

#include "base/banned.h"

/* One with the same port is in our own way only, and a reload knows how. */
static bool
listener_is_ours(const struct conf_listen *at, const char *ours)
{
	const char *colon = strrchr(at->text, ':');
	char word[CONF_LISTEN_BYTES + 2];

	snprintf(word, sizeof(word), "%s ",
	    listen_socket_path(at->text) != NULL || colon == NULL ?
	    at->text : colon);
	return strstr(ours, word) != NULL;
}

/* Why one cannot be bound there; 0: it can.  Nothing listens meanwhile, so
 * that nobody is in the way of another who looks, and no client comes. */
static int
bind_trouble(const struct conf_listen *at, const struct sockaddr *address)
{
	int fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int one = 1, trouble = 0;

	if (fd < 0)
		return errno;
	(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (address->sa_family == AF_INET6)
		(void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &one,
		    sizeof(one));
	if (bind(fd, address, at->length) != 0)
		trouble = errno;
	close(fd);
	return trouble;
}

/* Has this machine the address?  Any port of it would do. */
static bool
address_is_here(const struct conf_listen *at)
{
	struct sockaddr_storage address = at->address;

	if (address.ss_family == AF_INET)
		((struct sockaddr_in *)&address)->sin_port = 0;
	else
		((struct sockaddr_in6 *)&address)->sin6_port = 0;
	return bind_trouble(at, (const struct sockaddr *)&address) !=
	    EADDRNOTAVAIL;
}

static void
check_listener(const struct machine_look *look, const struct conf_listen *at,
    const char *ours)
{
	/* a socket in the file system would be made, and be seen */
	if (listen_socket_path(at->text) != NULL)
		return;
	if (!at->is_optional && !address_is_here(at)) {
		machine_tell(look, CONF_WARNING, at->at,
		    "listen at an address of this machine (ip addr shows "
		    "them), or give it this one first",
		    arena_printf(look->arena, "%s is at no address of this "
		    "machine: zmailer cannot be started or reloaded with "
		    "this", at->text));
		return;
	}
	if (listener_is_ours(at, ours))
		return;
	if (bind_trouble(at, (const struct sockaddr *)&at->address) ==
	    EADDRINUSE)
		machine_tell(look, CONF_WARNING, at->at,
		    "end that program, or listen elsewhere; as root, ss "
		    "-ltnp names it", arena_printf(look->arena,
		    "another program listens at %s now: zmailer cannot be "
		    "started or reloaded with this", at->text));
}

void
machine_check_listeners(const struct conf *conf, const char *ours,
    struct arena *arena, struct conf_report *report)
{
	struct machine_look look = { conf, arena, report, 1 };

	for (size_t i = 0; i < conf->listen_count; i++)
		check_listener(&look, &conf->listens[i], ours);
	conf_report_sort(report, conf->book);
}
