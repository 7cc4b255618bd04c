/* listen_socket.c - where clients come in
 *
 * In     a listen statement
 * Out    a socket that listens
 * Trusts a name in the file system only as far as it is a socket on which
 *        nobody answers: that one is replaced
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "daemon/listen_socket.h"

#include "base/banned.h"

enum { LISTEN_BACKLOG = 4096, UNIX_MODE = 0666 };

const char *
listen_socket_path(const char *text)
{
	static const char prefix[] = "unix:";

	return strncmp(text, prefix, sizeof(prefix) - 1) == 0 ?
	    text + sizeof(prefix) - 1 : NULL;
}

/* A socket file on which nobody listens any more is in the way. */
static void
remove_stale(const struct conf_listen *at, const char *path)
{
	struct stat st;
	int fd;

	if (lstat(path, &st) != 0 || !S_ISSOCK(st.st_mode))
		return;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return;
	if (connect(fd, (const struct sockaddr *)&at->address, at->length) !=
	    0 && errno == ECONNREFUSED)
		(void)unlink(path);
	close(fd);
}

/* TCP_NODELAY is inherited by what is accepted: replies are collected here,
 * the kernel need not wait for more. */
static void
set_options(int fd, int family)
{
	int one = 1;

	if (family == AF_UNIX)
		return;
	(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	if (family == AF_INET6)
		(void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &one,
		    sizeof(one));
}

int
listen_socket(const struct conf_listen *at, struct err *err)
{
	const char *path = listen_socket_path(at->text);
	int family = at->address.ss_family;
	int fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC,
	    0);
	int error;

	if (fd < 0)
		return err_sys(err, "cannot make a socket for %s", at->text);
	set_options(fd, family);
	if (path != NULL)
		remove_stale(at, path);
	if (bind(fd, (const struct sockaddr *)&at->address, at->length) == 0 &&
	    (path == NULL || chmod(path, UNIX_MODE) == 0) &&
	    listen(fd, LISTEN_BACKLOG) == 0)
		return fd;
	error = errno;
	err_set(err, "cannot listen on %s: %s%s", at->text, strerror(error),
	    error == EADDRINUSE ? "; another program has it (ss -ltnp names "
	    "it)" : error == EACCES && path == NULL ? "; ports below 1024 are "
	    "for root to open" : "");
	close(fd);
	errno = error;
	return -1;
}

void
listen_socket_close(int fd, const char *text)
{
	const char *path = listen_socket_path(text);

	if (path != NULL)
		(void)unlink(path);
	close(fd);
}
