/* unix_socket.h - sockets that have a path
 *
 * A setting says "unix:/PATH"; conf_unix_parse (conf/read) checks its form, and
 * these functions make a socket of it.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_IO_UNIX_SOCKET_H
#define ZM_IO_UNIX_SOCKET_H

#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>

#include "base/err.h"
#include "base/str.h"

/* The path after "unix:", borrowed from text.  false: text does not begin with
 * that, and *out_path is unchanged. */
bool unix_socket_path(struct slice text, struct slice *out_path);
bool unix_socket_is_meant(struct slice text);

/* The address of a path.  0; -1: the path is too long for a socket. */
int unix_socket_address(struct slice path, struct sockaddr_un *out,
    struct err *err);

/* The address of "unix:/PATH" or "inet:ADDRESS:PORT".  0 or -1. */
int unix_or_inet_address(struct slice text, struct sockaddr_storage *out,
    socklen_t *out_length, struct err *err);

/* Make a connected socket.  -1 with err and errno.  flags: 0, SOCK_NONBLOCK. */
int unix_socket_connect(const char *path, int flags, struct err *err);
/* The same for dir/name, where a daemon of ours listens. */
int unix_socket_connect_in(const char *dir, const char *name, int flags,
    struct err *err);

/* Make a non-blocking socket that listens there, with that mode; a file that is
 * already there belongs to a dead process and is replaced.  -1 with err. */
int unix_socket_listen(const char *path, mode_t mode, struct err *err);

#endif
