/* listen_socket.h - the sockets where clients connect
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_DAEMON_LISTEN_SOCKET_H
#define ZM_DAEMON_LISTEN_SOCKET_H

#include "conf/conf.h"

enum { LISTEN_BACKLOG = 4096 };	/* connections not accepted yet */

/* Bind and listen.  A unix socket that a dead process left is replaced;
 * anybody who can reach it may connect.  returns the descriptor, or -1. */
int listen_socket(const struct conf_listen *at, struct err *err);

/* The same while sockets of ours that will be closed (beside[0..count)) have
 * this port at other addresses: 127.0.0.1:25 of ours does not prevent
 * 0.0.0.0:25, as a socket of another program would. */
int listen_socket_beside(const struct conf_listen *at, const int *beside,
    size_t count, struct err *err);

/* Let no more connections into a TCP socket that will be closed, which would
 * cut them off.  The client tries again within a second or two (RFC 9293
 * section 3.8.1) and reaches whoever has the port then. */
void listen_socket_bar(int fd);

/* Close; the name of a unix socket is removed if we may.  text: of the
 * struct conf_listen. */
void listen_socket_close(int fd, const char *text);

/* The path of the unix socket that text names; NULL: it names none. */
const char *listen_socket_path(const char *text);

#endif
