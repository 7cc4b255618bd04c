/* tcp.c - engine tcp: any program that speaks Postfix's tcp_table protocol
 *
 * In     keys
 * Out    what the program answers
 * Holds  a connection
 * Trusts nothing in an answer: its length is bounded, its code is one of three
 * Spec   engine.h, tcp_words.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <sys/socket.h>

#include "base/clock.h"
#include "base/mem.h"
#include "io/peer.h"
#include "tables/engine/engine.h"
#include "tables/engine/link.h"
#include "tables/engine/tcp_words.h"

#include "base/banned.h"

struct tcp {
	const struct definition	*definition;
	struct peer		 peer;
};

static void *
tcp_open(const struct definition *definition)
{
	struct tcp *tcp = mem_alloc(1, sizeof(*tcp));

	tcp->definition = definition;
	peer_init(&tcp->peer);
	return tcp;
}

static void
tcp_close(void *state)
{
	struct tcp *tcp = state;

	peer_release(&tcp->peer);
	mem_free(&tcp);
}

static enum engine_answer
tcp_try(struct tcp *tcp, struct slice key, struct str *out, struct err *err)
{
	const char *server = tcp->definition->values[DEFINITION_SERVER];
	int64_t deadline_ms = clock_steady_ms() + LINK_ANSWER_MS;
	enum engine_answer answer;
	struct slice line;

	if (!link_connect(&tcp->peer, slice_of(server), deadline_ms, err))
		return ENGINE_AWAY;
	tcp_words_ask(&tcp->peer.out, key);
	if (peer_flush(&tcp->peer, deadline_ms, err) != PEER_OK ||
	    !link_line(&tcp->peer, TCP_LINE_BYTES_MAX, deadline_ms, &line,
	    err)) {
		peer_close(&tcp->peer);
		err_prefix(err, "%s", server);
		return ENGINE_AWAY;
	}
	answer = tcp_words_read(line, out, err);
	peer_consume(&tcp->peer, line.n + 1);
	return answer;
}

/* A kept connection may have ended since: then once more. */
static enum engine_answer
tcp_ask(void *state, const struct slice parameters[DEFINITION_PARAMETERS],
    struct str *out, struct err *err)
{
	struct tcp *tcp = state;
	bool was_kept = peer_is_open(&tcp->peer);
	enum engine_answer answer = tcp_try(tcp, parameters[0], out, err);

	if (answer == ENGINE_AWAY && was_kept)
		answer = tcp_try(tcp, parameters[0], out, err);
	return answer;
}

static void
tcp_lock_in(const struct definition *definition, struct sandbox *out)
{
	out->sockets = SOCKETS_ALL;
}

const struct engine engine_tcp = {
	.name = "tcp", .open = tcp_open, .ask = tcp_ask, .close = tcp_close,
	.lock_in = tcp_lock_in,
};
