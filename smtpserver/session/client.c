/* client.c - who is at the other end
 *
 * In     an endpoint as the listener wrote it
 * Out    its address, as text, as literal, as network
 * Spec   RFC 5321 section 4.1.3
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>

#include "smtpserver/session/client.h"

#include "base/banned.h"

int
client_parse(struct slice text, struct slice listener, struct client *out,
    struct err *err)
{
	struct sockaddr_storage address;
	struct slice host, port;
	bool is_ipv6 = text.n > 0 && text.p[0] == '[';
	socklen_t length;

	if (net_endpoint_parse(text, 0, &address, &length, err) < 0)
		return -1;
	out->is_tls = false;
	out->connections = 1;
	net_of_sockaddr((struct sockaddr *)&address, &out->net);
	host = slice_from(text, is_ipv6 ? 1 : 0);
	host = slice_first(host, slice_find(host, is_ipv6 ? ']' : ':'));
	port = slice_from(text, (size_t)(host.p + host.n - text.p) +
	    (is_ipv6 ? 2 : 1));
	snprintf(out->text, sizeof(out->text), SLICE_FMT, SLICE_ARG(text));
	snprintf(out->literal, sizeof(out->literal),
	    "[%s" SLICE_FMT "]:" SLICE_FMT, is_ipv6 ? "IPv6:" : "",
	    SLICE_ARG(host), SLICE_ARG(port));
	snprintf(out->listener, sizeof(out->listener), SLICE_FMT,
	    SLICE_ARG(listener));
	return 0;
}
