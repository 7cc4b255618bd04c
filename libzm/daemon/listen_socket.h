/* listen_socket.h - where clients come in
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_DAEMON_LISTEN_SOCKET_H
#define ZM_DAEMON_LISTEN_SOCKET_H

#include "conf/conf.h"

/* Bind and listen.  A unix socket that a dead process left is replaced;
 * whoever can reach it may connect.  returns the descriptor, or -1. */
int listen_socket(const struct conf_listen *at, struct err *err);

/* Close; the name of a unix socket is removed, where we may.  text: the
 * listen's. */
void listen_socket_close(int fd, const char *text);

/* Does text name a unix socket?  Its path, or NULL. */
const char *listen_socket_path(const char *text);

#endif
