/* listeners.h - the listening sockets of an instance; internal to tools/run
 *
 * The supervisor binds them and hands them to each smtpserver that it
 * starts: whoever comes while there is none waits in the backlog.
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

/* Each listener of conf: the socket that now has for it, or one of given, or
 * a fresh one.  Nothing of now is given up.  -1: one cannot be bound, err
 * names its line; all is as before. */
int run_listeners_bind(const struct run_listeners *now, struct given *given,
    const struct conf *conf, struct run_listeners *fresh, struct err *err);

/* The control socket and that of the statement mailq, as far as they are of
 * given: each scheduler gets them. */
void run_listeners_scheduler(struct given *given, const struct conf *conf,
    struct run_listeners *out);

/* Have they other sockets, or the same for another purpose? */
bool run_listeners_differ(const struct run_listeners *a,
    const struct run_listeners *b);

/* Nobody more comes to what gone has and kept has not (listen_socket_bar). */
void run_listeners_bar(const struct run_listeners *gone,
    const struct run_listeners *kept);

/* What gone has and kept has not is closed, or goes back to given; then gone
 * is empty. */
void run_listeners_close(struct run_listeners *gone,
    const struct run_listeners *kept, struct given *given);

/* Can mailq's listener, which is another in now than it was (NULL: there was
 * none), and none of those that each scheduler gets, be bound?  0 or -1 with
 * err. */
int run_listeners_try_mailq(const struct run_listeners *scheduler,
    const struct conf *was, const struct conf *now, struct err *err);

#endif
