/* http.h - mail to a URL: one POST a recipient over a connection that is kept
 *
 * The files in order: address (the connection and its protection), message
 * (what is sent), post (the request and its answer), meaning (the verdict of an
 * answer).
 *
 * If the connection breaks, we still have the message until the head of a 2xx
 * reply has come.  A message that was sent whole and never answered is sent
 * again, with the same Idempotency-Key.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TRANSPORTS_HTTP_H
#define ZM_TRANSPORTS_HTTP_H

#include "grammar/http.h"
#include "transports/frame/agent.h"
#include "transports/smtp/client.h"

enum {
	HTTP_WORDS_BYTES_MAX = 200,	/* of a reply's text, for people */
	HTTP_BODY_BYTES_MAX = 64 * 1024,	/* read of it; of a longer one
					 * the rest is left, and the line
					 * closed */
	HTTP_INTERIM_MAX = 16,		/* replies of 1xx before the one */
	HTTP_WHOLE_BYTES_MAX = 256 * 1024	/* a message that is kept in
					 * memory for all recipients */
};

struct http {			/* the state of the agent */
	struct smtp_client	client;		/* for its connection, policies,
					 * secrets; it says nothing itself */
	char		key[CLIENT_KEY_BYTES + HTTP_HOST_BYTES + 32];
					/* of the connection: whereto, how
					 * protected */
	const struct client_secret *secret;	/* for this URL; NULL */

	unsigned	posts;		/* over this connection */
};

struct http_message {		/* CR LF line ends, but for binary bodies */
	struct str	head;		/* header and blank line */
	struct str	body;		/* when is_whole */
	bool		is_whole, is_binary;
	uint64_t	length;		/* of both */
	int		fd;		/* the body file */
	uint64_t	offset;
};

struct http_answer {
	unsigned	code;		/* 0: none came, verdict has why */
	int64_t		wait_s;		/* it asks for; 0: nothing */
	struct str	words;		/* "HTTP 404 Not Found: no such user" */
};

/* address.c: get a connection to the URL's host: the kept one or a new one.
 * needs_tls  the sender asked for REQUIRETLS
 * returns true; false: *out_trouble is the verdict for all. */
bool http_open(struct http *http, const struct http_url *url, bool needs_tls,
    struct verdict *out_trouble);
/* address.c: close, forget. */
void http_close(struct http *http);

/* message.c: read what is to be sent. 0 or -1 (err). */
int http_message_load(struct http_message *message,
    const struct control_job *job, int body_fd, struct err *err);
void http_message_release(struct http_message *message);
/* message.c: append the next piece of the body file after *at bytes, converted,
 * to out.  PIECE_TROUBLE: it cannot be read (err). */
enum http_piece { PIECE_TROUBLE = -1, PIECE_NONE, PIECE_READ };
enum http_piece http_message_piece(const struct http_message *message,
    uint64_t *at,
    bool *after_cr, struct str *out, struct err *err);
/* message.c: append the head of a request.  0; -1: the credentials cannot be
 * read (err). */
int http_request_add(struct str *out, const struct http_url *url,
    const struct control_job *job, const struct control_rcpt *rcpt,
    uint64_t length, const struct client_secret *secret, struct err *err);

/* post.c: post the message for one recipient.  The caller owns
 * answer->words. */
void http_post(struct http *http, const struct http_url *url,
    const struct control_job *job, const struct control_rcpt *rcpt,
    const struct http_message *message, struct http_answer *answer,
    struct verdict *verdict);

/* meaning.c: the verdict of a reply's code. */
void http_meaning(const struct http_answer *answer, const char *who,
    struct verdict *out);
/* meaning.c: the words of a head and its body's text, one line. */
void http_words(struct str *out, const struct http_head *head,
    struct slice text);

#endif
