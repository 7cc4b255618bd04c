/* unix_socket.h - sockets that have a path
 *
 * A setting says "unix:/PATH"; conf_unix_parse (conf/read) checks its form,
 * these make a socket of it.
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

/* What stands after "unix:", borrowed from text.  false: it does not begin so,
 * and *out_path is as it was. */
bool unix_socket_path(struct slice text, struct slice *out_path);
bool unix_socket_is_meant(struct slice text);

/* 0; -1: the path is too long for a socket. */
int unix_socket_address(struct slice path, struct sockaddr_un *out,
    struct err *err);

/* Of "unix:/PATH" or "inet:ADDRESS:PORT".  0 or -1. */
int unix_or_inet_address(struct slice text, struct sockaddr_storage *out,
    socklen_t *out_length, struct err *err);

/* A connected socket, or -1 (errno kept).  flags: 0 or SOCK_NONBLOCK. */
int unix_socket_connect(const char *path, int flags, struct err *err);
/* The same of dir/name: what a daemon of ours listens at. */
int unix_socket_connect_in(const char *dir, const char *name, int flags,
    struct err *err);

/* One that listens there and does not block, with that mode; what lay there
 * is a dead one's.  -1: err. */
int unix_socket_listen(const char *path, mode_t mode, struct err *err);

#endif
