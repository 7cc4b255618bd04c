/* http_call.h - one request to a web server, and its reply
 *
 * For straight-line code: a connection for each call, closed after it, within
 * one deadline.  What the server says is bounded (grammar/http.h).
 *
 *	http_call_init(&call), fill in, http_call_open, add the request to
 *	call.peer.out, http_call_ask, http_call_hear, maybe http_call_body,
 *	http_call_release
 *
 * err of all of them begins with the host.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TLS_OUTWARD_HTTP_CALL_H
#define ZM_TLS_OUTWARD_HTTP_CALL_H

#include "grammar/http.h"
#include "io/peer.h"
#include "tls/client.h"

enum { HTTP_CALL_INTERIM_MAX = 5 };	/* replies 1yz before the reply */

struct http_call {
	/* filled in by the caller, whose they stay */
	const char	*host;		/* a name, or an address */
	unsigned	 port;
	struct tls_client *tls;		/* NULL: no TLS */
	int64_t		 deadline_ms;	/* steady */
	/* found */
	bool		 is_untrusted;	/* its certificate is not good */
	struct http_head head;		/* borrows from head_text */
	/* its own */
	struct peer	 peer;
	struct str	 head_text;
};

/* Not connected, and empty. */
void http_call_init(struct http_call *call);
/* Hang up, free what it has. */
void http_call_release(struct http_call *call);

/* Connect, to whichever address answers first; with TLS the certificate must
 * have the name of the host.  0; -1: err. */
int http_call_open(struct http_call *call, struct err *err);
/* Send what peer.out has.  A server that answers before its time, or hangs
 * up, is heard all the same.  0; -1: err. */
int http_call_ask(struct http_call *call, struct err *err);
/* Wait for the head of the final reply.  0; -1: err. */
int http_call_hear(struct http_call *call, struct err *err);
/* The body after it.
 * text      gets its first text_max bytes, what is beyond is dropped
 * wire_max  so many bytes are taken in all, chunks and what was dropped too
 * returns HTTP_DONE at its end; HTTP_MORE: it has more than wire_max bytes;
 *         HTTP_BAD: err */
enum http_progress http_call_body(struct http_call *call, struct str *text,
    size_t text_max, size_t wire_max, struct err *err);

#endif
