/* script.h - a server that follows a script, for tests of clients
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TESTS_SCRIPT_H
#define ZM_TESTS_SCRIPT_H

#include <pthread.h>
#include <stdbool.h>

#include "base/str.h"

/* A script is lines, one step each, for one connection after the other:
 *	> TEXT	send TEXT and CR LF
 *	>> TEXT	send TEXT as it is (\r \n \0 understood)
 *	< TEXT	read a line that must begin with TEXT
 *	.	read a message, up to and including its CR LF . CR LF
 *	* N	send N times 'x'
 *	T NAME	speak TLS from now on, with the certificate of that name
 *		(certs.h); when the handshake fails what follows up to the
 *		next ! is passed over
 *	!	close, begin with the next connection
 *	~	wait until the client closes
 * At its end the client's last bytes are read until it closes. */
struct script {
	const char	*text;
	int		 listener;
	unsigned	 port;
	unsigned	 connections;
	struct str	 heard;		/* every byte from the client */
	size_t		 line_at;	/* of heard: not yet looked at */
	char		 wrong[512];	/* first step that did not fit, or "" */
	pthread_t	 thread;
	struct ssl_st	*ssl;		/* NULL: none now */
	struct ssl_ctx_st *tls[5];	/* one a name, kept for resumption */
	unsigned	 handshakes, resumed;
	char		 client_name[64];	/* of its certificate */
};

/* Listen on a free loopback port and follow text in a thread. */
void script_start(struct script *script, const char *text);
/* The client is done: wait for the thread. */
void script_join(struct script *script);
void script_release(struct script *script);

/* How often does needle stand in what the client said? */
unsigned script_heard(const struct script *script, const char *needle);

#endif
