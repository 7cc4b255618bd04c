/* net.c - IP addresses and networks as text
 *
 * In     words of the configuration; socket addresses
 * Out    16 bytes and a mask length; socket addresses; text
 * Trusts nothing: lengths are checked before anything is copied
 * Spec   RFC 4291 section 2.2 and 2.5.5.2; RFC 4632 section 3.1
 *
 *   net      = address [ "/" number ]
 *   address  = IPv4 / IPv6 / "[" IPv6 "]"
 *   endpoint = [ ( IPv4 / "[" IPv6 "]" / "*" ) ":" ] port / address
 *   port     = 0..65535 / "smtp" / "submission" / "submissions" / "lmtp"
 *
 * SPDX-License-Identifier: ISC
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "grammar/net.h"

#include "base/banned.h"

static const unsigned char mapped_prefix[12] = {
	0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff
};

enum { MAPPED_BITS = 96 };

/* One address without brackets.  false when it is none. */
static bool
net_address_parse(struct slice text, unsigned char out[16], bool *out_is_ipv4)
{
	char copy[INET6_ADDRSTRLEN + 1];

	if (text.n == 0 || text.n >= sizeof(copy) ||
	    memchr(text.p, '\0', text.n) != NULL)
		return false;
	memcpy(copy, text.p, text.n);
	copy[text.n] = '\0';
	*out_is_ipv4 = inet_pton(AF_INET, copy, out + MAPPED_BITS / 8) == 1;
	if (*out_is_ipv4)
		memcpy(out, mapped_prefix, sizeof(mapped_prefix));
	return *out_is_ipv4 || inet_pton(AF_INET6, copy, out) == 1;
}

static struct slice
without_brackets(struct slice text)
{
	if (text.n >= 2 && text.p[0] == '[' && text.p[text.n - 1] == ']')
		return (struct slice){ text.p + 1, text.n - 2 };
	return text;
}

static void
net_mask_parse(unsigned char bytes[16], unsigned bits)
{
	for (unsigned i = 0; i < 16; i++) {
		unsigned keep = bits > 8 * i ? bits - 8 * i : 0;

		if (keep < 8)
			bytes[i] &= (unsigned char)(0xff00u >> keep);
	}
}

int
net_parse(struct slice text, struct net *out, struct err *err)
{
	size_t slash = slice_find(text, '/');
	char meant[INET6_ADDRSTRLEN];
	struct net masked;
	bool is_ipv4;
	uint64_t bits;

	if (!net_address_parse(without_brackets(slice_first(text, slash)),
	    out->bytes, &is_ipv4))
		return err_set(err, "'" SLICE_FMT "' is not an IP address or "
		    "network", SLICE_ARG(slice_first(text, 60)));
	out->bits = 128;
	if (slash == text.n)
		return 0;
	if (!slice_number(slice_from(text, slash + 1), 0, is_ipv4 ? 32 : 128,
	    &bits))
		return err_set(err, "'" SLICE_FMT "': after / stands 0 to %d",
		    SLICE_ARG(slice_first(text, 60)), is_ipv4 ? 32 : 128);
	out->bits = (unsigned)bits + (is_ipv4 ? MAPPED_BITS : 0);
	masked = *out;
	net_mask_parse(masked.bytes, masked.bits);
	if (memcmp(masked.bytes, out->bytes, 16) == 0)
		return 0;
	inet_ntop(is_ipv4 ? AF_INET : AF_INET6,
	    masked.bytes + (is_ipv4 ? MAPPED_BITS / 8 : 0), meant,
	    sizeof(meant));
	return err_set(err, "'" SLICE_FMT "' has bits after its mask; the "
	    "network is %s/%u", SLICE_ARG(slice_first(text, 60)), meant,
	    (unsigned)bits);
}

void
net_of_sockaddr(const struct sockaddr *address, struct net *out)
{
	*out = (struct net){ .bits = 128 };
	if (address->sa_family == AF_INET) {
		struct sockaddr_in in;

		memcpy(&in, address, sizeof(in));
		memcpy(out->bytes, mapped_prefix, sizeof(mapped_prefix));
		memcpy(out->bytes + MAPPED_BITS / 8, &in.sin_addr, 4);
	} else if (address->sa_family == AF_INET6) {
		struct sockaddr_in6 in6;

		memcpy(&in6, address, sizeof(in6));
		memcpy(out->bytes, &in6.sin6_addr, 16);
	}
}

