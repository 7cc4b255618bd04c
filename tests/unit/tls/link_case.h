/* link_case.h - one connection with both of its ends in one process
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TESTS_LINK_CASE_H
#define ZM_TESTS_LINK_CASE_H

#include <criterion/criterion.h>
#include <openssl/pem.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tls/link.h"
#include "tls/about.h"
#include "tests/unit/tls/made.h"

#include "base/banned.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum { TURNS_MAX = 2000 };

/* ---- one connection --------------------------------------------------- */

struct both {
	struct loop		*loop;
	struct tls_tickets	*tickets;
	struct tls_server	*server;
	struct stream		*stream;
	int			 peer;
	struct str		 got;		/* by the server */
	bool			 is_over;
	SSL_CTX			*context;
	SSL			*client;
	SSL_SESSION		*session;
};

static inline void
on_ready(void *context)
{
	struct both *both = context;

	switch (stream_fill(both->stream)) {
	case STREAM_GOT:
		str_add_slice(&both->got, stream_input(both->stream));
		stream_consume(both->stream, stream_input(both->stream).n);
		break;
	case STREAM_EOF:
	case STREAM_BROKEN:
		both->is_over = true;
		break;
	case STREAM_NOTHING:
		break;
	}
	(void)stream_flush(both->stream);
	stream_await(both->stream, !both->is_over);
}

static inline void
both_init(struct both *both, const struct tls_terms *terms)
{
	static const struct tls_terms plain;
	struct err err;

	memset(both, 0, sizeof(*both));
	str_init(&both->got);
	both->loop = loop_new();
	both->tickets = tls_tickets_new();
	both->server = tls_server_new(terms != NULL ? terms : &plain,
	    both->tickets, &err);
	cr_assert_not_null(both->server, "%s", err.text);
	both->context = SSL_CTX_new(TLS_client_method());
}

static inline void
both_add(struct both *both, const struct made *made, const char *name)
{
	struct tls_pair pair;
	struct err err;

	cr_assert_eq(tls_pair_load(&pair, made->certificate, made->key, &err),
	    0, "%s", err.text);
	cr_assert_eq(tls_server_add(both->server, name, str_slice(&pair.chain),
	    pair.key, &err), 0, "%s", err.text);
	tls_pair_release(&pair);
}

static inline void
both_open(struct both *both)
{
	int ends[2];

	cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends),
	    0);
	both->peer = ends[0];
	both->is_over = false;
	both->stream = stream_new(both->loop, ends[1], on_ready, both);
}

static inline void
both_start(struct both *both, const char *name)
{
	size_t dropped;
	struct err err;

	both_open(both);
	cr_assert_eq(stream_start_tls(both->stream, both->server, &dropped,
	    &err), 0);
	stream_await(both->stream, true);
	both->client = made_client(both->context, both->peer, name);
	if (both->session != NULL)
		SSL_set_session(both->client, both->session);
}

/* Until both sides are through, or one gave up.  true: they are. */
static inline bool
both_shake(struct both *both)
{
	int result = -1;

	for (int i = 0; i < TURNS_MAX && !both->is_over; i++) {
		int why;

		loop_turn(both->loop, 0);
		result = SSL_do_handshake(both->client);
		why = SSL_get_error(both->client, result);
		if (result == 1 &&
		    stream_tls(both->stream) == STREAM_ENCRYPTED)
			return true;
		if (result != 1 && why != SSL_ERROR_WANT_READ &&
		    why != SSL_ERROR_WANT_WRITE)
			break;
	}
	return false;
}

/* The client takes in what has come (tickets, too). */
static inline void
client_read(struct both *both, struct str *out)
{
	char bytes[4096];
	int n;

	while ((n = SSL_read(both->client, bytes, sizeof(bytes))) > 0)
		str_add(out, bytes, (size_t)n);
}

static inline void
both_close(struct both *both)
{
	if (SSL_is_init_finished(both->client))
		SSL_shutdown(both->client);	/* else nothing is resumed */
	SSL_free(both->client);
	both->client = NULL;
	for (int i = 0; i < 10; i++)
		loop_turn(both->loop, 0);
	stream_free(&both->stream);
	str_reset(&both->got);
}

static inline void
both_free(struct both *both)
{
	SSL_SESSION_free(both->session);
	SSL_CTX_free(both->context);
	tls_server_drop(&both->server);
	tls_tickets_free(&both->tickets);
	str_release(&both->got);
	loop_free(&both->loop);
}

#endif
