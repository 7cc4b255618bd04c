/* unix_socket.c - sockets that have a path
 *
 * In     paths
 * Out    addresses; sockets that connect or listen
 * Trusts nothing
 * Spec   unix_socket.h; unix(7)
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "grammar/net.h"
#include "io/unix_socket.h"

#include "base/banned.h"

enum { UNIX_SOCKET_BACKLOG = 16 };

bool
unix_socket_is_meant(struct slice text)
{
	return slice_starts(text, "unix:");
}

bool
unix_socket_path(struct slice text, struct slice *out_path)
{
	if (!unix_socket_is_meant(text))
		return false;
	*out_path = slice_from(text, sizeof("unix:") - 1);
	return true;
}

int
unix_socket_address(struct slice path, struct sockaddr_un *out,
    struct err *err)
{
	memset(out, 0, sizeof(*out));
	out->sun_family = AF_UNIX;
	if (path.n >= sizeof(out->sun_path)) {
		errno = ENAMETOOLONG;
		return err_set(err, "the socket's path is too long: at most "
		    "%zu bytes", sizeof(out->sun_path) - 1);
	}
	memcpy(out->sun_path, path.p, path.n);
	return 0;
}

int
unix_or_inet_address(struct slice text, struct sockaddr_storage *out,
    socklen_t *out_length, struct err *err)
{
	struct slice path;

	memset(out, 0, sizeof(*out));
	*out_length = sizeof(struct sockaddr_un);
	if (unix_socket_path(text, &path))
		return unix_socket_address(path, (struct sockaddr_un *)out,
		    err);
	if (!slice_starts(text, "inet:"))
		return err_set(err, "write unix:/PATH or inet:ADDRESS:PORT");
	return net_endpoint_parse(slice_from(text, sizeof("inet:") - 1), 0,
	    out, out_length, err) == 0 ? 0 : -1;
}

static int
unix_socket_new(const char *path, int flags, struct sockaddr_un *out_address,
    struct err *err)
{
	int fd;

	if (unix_socket_address(slice_of(path), out_address, err) < 0)
		return -1;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | flags, 0);
	return fd >= 0 ? fd : err_sys(err, "cannot make a socket");
}

static int
unix_socket_give_up(int fd, const char *path, struct err *err)
{
	int error = errno;

	err_sys(err, "%s", path);
	close(fd);
	errno = error;
	return -1;
}

int
unix_socket_connect(const char *path, int flags, struct err *err)
{
	struct sockaddr_un address;
	int fd = unix_socket_new(path, flags, &address, err), result;

	if (fd < 0)
		return -1;
	do	/* who waits for a full queue may be interrupted */
		result = connect(fd, (struct sockaddr *)&address,
		    sizeof(address));
	while (result < 0 && errno == EINTR);
	return result == 0 ? fd : unix_socket_give_up(fd, path, err);
}

int
unix_socket_connect_in(const char *dir, const char *name, int flags,
    struct err *err)
{
	struct str path = STR_INIT;
	int fd;

	str_addf(&path, "%s/%s", dir, name);
	fd = unix_socket_connect(path.buf, flags, err);
	str_release(&path);
	return fd;
}

int
unix_socket_listen(const char *path, mode_t mode, struct err *err)
{
	struct sockaddr_un address;
	int fd = unix_socket_new(path, SOCK_NONBLOCK, &address, err);

	if (fd < 0)
		return -1;
	(void)unlink(path);
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ||
	    chmod(path, mode) < 0 || listen(fd, UNIX_SOCKET_BACKLOG) < 0)
		return unix_socket_give_up(fd, path, err);
	return fd;
}
