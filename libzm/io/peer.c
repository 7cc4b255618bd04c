/* peer.c - a client's connection, byte by byte and never for ever
 *
 * In     an address; bytes to send
 * Out    bytes that came; why there are no more
 * Holds  one socket and two buffers
 * Trusts nobody: unread bytes are bounded, every wait has a deadline
 * Spec   RFC 5321 section 4.5.3.2 (that there are time-outs), RFC 2920
 *        section 3.1 (that a client must not deadlock)
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/clock.h"
#include "io/peer.h"

#include "base/banned.h"

enum {
	SLICE_MS = 5000,	/* longest single wait in recv */
	READ_BYTES = 4095	/* asked for at once; with its end a page */
};

void
peer_init(struct peer *peer)
{
	memset(peer, 0, sizeof(*peer));
	peer->fd = -1;
	str_init(&peer->in);
	str_init(&peer->out);
}

void
peer_close(struct peer *peer)
{
	if (peer->cipher != NULL)
		peer->cipher->end(peer->cipher_state);
	peer->cipher = NULL;
	peer->cipher_state = NULL;
	if (peer->fd >= 0)
		close(peer->fd);
	peer->fd = -1;
	peer->in_used = 0;
	peer->slice_ms = 0;
	str_reset(&peer->in);
	str_reset(&peer->out);
}

void
peer_release(struct peer *peer)
{
	peer_close(peer);
	str_release(&peer->in);
	str_release(&peer->out);
}

bool
peer_is_open(const struct peer *peer)
{
	return peer->fd >= 0;
}

void
peer_adopt(struct peer *peer, int fd)
{
	peer_close(peer);
	peer->fd = fd;
	peer->sent_bytes = 0;
}

/* Milliseconds for poll; 0 when the deadline is over. */
static int
peer_left_ms(int64_t deadline_ms, int64_t longest_ms)
{
	int64_t left = deadline_ms - clock_steady_ms();
	int nap = clock_nap_ms();

	if (left <= 0)
		return 0;
	if (nap >= 0 && left > nap)
		left = nap;
	return (int)(left < longest_ms ? left : longest_ms);
}

/* poll until ready or the deadline; a moved clock is looked at again. */
static enum peer_result
peer_wait(int fd, short events, int64_t deadline_ms, struct err *err)
{
	struct pollfd one = { .fd = fd, .events = events };

	for (;;) {
		int left = peer_left_ms(deadline_ms, 3600000);
		int n = poll(&one, 1, left);

		if (n > 0)
			return PEER_OK;
		if (n < 0 && errno != EINTR) {
			err_sys(err, "poll");
			return PEER_ERROR;
		}
		if (n == 0 && peer_left_ms(deadline_ms, 1) == 0) {
			err_set(err, "timed out");
			return PEER_TIMEOUT;
		}
	}
}

static enum peer_result
peer_fd_connect(int fd, const struct sockaddr *address, socklen_t length,
    int64_t deadline_ms, struct err *err)
{
	enum peer_result result;
	socklen_t n = sizeof(int);
	int trouble = 0;

	if (connect(fd, address, length) == 0)
		return PEER_OK;
	if (errno != EINPROGRESS && errno != EINTR) {
		err_sys(err, "connect");
		return PEER_ERROR;
	}
	result = peer_wait(fd, POLLOUT, deadline_ms, err);
	if (result != PEER_OK)
		return result;
	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &trouble, &n) != 0)
		trouble = errno;
	if (trouble == 0)
		return PEER_OK;
	errno = trouble;
	err_sys(err, "connect");
	return PEER_ERROR;
}

enum peer_result
peer_connect(struct peer *peer, const struct sockaddr *address,
    socklen_t length, int64_t deadline_ms, struct err *err)
{
	enum peer_result result;
	int on = 1;
	int fd = socket(address->sa_family,
	    SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0) {
		err_sys(err, "socket");
		return PEER_ERROR;
	}
	if (address->sa_family != AF_UNIX)
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	result = peer_fd_connect(fd, address, length, deadline_ms, err);
	if (result != PEER_OK) {
		close(fd);
		return result;
	}
	/* from now on recv waits by SO_RCVTIMEO: one call a reply */
	fcntl(fd, F_SETFL, 0);
	peer_adopt(peer, fd);
	return PEER_OK;
}

