/* given.c - listening sockets that whoever started us has opened
 *
 * In     LISTEN_FDS, LISTEN_PID and the descriptors that they speak of
 * Out    a socket for a listener of the configuration
 * Holds  those that nobody took yet
 * Trusts that they are where the environment says; looks at what they are
 * Spec   given.h; sd_listen_fds(3)
 *
 * SPDX-License-Identifier: ISC
 */
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/mem.h"
#include "daemon/given.h"
#include "grammar/net.h"

#include "base/banned.h"

static const char *const given_names[] = {
	"LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES"
};

static size_t
given_number(const char *name, uint64_t max)
{
	const char *text = getenv(name);
	uint64_t number = 0;

	if (text == NULL || !slice_number(slice_of(text), 0, max, &number))
		return 0;
	return (size_t)number;
}

static bool
given_is_listener(int fd)
{
	socklen_t size = sizeof(int);
	int type = 0, listens = 0;

	return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 &&
	    type == SOCK_STREAM &&
	    getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) == 0 &&
	    listens != 0;
}

void
given_take(struct given *given)
{
	bool is_ours = given_number("LISTEN_PID", INT32_MAX) ==
	    (size_t)getpid();
	size_t count = is_ours ? given_number("LISTEN_FDS", GIVEN_MAX) : 0;

	for (size_t i = 0; i < sizeof(given_names) / sizeof(*given_names); i++)
		(void)unsetenv(given_names[i]);
	memset(given, 0, sizeof(*given));
	if (count == 0)
		return;
	given->fds = mem_alloc(count, sizeof(*given->fds));
	for (size_t i = 0; i < count; i++) {
		int fd = GIVEN_FIRST_FD + (int)i;

		(void)fcntl(fd, F_SETFD, FD_CLOEXEC);
		if (given_is_listener(fd)) {
			(void)fcntl(fd, F_SETFL, O_NONBLOCK);
			given->fds[given->count++] = fd;
		} else {
			warning("descriptor %d was given, and is no socket "
			    "that listens: it is closed", fd);
			close(fd);
		}
	}
}

/* Whatever else is in a sockaddr (scope, flow, what follows a path) says
 * nothing of where it listens. */
static bool
given_is_same(const struct sockaddr_storage *a,
    const struct sockaddr_storage *b)
{
	char text_a[CONF_LISTEN_BYTES], text_b[CONF_LISTEN_BYTES];

	if (a->ss_family != b->ss_family)
		return false;
	if (a->ss_family == AF_UNIX)
		return strncmp(((const struct sockaddr_un *)a)->sun_path,
		    ((const struct sockaddr_un *)b)->sun_path,
		    sizeof(((const struct sockaddr_un *)a)->sun_path)) == 0;
	net_endpoint_text((const struct sockaddr *)a, text_a, sizeof(text_a));
	net_endpoint_text((const struct sockaddr *)b, text_b, sizeof(text_b));
	return strcmp(text_a, text_b) == 0;
}

static bool
given_address(int fd, struct sockaddr_storage *out)
{
	socklen_t size = sizeof(*out);

	memset(out, 0, sizeof(*out));
	return getsockname(fd, (struct sockaddr *)out, &size) == 0;
}

static bool
given_covers(int fd, const struct sockaddr_storage *address,
    const struct conf_listen *at)
{
	const struct sockaddr_in *four =
	    (const struct sockaddr_in *)&at->address;
	const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)address;
	socklen_t size = sizeof(int);
	int is_six_only = 1;

	return four->sin_family == AF_INET &&
	    four->sin_addr.s_addr == htonl(INADDR_ANY) &&
	    six->sin6_family == AF_INET6 &&
	    IN6_IS_ADDR_UNSPECIFIED(&six->sin6_addr) &&
	    six->sin6_port == four->sin_port &&
	    getsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &is_six_only, &size) ==
	    0 && is_six_only == 0;
}

bool
given_fits(int fd, const struct conf_listen *at)
{
	struct sockaddr_storage address;

	return given_address(fd, &address) &&
	    (given_is_same(&address, &at->address) ||
	    given_covers(fd, &address, at));
}

int
given_find(struct given *given, const struct conf_listen *at)
{
	for (size_t i = 0; i < given->count; i++) {
		int fd = given->fds[i];

		if (fd < 0 || !given_fits(fd, at))
			continue;
		given->fds[i] = -1;
		return fd;
	}
	return -1;
}

int
given_find_path(struct given *given, const char *path)
{
	struct conf_listen at = { .length = sizeof(struct sockaddr_un) };
	struct sockaddr_un *address = (struct sockaddr_un *)&at.address;

	address->sun_family = AF_UNIX;
	if (strlcpy(address->sun_path, path, sizeof(address->sun_path)) >=
	    sizeof(address->sun_path))
		return -1;
	return given_find(given, &at);
}

void
given_return(struct given *given, int fd)
{
	for (size_t i = 0; i < given->count; i++)
		if (given->fds[i] < 0) {
			given->fds[i] = fd;
			return;
		}
	panic("given_return: nobody took it");
}

void
given_add_left(const struct given *given, struct str *out)
{
	struct sockaddr_storage address;
	char text[CONF_LISTEN_BYTES];

	for (size_t i = 0; i < given->count; i++) {
		if (given->fds[i] < 0 ||
		    !given_address(given->fds[i], &address))
			continue;
		if (address.ss_family == AF_UNIX)
			snprintf(text, sizeof(text), "unix:%.*s",
			    (int)sizeof(((struct sockaddr_un *)0)->sun_path),
			    ((struct sockaddr_un *)&address)->sun_path);
		else
			net_endpoint_text((struct sockaddr *)&address, text,
			    sizeof(text));
		str_addf(out, "%s%s", out->len > 0 ? " " : "", text);
	}
}

void
given_close(struct given *given)
{
	for (size_t i = 0; i < given->count; i++)
		if (given->fds[i] >= 0)
			close(given->fds[i]);
	mem_free(&given->fds);
	given->count = 0;
}

int
given_pass(const int *fds, size_t count, const int *others,
    size_t other_count)
{
	size_t all = count + other_count;
	int end = GIVEN_FIRST_FD + (int)all;
	int *high = mem_alloc(all + 1, sizeof(*high));
	char number[32];

	/* First out of the way of each other. */
	for (size_t i = 0; i < all; i++) {
		high[i] = fcntl(i < count ? fds[i] : others[i - count],
		    F_DUPFD, end);
		if (high[i] < 0)
			return -1;
	}
	for (size_t i = 0; i < all; i++)
		if (dup2(high[i], GIVEN_FIRST_FD + (int)i) < 0)
			return -1;
	closefrom(end);
	mem_free(&high);
	if (count == 0)
		return 0;
	snprintf(number, sizeof(number), "%zu", count);
	(void)setenv("LISTEN_FDS", number, 1);
	snprintf(number, sizeof(number), "%ld", (long)getpid());
	(void)setenv("LISTEN_PID", number, 1);
	return 0;
}
