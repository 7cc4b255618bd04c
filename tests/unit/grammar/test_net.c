/* test_net.c - IP addresses and networks as text
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <netinet/in.h>
#include <string.h>

#include "grammar/net.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

Test(net, parses)
{
	static const struct {
		struct slice	 in;
		int		 rc;
		unsigned	 bits;
		const char	*words;
	} rows[] = {
		{ SLICE("192.0.2.1"), 0, 128, "" },
		{ SLICE("192.0.2.0/24"), 0, 120, "" },
		{ SLICE("0.0.0.0/0"), 0, 96, "" },
		{ SLICE("192.0.2.1/32"), 0, 128, "" },
		{ SLICE("2001:db8::/32"), 0, 32, "" },
		{ SLICE("::1"), 0, 128, "" }, { SLICE("[::1]"), 0, 128, "" },
		{ SLICE("[2001:db8::]/33"), 0, 33, "" },
		{ SLICE("::/0"), 0, 0, "" },
		{ SLICE(""), -1, 0, "not an IP address" },
		{ SLICE("example.org"), -1, 0, "not an IP address" },
		{ SLICE("192.0.2"), -1, 0, "not an IP address" },
		{ SLICE("192.0.2.1\0"), -1, 0, "not an IP address" },
		{ SLICE("0000:0000:0000:0000:0000:0000:0000:0000:0000:0000"),
		    -1, 0, "not an IP address" },
		{ SLICE("192.0.2.256"), -1, 0, "not an IP address" },
		{ SLICE("192.0.2.0/33"), -1, 0, "0 to 32" },
		{ SLICE("192.0.2.0/"), -1, 0, "0 to 32" },
		{ SLICE("::/129"), -1, 0, "0 to 128" },
		{ SLICE("::/x"), -1, 0, "0 to 128" },
		{ SLICE("192.0.2.77/24"), -1, 0,
		    "the network is 192.0.2.0/24" },
		{ SLICE("2001:db8::1/33"), -1, 0,
		    "the network is 2001:db8::/33" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct err err = { "" };
		struct net net;

		cr_expect_eq(net_parse(rows[i].in, &net, &err), rows[i].rc,
		    "%s", rows[i].in.p);
		if (rows[i].rc == 0)
			cr_expect_eq(net.bits, rows[i].bits, "%s",
			    rows[i].in.p);
		cr_expect_not_null(strstr(err.text, rows[i].words), "%s: %s",
		    rows[i].in.p, err.text);
	}
}

static struct net
net_from(const char *text)
{
	struct net net;

	cr_assert_eq(net_parse(slice_of(text), &net, NULL), 0, "%s", text);
	return net;
}

Test(net, contains)
{
	static const struct { const char *outer, *inner; bool want; } rows[] = {
		{ "192.0.2.0/24", "192.0.2.255", true },
		{ "192.0.2.0/24", "192.0.3.0", false },
		{ "192.0.2.0/24", "192.0.2.128/25", true },
		{ "192.0.2.128/25", "192.0.2.0/24", false },
		{ "192.0.2.0/25", "192.0.2.0/24", false },
		{ "192.0.2.1", "192.0.2.1", true },
		{ "192.0.2.0/23", "192.0.3.1", true },
		{ "192.0.2.0/31", "192.0.2.2", false },
		{ "192.0.2.0/24", "::ffff:192.0.2.9", true },
		{ "0.0.0.0/0", "::1", false }, { "0.0.0.0/0", "1.2.3.4", true },
		{ "::/0", "1.2.3.4", true }, { "::1", "127.0.0.1", false },
		{ "2001:db8::/33", "2001:db8:7fff::", true },
		{ "2001:db8::/33", "2001:db8:8000::", false },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct net outer = net_from(rows[i].outer);
		struct net inner = net_from(rows[i].inner);

		cr_expect_eq(net_contains(&outer, &inner), rows[i].want,
		    "%s %s", rows[i].outer, rows[i].inner);
	}
}

Test(net, endpoints)
{
	static const struct { const char *in, *want; } rows[] = {
		{ "25", "127.0.0.1:25" }, { "0", "127.0.0.1:0" },
		{ "submission", "127.0.0.1:587" },
		{ "192.0.2.1:2525", "192.0.2.1:2525" },
		{ "192.0.2.1", "192.0.2.1:7" }, { "*:smtp", "0.0.0.0:25" },
		{ "[::1]:26", "[::1]:26" }, { "[::1]", "[::1]:7" },
		{ "2001:db8::1", "[2001:db8::1]:7" }, { "::", "[::]:7" },
		{ "[::ffff:192.0.2.1]:25", "192.0.2.1:25" },
		{ "", NULL }, { "65536", NULL }, { "192.0.2.1:x", NULL },
		{ "192.0.2.1:", NULL }, { ":25", NULL }, { "[::1", NULL },
		{ "[::1]25", NULL }, { "example.org:25", NULL },
		{ "192.0.2.1:65536", NULL }, { "192.0.2.1:-1", NULL },
		{ "submision", NULL }, { "[", NULL }, { ":", NULL },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct sockaddr_storage address;
		struct err err = { "" };
		socklen_t length = 0;
		char text[64];
		int rc = net_endpoint_parse(slice_of(rows[i].in), 7, &address,
		    &length, &err);

		cr_expect_eq(rc, rows[i].want ? 0 : -1, "%s", rows[i].in);
		cr_expect_eq(err.text[0] != '\0', rc < 0, "%s", rows[i].in);
		if (rc < 0)
			continue;
		net_endpoint_text((struct sockaddr *)&address, text,
		    sizeof(text));
		cr_expect_str_eq(text, rows[i].want);
		cr_expect_eq(length, address.ss_family == AF_INET
		    ? sizeof(struct sockaddr_in)
		    : sizeof(struct sockaddr_in6));
	}
}

Test(net, of_a_peer)
{
	static const char *const rows[] = { "192.0.2.1", "2001:db8::1" };
	struct sockaddr local = { .sa_family = AF_UNIX };
	char text[8];

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct sockaddr_storage address;
		struct net want = net_from(rows[i]), got;
		socklen_t length;

		cr_assert_eq(net_endpoint_parse(slice_of(rows[i]), 25,
		    &address, &length, NULL), 0);
		net_of_sockaddr((struct sockaddr *)&address, &got);
		cr_expect_eq(memcmp(&want, &got, sizeof(got)), 0);
	}
	net_endpoint_text(&local, text, sizeof(text));
	cr_expect_str_eq(text, "unix");
}
