/* servers.c - the hosts of a definition
 *
 * In     the word hosts
 * Out    names and ports, in an order of its own each time
 * Holds  nothing
 * Spec   servers.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdlib.h>

#include "base/ascii.h"
#include "tables/engine/servers.h"

#include "base/banned.h"

/* In an order of its own each time: servers share the load, and one that is
 * away is not always first. */
static void
servers_shuffle(struct server_place *places, size_t count)
{
	for (size_t i = count; i > 1; i--) {
		size_t other = arc4random_uniform((uint32_t)i);
		struct server_place one = places[i - 1];

		places[i - 1] = places[other];
		places[other] = one;
	}
}

/* Where the port begins in NAME:PORT, [ADDRESS]:PORT, /DIRECTORY:PORT; beyond
 * the end: it has none, as an address without brackets. */
static size_t
server_port_at(struct slice host)
{
	size_t at = host.n;

	while (at > 0 && ascii_is_digit(host.p[at - 1]))
		at--;
	if (at == host.n || at < 2 || host.p[at - 1] != ':' ||
	    (slice_find(slice_first(host, at - 1), ':') < at - 1 &&
	    host.p[at - 2] != ']'))
		return host.n + 1;
	return at;
}

size_t
servers_of(const char *text, struct server_place out[SERVERS_MAX])
{
	struct slice rest = slice_of(text), host;
	size_t count = 0, port;

	while (count < SERVERS_MAX && slice_word(&rest, &host)) {
		port = server_port_at(host);
		out[count].port = port < host.n ? slice_from(host, port) :
		    SLICE("");
		host = slice_first(host, port < host.n ? port - 1 : host.n);
		if (slice_starts(host, "[") && slice_ends(host, "]"))
			host = slice_first(slice_from(host, 1), host.n - 2);
		out[count++].name = host;
	}
	servers_shuffle(out, count);
	return count;
}
