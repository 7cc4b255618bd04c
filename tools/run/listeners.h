/* listeners.h - the listening sockets of an instance; internal to tools/run
 *
 * The supervisor binds them and hands them to each smtpserver that it starts,
 * so that clients wait in the backlog while there is none.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_RUN_LISTENERS_H
#define ZM_TOOLS_RUN_LISTENERS_H

#include "conf/conf.h"
#include "daemon/given.h"

struct run_listener {
	char	text[CONF_LISTEN_BYTES];
	int	fd;
	bool	is_given;	/* by the service manager */
	bool	is_submission, is_tls;
};

struct run_listeners {
	struct run_listener	*rows;
	size_t		 count;
};

/* Get a socket for each listener of conf: the one in `now`, one of given, or a
 * new one.  `now` is not changed.  -1: one cannot be bound, err names its line;
 * nothing has changed. */
int run_listeners_bind(const struct run_listeners *now, struct given *given,
    const struct conf *conf, struct run_listeners *fresh, struct err *err);

/* The control socket and that of the statement mailq, if they are among given:
 * each scheduler gets them. */
void run_listeners_scheduler(struct given *given, const struct conf *conf,
    struct run_listeners *out);

/* Do they differ in a socket, or in its purpose? */
bool run_listeners_differ(const struct run_listeners *a,
    const struct run_listeners *b);

/* Refuse new connections to sockets that gone has and kept has not
 * (listen_socket_bar). */
void run_listeners_bar(const struct run_listeners *gone,
    const struct run_listeners *kept);

/* Close the sockets that gone has and kept has not, or return them to given;
 * gone is empty then. */
void run_listeners_close(struct run_listeners *gone,
    const struct run_listeners *kept, struct given *given);

/* Can mailq's listener be bound, if it differs from was (NULL: there was none)
 * and is none of the sockets that each scheduler gets?  0 or -1 with err. */
int run_listeners_try_mailq(const struct run_listeners *scheduler,
    const struct conf *was, const struct conf *now, struct err *err);

#endif
