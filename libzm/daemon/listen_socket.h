/* listen_socket.h - the sockets where clients connect
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_DAEMON_LISTEN_SOCKET_H
#define ZM_DAEMON_LISTEN_SOCKET_H

#include "conf/conf.h"

enum { LISTEN_BACKLOG = 4096 };	/* that wait to be accepted */

/* Bind and listen.  A unix socket that a dead process left is replaced;
 * whoever can reach it may connect.  returns the descriptor, or -1. */
int listen_socket(const struct conf_listen *at, struct err *err);

/* The same beside sockets of our own that have this port at other addresses
 * and will go (beside[0..count)): 127.0.0.1:25 does not keep 0.0.0.0:25 from
 * coming before it.  Sockets of others do. */
int listen_socket_beside(const struct conf_listen *at, const int *beside,
    size_t count, struct err *err);

/* Who comes from now on to a TCP socket that will be closed would be cut off
 * by that: the connection waits outside, is asked for again within a second or
 * two (RFC 9293 section 3.8.1) and finds who has the port then. */
void listen_socket_bar(int fd);

/* Close; the name of a unix socket is removed, where we may.  text: the
 * listen's. */
void listen_socket_close(int fd, const char *text);

/* Does text name a unix socket?  Its path, or NULL. */
const char *listen_socket_path(const char *text);

#endif