/* recv through the cipher: errno EAGAIN while nothing has come. */
static ssize_t
peer_decrypt(struct peer *peer, int flags)
{
	size_t n = 0;

	switch (peer->cipher->read(peer->cipher_state,
	    str_room(&peer->in, READ_BYTES), READ_BYTES, flags == 0, &n,
	    &peer->cipher_words)) {
	case CIPHER_DONE:
		return (ssize_t)n;
	case CIPHER_WANT_READ:
	case CIPHER_WANT_WRITE:
		errno = EAGAIN;
		return -1;
	case CIPHER_EOF:
		return 0;
	case CIPHER_BROKEN:
		break;
	}
	errno = EPROTO;
	return -1;
}

/* One recv into in, at most to its bound. */
static ssize_t
peer_receive(struct peer *peer, int flags)
{
	ssize_t n;

	if (peer->in_used > 0) {
		str_consume(&peer->in, peer->in_used);
		peer->in_used = 0;
	}
	if (peer->in.len >= PEER_IN_BYTES_MAX) {
		errno = EMSGSIZE;
		return -1;
	}
	n = peer->cipher != NULL ? peer_decrypt(peer, flags) : recv(peer->fd,
	    str_room(&peer->in, READ_BYTES), READ_BYTES, flags);
	if (n > 0) {
		peer->in.len += (size_t)n;
		peer->in.buf[peer->in.len] = '\0';
	}
	return n;
}

bool
peer_is_quiet(struct peer *peer)
{
	if (peer->fd < 0 || peer->in.len > peer->in_used)
		return false;
	return peer_receive(peer, MSG_DONTWAIT) < 0 &&
	    (errno == EAGAIN || errno == EWOULDBLOCK);
}

/* The socket takes no more: wait until it does, and read meanwhile. */
static enum peer_result
peer_wait_to_write(struct peer *peer, int64_t deadline_ms, struct err *err)
{
	bool may_read = peer->in.len - peer->in_used < PEER_IN_BYTES_MAX;
	short events = may_read ? POLLIN | POLLOUT : POLLOUT;
	enum peer_result result = peer_wait(peer->fd, events, deadline_ms, err);

	if (result != PEER_OK || !may_read)
		return result;
	if (peer_receive(peer, MSG_DONTWAIT) == 0) {
		err_set(err, "the peer closed the connection");
		return PEER_ERROR;
	}
	return PEER_OK;
}

/* send through the cipher: errno as send has it. */
static ssize_t
peer_cipher_send(struct peer *peer, const char *bytes, size_t n)
{
	size_t sent = 0;

	switch (peer->cipher->write(peer->cipher_state, bytes, n, &sent,
	    &peer->cipher_words)) {
	case CIPHER_DONE:
		return (ssize_t)sent;
	case CIPHER_WANT_READ:
	case CIPHER_WANT_WRITE:
		errno = EAGAIN;
		return -1;
	case CIPHER_EOF:
	case CIPHER_BROKEN:
		break;
	}
	errno = EPROTO;
	return -1;
}

/* In the cipher's words where it has some. */
static enum peer_result
peer_broken(const struct peer *peer, struct err *err, const char *call)
{
	if (peer->cipher != NULL && errno == EPROTO)
		err_set(err, "%s", peer->cipher_words.text);
	else
		err_sys(err, "%s", call);
	return PEER_ERROR;
}