bool
net_contains(const struct net *outer, const struct net *inner)
{
	struct net cut = *inner;

	if (inner->bits < outer->bits)
		return false;
	net_mask_parse(cut.bytes, outer->bits);
	return memcmp(cut.bytes, outer->bytes, 16) == 0;
}

static bool
port_parse(struct slice text, unsigned *out_port)
{
	static const struct { const char *name; unsigned port; } rows[] = {
		{ "smtp", 25 }, { "submission", 587 }, { "submissions", 465 },
		{ "lmtp", 24 },
	};
	uint64_t number;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (slice_is_nocase(text, rows[i].name)) {
			*out_port = rows[i].port;
			return true;
		}
	if (!slice_number(text, 0, 65535, &number))
		return false;
	*out_port = (unsigned)number;
	return true;
}

static void
endpoint_set(const unsigned char bytes[16], bool is_ipv4, unsigned port,
    struct sockaddr_storage *out, socklen_t *out_length)
{
	memset(out, 0, sizeof(*out));
	if (is_ipv4) {
		struct sockaddr_in in = { .sin_family = AF_INET,
		    .sin_port = htons((uint16_t)port) };

		memcpy(&in.sin_addr, bytes + MAPPED_BITS / 8, 4);
		memcpy(out, &in, sizeof(in));
		*out_length = sizeof(in);
	} else {
		struct sockaddr_in6 in6 = { .sin6_family = AF_INET6,
		    .sin6_port = htons((uint16_t)port) };

		memcpy(&in6.sin6_addr, bytes, 16);
		memcpy(out, &in6, sizeof(in6));
		*out_length = sizeof(in6);
	}
}

/* Cut at the colon of the port; false when there is none.  Two colons
 * outside brackets are an IPv6 address. */
static bool
endpoint_split(struct slice text, struct slice *out_host,
    struct slice *out_port)
{
	bool has_brackets = text.n > 0 && text.p[0] == '[';
	size_t at = has_brackets ? slice_find(text, ']') + 1
	    : slice_find(text, ':');
	struct slice after = slice_from(text, at + 1);

	if (has_brackets ? at < text.n && text.p[at] != ':'
	    : slice_find(after, ':') < after.n)
		at = text.n;
	*out_host = slice_first(text, at);
	*out_port = slice_from(text, at + 1);
	return at < text.n && text.p[at] == ':';
}

int
net_endpoint_parse(struct slice text, unsigned default_port,
    struct sockaddr_storage *out, socklen_t *out_length, struct err *err)
{
	unsigned char bytes[16] = { 0 };
	struct slice host, port_text;
	unsigned port = default_port;
	bool is_ipv4 = true;

	if (port_parse(text, &port)) {
		net_address_parse(SLICE("127.0.0.1"), bytes, &is_ipv4);
		endpoint_set(bytes, true, port, out, out_length);
		return 0;
	}
	if (endpoint_split(text, &host, &port_text) &&
	    !port_parse(port_text, &port))
		return err_set(err, "'" SLICE_FMT "' is not a port",
		    SLICE_ARG(slice_first(port_text, 60)));
	if (!slice_is(host, "*") &&
	    !net_address_parse(without_brackets(host), bytes, &is_ipv4))
		return err_set(err, "'" SLICE_FMT "' is not ADDRESS:PORT, "
		    "[IPv6]:PORT or PORT", SLICE_ARG(slice_first(text, 60)));
	endpoint_set(bytes, is_ipv4, port, out, out_length);
	return 0;
}

void
net_endpoint_text(const struct sockaddr *address, char *out, size_t size)
{
	char text[INET6_ADDRSTRLEN] = "";
	struct sockaddr_in6 in6;
	struct net net;
	unsigned port;

	if (address->sa_family != AF_INET && address->sa_family != AF_INET6) {
		snprintf(out, size, "unix");
		return;
	}
	/* the port stands at the same place in both */
	memset(&in6, 0, sizeof(in6));
	memcpy(&in6, address, sizeof(struct sockaddr_in));
	port = ntohs(in6.sin6_port);
	net_of_sockaddr(address, &net);
	if (memcmp(net.bytes, mapped_prefix, sizeof(mapped_prefix)) == 0) {
		inet_ntop(AF_INET, net.bytes + MAPPED_BITS / 8, text,
		    sizeof(text));
		snprintf(out, size, "%s:%u", text, port);
	} else {
		inet_ntop(AF_INET6, net.bytes, text, sizeof(text));
		snprintf(out, size, "[%s]:%u", text, port);
	}
}
