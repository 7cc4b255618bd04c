/* given.h - listening sockets that our starter has opened
 *
 * The convention of sd_listen_fds(3): LISTEN_FDS says how many there are, from
 * descriptor 3 on, and LISTEN_PID for which process.  A service manager gives
 * them to the supervisor.  The supervisor gives them to the smtpserver, and
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
	int	*fds;		/* -1: it was taken */
	size_t	 count;
};

/* Take the sockets that the environment names, if they are meant for us, and
 * unset the variables, so that no child believes them.  A descriptor that is
 * not a listening stream socket is closed. */
void given_take(struct given *given);
/* Does fd listen where at says?  An IPv6 socket of all addresses that accepts
 * IPv4, too (ListenStream=25 of systemd.socket(5)), also fits 0.0.0.0. */
bool given_fits(int fd, const struct conf_listen *at);
/* Take the socket that fits: the caller owns it from now on, and it does not
 * block.  -1: there is none. */
int given_find(struct given *given, const struct conf_listen *at);
/* The same for the socket of this path. */
int given_find_path(struct given *given, const char *path);
/* Give a socket back, so that it can be found again. */
void given_return(struct given *given, int fd);
/* Append the addresses of the sockets that were not taken, separated by
 * blanks. */
void given_add_left(const struct given *given, struct str *out);
/* Close the sockets that were not taken. */
void given_close(struct given *given);

/* To be called in a child before it executes: move fds[0..count) to
 * GIVEN_FIRST_FD and on, others[0..other_count) after them, and close all
 * descriptors after these; set the environment if count > 0.  0 or -1 with
 * errno. */
int given_pass(const int *fds, size_t count, const int *others,
    size_t other_count);

#endif
