/* client_stream.c - the client's side of a TLS connection over a stream
 *
 * In     a socket, a client, a goal
 * Out    plain bytes for encrypted ones, and the other way
 * Holds  OpenSSL's state of one connection
 * Trusts nothing that comes: OpenSSL judges it by the goal
 * Spec   client_stream.h; RFC 8446; RFC 5246
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/mem.h"
#include "tls/client_load.h"
#include "tls/outward/client_stream.h"

#include "base/banned.h"

struct outward {
	struct peer	 peer;		/* its descriptor is the stream's */
	SSL		*ssl;
	bool		 wants_write, is_broken;
};

struct outward_goal {
	struct tls_client	*client;
	const struct tls_goal	*goal;
};

static void *
outward_new(void *with, int fd, stream_fn *wake, void *context,
    struct err *err)
{
	const struct outward_goal *asked = with;
	struct outward *outward = mem_alloc(1, sizeof(*outward));

	peer_init(&outward->peer);
	outward->peer.fd = fd;
	outward->ssl = tls_client_begin(asked->client, asked->goal,
	    &outward->peer, err);
	if (outward->ssl == NULL) {
		mem_free(&outward);
		return NULL;
	}
	outward->wants_write = true;	/* the client speaks first */
	return outward;
}

static void
outward_release(void *state)
{
	struct outward *outward = state;

	SSL_free(outward->ssl);
	mem_free(&outward);
}

static enum cipher_step
outward_shake(void *state, struct err *err)
{
	struct outward *outward = state;
	enum cipher_step step = tls_client_shake(outward->ssl, false, err);

	outward->wants_write = step == CIPHER_WANT_WRITE;
	outward->is_broken = step == CIPHER_BROKEN || step == CIPHER_EOF;
	return step;
}

/* Each read asks the socket. */
static void
outward_turn(void *state)
{
	(void)state;
}

static ssize_t
outward_read(void *state, char *out, size_t n)
{
	struct outward *outward = state;
	enum cipher_step step;
	struct err err;
	size_t got = 0;

	if (outward->is_broken)
		return STREAM_BROKEN;
	step = tls_client_read(outward->ssl, out, n, false, &got, &err);
	outward->wants_write = step == CIPHER_WANT_WRITE;
	switch (step) {
	case CIPHER_DONE:
		return (ssize_t)got;
	case CIPHER_WANT_WRITE:
	case CIPHER_WANT_READ:
		return STREAM_NOTHING;
	case CIPHER_EOF:
		return STREAM_EOF;
	case CIPHER_BROKEN:
		break;
	}
	outward->is_broken = true;
	return STREAM_BROKEN;
}

static ssize_t
outward_write(void *state, struct slice bytes)
{
	struct outward *outward = state;
	size_t done = 0, n = 0;
	enum cipher_step step = CIPHER_DONE;
	struct err err;

	if (outward->is_broken)
		return -1;
	while (done < bytes.n && step == CIPHER_DONE) {
		step = tls_client_write(outward->ssl, bytes.p + done,
		    bytes.n - done, &n, &err);
		done += step == CIPHER_DONE ? n : 0;
	}
	outward->wants_write = step == CIPHER_WANT_WRITE;
	outward->is_broken = step == CIPHER_BROKEN || step == CIPHER_EOF;
	return outward->is_broken ? -1 : (ssize_t)done;
}

static bool
outward_wants_write(const void *state)
{
	const struct outward *outward = state;

	return outward->wants_write;
}

/* No other process has our key. */
static bool
outward_is_asleep(const void *state)
{
	return false;
}

static void
outward_end(void *state)
{
	struct outward *outward = state;

	if (!outward->is_broken)
		tls_client_bye(outward->ssl);
}

static const struct stream_cipher outward_cipher = {
	.new = outward_new, .release = outward_release,
	.shake = outward_shake, .turn = outward_turn, .read = outward_read,
	.write = outward_write, .wants_write = outward_wants_write,
	.is_asleep = outward_is_asleep, .end = outward_end
};

int
stream_start_tls_client(struct stream *stream, struct tls_client *client,
    const struct tls_goal *goal, struct err *err)
{
	struct outward_goal asked = { client, goal };
	size_t dropped;

	return stream_encrypt(stream, &outward_cipher, &asked, &dropped, err);
}

int64_t
stream_tls_client_ends_s(const struct stream *stream)
{
	const struct outward *outward = stream_cipher_state(stream);

	return stream_tls(stream) == STREAM_ENCRYPTED ?
	    tls_shown_ends_s(outward->ssl) : 0;
}
