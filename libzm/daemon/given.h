/* given.h - listening sockets that our starter has opened
 *
 * The convention of sd_listen_fds(3): LISTEN_FDS says how many there are,
 * from descriptor 3 on, LISTEN_PID whom they are meant for.  A service
 * manager gives them to the supervisor, the supervisor to the smtpserver, and
 * those of RUN/scheduler.sock and of the statement mailq to the scheduler.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_DAEMON_GIVEN_H
#define ZM_DAEMON_GIVEN_H

#include "base/str.h"
#include "conf/conf.h"

enum { GIVEN_FIRST_FD = 3, GIVEN_MAX = 1000 };

struct given {
	int	*fds;		/* -1: somebody took it */
	size_t	 count;
};

/* Take what the environment tells of, if it is meant for us, and forget the
 * environment, so that no child believes it.  What is no stream socket that
 * listens is closed. */
void given_take(struct given *given);
/* Does fd listen where at says?  An IPv6 socket of all addresses that takes
 * IPv4, too (ListenStream=25 of systemd.socket(5)), fits 0.0.0.0 as well. */
bool given_fits(int fd, const struct conf_listen *at);
/* The socket that fits: the caller's from now on, and it does not block.
 * -1: there is none. */
int given_find(struct given *given, const struct conf_listen *at);
/* The same for the socket of this path. */
int given_find_path(struct given *given, const char *path);
/* It is not wanted any more: somebody may find it again. */
void given_return(struct given *given, int fd);
/* Where those listen that nobody took, with blanks between them. */
void given_add_left(const struct given *given, struct str *out);
/* Those that nobody took are closed. */
void given_close(struct given *given);

/* In a child before it executes: fds[0..count) to GIVEN_FIRST_FD and on,
 * others[0..other_count) after them, all others from there on closed; the
 * environment says so when count > 0.  0 or -1 with errno. */
int given_pass(const int *fds, size_t count, const int *others,
    size_t other_count);

#endif
