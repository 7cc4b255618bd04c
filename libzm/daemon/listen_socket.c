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
#include <linux/filter.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "daemon/listen_socket.h"
#include "io/unix_socket.h"

#include "base/banned.h"

enum { UNIX_MODE = 0666 };

const char *
listen_socket_path(const char *text)
{
	struct slice path;

	return unix_socket_path(slice_of(text), &path) ? path.p : NULL;
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

/* The system lets sockets share a port when each of them, and of one
 * account, says so.  Ours say it for this moment only: whoever comes later
 * shall not. */
static void
listen_socket_share(const int *fds, size_t count, int is_shared)
{
	for (size_t i = 0; i < count; i++)
		(void)setsockopt(fds[i], SOL_SOCKET, SO_REUSEPORT, &is_shared,
		    sizeof(is_shared));
}

static int
listen_socket_bind(int fd, const struct conf_listen *at)
{
	const char *path = listen_socket_path(at->text);

	if (path != NULL)
		remove_stale(at, path);
	return bind(fd, (const struct sockaddr *)&at->address, at->length) ==
	    0 && (path == NULL || chmod(path, UNIX_MODE) == 0) &&
	    listen(fd, LISTEN_BACKLOG) == 0 ? 0 : -1;
}

int
listen_socket(const struct conf_listen *at, struct err *err)
{
	return listen_socket_beside(at, NULL, 0, err);
}

int
listen_socket_beside(const struct conf_listen *at, const int *beside,
    size_t count, struct err *err)
{
	const char *path = listen_socket_path(at->text);
	int family = at->address.ss_family;
	int fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC,
	    0);
	int result, error;

	if (fd < 0)
		return err_sys(err, "cannot make a socket for %s", at->text);
	set_options(fd, family);
	listen_socket_share(beside, count, 1);
	listen_socket_share(&fd, count > 0, 1);
	result = listen_socket_bind(fd, at);
	error = errno;
	listen_socket_share(&fd, count > 0, 0);
	listen_socket_share(beside, count, 0);
	if (result == 0)
		return fd;
	err_set(err, "cannot listen on %s: %s%s", at->text, strerror(error),
	    error == EADDRINUSE ? "; another program has it (ss -ltnp names "
	    "it)" : error == EACCES && path == NULL ? "; ports below 1024 are "
	    "for root to open" : "");
	close(fd);
	errno = error;
	return -1;
}

void
listen_socket_bar(int fd)
{
	enum { FLAGS_AT = 13 };		/* in a segment's header */
	/* is it a SYN? then it is dropped; all else passes */
	struct sock_filter steps[] = {
		BPF_STMT(BPF_LD | BPF_B | BPF_ABS, FLAGS_AT),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, TH_SYN, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, 0),
		BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
	};
	struct sock_fprog filter = { .len = 4, .filter = steps };
	int family;
	socklen_t length = sizeof(family);

	if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &family, &length) == 0 &&
	    family != AF_UNIX)
		(void)setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &filter,
		    sizeof(filter));
}

void
listen_socket_close(int fd, const char *text)
{
	const char *path = listen_socket_path(text);

	if (path != NULL)
		(void)unlink(path);
	close(fd);
}
