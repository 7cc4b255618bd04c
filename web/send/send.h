/* send.h - POST /send: a message from a program that has no SMTP
 *
 * The desk only translates: it checks no password, applies no rule and writes
 * no mail.  A submission listener does (dialogue.h), so what applies to SMTP
 * applies here.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_WEB_SEND_H
#define ZM_WEB_SEND_H

#include <sys/socket.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/str.h"

struct event_base;
struct evhttp_request;

enum {
	SEND_AT_WORK_MAX = 16,		/* dialogues at a time */
	SEND_IN_LINE_MAX = 100,		/* requests that wait for one, */
	SEND_IN_LINE_MS = 60000,	/* and the longest wait */
	SEND_KEY_BYTES_MAX = 128	/* of Idempotency-Key */
};

struct send_how {		/* how the desk was started */
	const char	*dir;		/* of keys */
	uid_t		 uid;		/* the account that will serve */
	gid_t		 gid;
	const char	*place;		/* "unix:/PATH", "tcp:HOST:PORT",
					 * "tls:HOST:PORT", or "none" */
	size_t		 size_bytes;	/* the largest message */
};

/* Open DIR and find the listener.  -1: err says what is wrong. */
int send_open(const struct send_how *how, struct err *err);
/* Where the listener is; *out_length 0: nowhere. */
const struct sockaddr *send_place(socklen_t *out_length);
/* Start in this loop; dial is a socket to the process that connects for us
 * (owned from now on; -1: there is none). */
void send_start(struct event_base *base, int dial);
/* DIR, by a path that a sandbox can open; NULL: there is none. */
const char *send_dir(void);

/* Is this the path of /send, and is there /send? */
bool send_is_path(struct slice path);
/* Take a complete request, which will be answered in any case.  The caller must
 * not touch it any more. */
void send_take(struct evhttp_request *http, struct slice path_and_query);

#endif