static enum peer_result
peer_send_all(struct peer *peer, size_t *sent, int64_t deadline_ms,
    struct err *err)
{
	while (*sent < peer->out.len) {
		enum peer_result result;
		const char *bytes = peer->out.buf + *sent;
		size_t left = peer->out.len - *sent;
		ssize_t n = peer->cipher != NULL ?
		    peer_cipher_send(peer, bytes, left) :
		    send(peer->fd, bytes, left, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n >= 0) {
			*sent += (size_t)n;
			continue;
		}
		if (errno == EINTR)
			continue;
		if (errno != EAGAIN && errno != EWOULDBLOCK)
			return peer_broken(peer, err, "send");
		result = peer_wait_to_write(peer, deadline_ms, err);
		if (result != PEER_OK)
			return result;
	}
	return PEER_OK;
}

enum peer_result
peer_flush(struct peer *peer, int64_t deadline_ms, struct err *err)
{
	enum peer_result result;
	size_t sent = 0;

	if (peer->fd < 0) {
		err_set(err, "not connected");
		return PEER_ERROR;
	}
	result = peer_send_all(peer, &sent, deadline_ms, err);
	str_consume(&peer->out, sent);
	peer->sent_bytes += sent;
	return result;
}

/* recv waits at most one slice; the kernel is told only when it changes. */
static int
peer_slice_set(struct peer *peer, int64_t deadline_ms)
{
	int slice = peer_left_ms(deadline_ms, SLICE_MS);
	struct timeval tv = { slice / 1000, slice % 1000 * 1000 };

	if (slice == 0)
		return -1;
	if (slice == peer->slice_ms)
		return 0;
	peer->slice_ms = slice;
	setsockopt(peer->fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
	return 0;
}

enum peer_result
peer_fill(struct peer *peer, int64_t deadline_ms, struct err *err)
{
	if (peer->fd < 0) {
		err_set(err, "not connected");
		return PEER_ERROR;
	}
	for (;;) {
		ssize_t n;

		if (peer_slice_set(peer, deadline_ms) < 0) {
			err_set(err, "timed out");
			return PEER_TIMEOUT;
		}
		n = peer_receive(peer, 0);
		if (n > 0)
			return PEER_OK;
		if (n == 0) {
			err_set(err, "the peer closed the connection");
			return PEER_EOF;
		}
		if (errno != EAGAIN && errno != EWOULDBLOCK &&
		    errno != EINTR)
			return peer_broken(peer, err, "receive");
	}
}

/* ---- encrypted -------------------------------------------------------- */

static enum peer_result
peer_shake(struct peer *peer, int64_t deadline_ms, struct err *err)
{
	for (;;) {
		enum peer_result result = PEER_OK;

		if (peer_slice_set(peer, deadline_ms) < 0) {
			err_set(err, "timed out");
			return PEER_TIMEOUT;
		}
		switch (peer->cipher->shake(peer->cipher_state, err)) {
		case CIPHER_DONE:
			return PEER_OK;
		case CIPHER_WANT_READ:	/* the receive time-out is over */
			continue;
		case CIPHER_WANT_WRITE:
			result = peer_wait(peer->fd, POLLOUT, deadline_ms, err);
			break;
		case CIPHER_EOF:
			err_set(err, "the peer closed the connection");
			return PEER_EOF;
		case CIPHER_BROKEN:
			return PEER_ERROR;
		}
		if (result != PEER_OK)
			return result;
	}
}

enum peer_result
peer_encrypt(struct peer *peer, const struct peer_cipher *cipher,
    void *state, int64_t deadline_ms, struct err *err)
{
	str_reset(&peer->in);
	str_reset(&peer->out);
	peer->in_used = 0;
	if (peer->fd < 0 || peer->cipher != NULL) {
		err_set(err, peer->fd < 0 ? "not connected" :
		    "the connection is encrypted already");
		cipher->end(state);
		return PEER_ERROR;
	}
	peer->cipher = cipher;
	peer->cipher_state = state;
	return peer_shake(peer, deadline_ms, err);
}

struct slice
peer_unread(const struct peer *peer)
{
	return slice_from(str_slice(&peer->in), peer->in_used);
}

void
peer_consume(struct peer *peer, size_t n)
{
	size_t unread = peer->in.len - peer->in_used;

	peer->in_used += n < unread ? n : unread;
}
