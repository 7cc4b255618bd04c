/* link.c - a connection to a server that an engine keeps
 *
 * In     where a server is
 * Out    bytes of it
 * Holds  nothing; the connection is the engine's
 * Trusts nothing: every wait has its end, every line a bound
 * Spec   link.h
 *
 * SPDX-License-Identifier: ISC
 */
#include "io/unix_socket.h"
#include "tables/engine/link.h"

#include "base/banned.h"

bool
link_connect(struct peer *peer, struct slice server, int64_t deadline_ms,
    struct err *err)
{
	struct sockaddr_storage address;
	socklen_t length;

	if (peer_is_open(peer) && peer_is_quiet(peer))
		return true;
	peer_close(peer);
	if (unix_or_inet_address(server, &address, &length, err) < 0)
		return false;
	if (peer_connect(peer, (struct sockaddr *)&address, length,
	    deadline_ms, err) == PEER_OK)
		return true;
	err_prefix(err, SLICE_FMT, SLICE_ARG(server));
	return false;
}

bool
link_fill(struct peer *peer, int64_t deadline_ms, struct err *err)
{
	switch (peer_fill(peer, deadline_ms, err)) {
	case PEER_OK:
		return true;
	case PEER_EOF:
		err_set(err, "it closed the connection");
		return false;
	case PEER_TIMEOUT:
		err_set(err, "it does not answer");
		return false;
	case PEER_ERROR:
		break;
	}
	return false;
}

bool
link_line(struct peer *peer, size_t bytes_max, int64_t deadline_ms,
    struct slice *out, struct err *err)
{
	struct slice unread = peer_unread(peer);
	size_t end;

	while ((end = slice_find(unread, '\n')) == unread.n &&
	    unread.n <= bytes_max) {
		if (!link_fill(peer, deadline_ms, err))
			return false;
		unread = peer_unread(peer);
	}
	*out = slice_first(unread, end);
	if (end <= bytes_max && end < unread.n)
		return true;
	err_set(err, "a line of it has more than %zu bytes", bytes_max);
	return false;
}
