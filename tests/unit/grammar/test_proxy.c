/* test_proxy.c - the header by which a proxy names its client
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <string.h>

#include "base/crc32c.h"
#include "grammar/net.h"
#include "grammar/smtp/proxy.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define BYTES(literal) { literal, sizeof(literal) - 1 }
#define SIG "\r\n\r\n\0\r\nQUIT\n"

static const struct row {
	struct slice	in;
	const char	*want;	/* endpoint, "local", or NULL: bad */
} rows[] = {
	{ BYTES("PROXY TCP4 192.0.2.1 192.0.2.2 4711 25\r\n"),
	    "192.0.2.1:4711" },
	{ BYTES("PROXY TCP6 2001:db8::1 2001:db8::2 4711 25\r\n"),
	    "[2001:db8::1]:4711" },
	{ BYTES("PROXY TCP6 ::ffff:192.0.2.1 2001:db8::2 4711 25\r\n"),
	    "192.0.2.1:4711" },
	{ BYTES("PROXY UNKNOWN\r\n"), "local" },
	{ BYTES("PROXY UNKNOWN ffff:f...f:ffff what ever\r\n"), "local" },
	{ BYTES("PROXY TCP4 192.0.2.1 192.0.2.2 0 0\r\n"), "192.0.2.1:0" },
	{ BYTES("PROXY TCP4 192.0.2.1 192.0.2.2 4711 25\n"), NULL },
	{ BYTES("PROXY TCP4 192.0.2.1 192.0.2.2 65536 25\r\n"), NULL },
	{ BYTES("PROXY TCP4 192.0.2.1 192.0.2.2 047 25\r\n"), NULL },
	{ BYTES("PROXY TCP4 192.0.2.1 192.0.2.2 4711\r\n"), NULL },
	{ BYTES("PROXY TCP4 192.0.2.1 192.0.2.2 4711 25 x\r\n"), NULL },
	{ BYTES("PROXY TCP4 192.0.2.1  192.0.2.2 4711 25\r\n"), NULL },
	{ BYTES("PROXY TCP4 192.0.2 192.0.2.2 4711 25\r\n"), NULL },
	{ BYTES("PROXY TCP4 2001:db8::1 2001:db8::2 4711 25\r\n"), NULL },
	{ BYTES("PROXY TCP6 192.0.2.1 192.0.2.2 4711 25\r\n"), NULL },
	{ BYTES("PROXY UDP4 192.0.2.1 192.0.2.2 4711 25\r\n"), NULL },
	{ BYTES("PROXY\r\n"), NULL },
	{ BYTES("PROXY TCP4\r\n"), NULL },
	{ BYTES("PROXY TCP4 1\0 2 3 4\r\n"), NULL },
	{ BYTES("EHLO c1.test\r\n"), NULL },
	{ BYTES("proxy TCP4 192.0.2.1 192.0.2.2 4711 25\r\n"), NULL },
	{ BYTES(SIG "\x21\x11\0\x0c\xc0\0\2\1\xc0\0\2\2\x12\x67\0\x19"),
	    "192.0.2.1:4711" },
	{ BYTES(SIG "\x21\x11\0\x12\xc0\0\2\1\xc0\0\2\2\x12\x67\0\x19"
	    "\x04\0\x03xyz"), "192.0.2.1:4711" },
	{ BYTES(SIG "\x21\x21\0\x24" "\x20\1\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\1"
	    "\x20\1\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\2\x12\x67\0\x19"),
	    "[2001:db8::1]:4711" },
	{ BYTES(SIG "\x20\0\0\0"), "local" },
	{ BYTES(SIG "\x20\x11\0\2xx"), "local" },
	{ BYTES(SIG "\x21\0\0\0"), "local" },
	{ BYTES(SIG "\x21\x11\0\x0b\xc0\0\2\1\xc0\0\2\2\x12\x67\0"), NULL },
	{ BYTES(SIG "\x21\x12\0\x0c\xc0\0\2\1\xc0\0\2\2\x12\x67\0\x19"),
	    NULL },
	{ BYTES(SIG "\x11\x11\0\x0c\xc0\0\2\1\xc0\0\2\2\x12\x67\0\x19"),
	    NULL },
	{ BYTES(SIG "\x22\x11\0\x0c\xc0\0\2\1\xc0\0\2\2\x12\x67\0\x19"),
	    NULL },
	{ BYTES(SIG "\x21\x11\0\x0e\xc0\0\2\1\xc0\0\2\2\x12\x67\0\x19\4\0"),
	    NULL },
	{ BYTES(SIG "\x21\x11\0\x0f\xc0\0\2\1\xc0\0\2\2\x12\x67\0\x19\4\0\1"),
	    NULL },
	{ BYTES(SIG "\x21\x11\0\x13\xc0\0\2\1\xc0\0\2\2\x12\x67\0\x19"
	    "\3\0\4\0\0\0\0"), NULL },
	{ BYTES("\r\n\r\nEHLO c1.test\r\n"), NULL },
	{ BYTES(SIG "\x21\x11\xff\xff"), NULL },
};

/* Given byte by byte it says "more" until it is complete, or "bad" early. */
static void
run(const struct row *row)
{
	struct proxy proxy;
	struct err err;
	char text[80];
	int got = 0;
	size_t n = 0;

	while (got == 0 && n < row->in.n)
		got = proxy_parse(slice_first(row->in, ++n), &proxy, &err);
	if (row->want == NULL) {
		cr_expect_eq(got, -1, "row %td", row - rows);
		return;
	}
	cr_assert_eq(got, 1, "row %td: %d", row - rows, got);
	cr_expect_eq(n, row->in.n);
	cr_expect_eq(proxy.bytes, row->in.n);
	if (proxy.is_local)
		strlcpy(text, "local", sizeof(text));
	else
		net_endpoint_text((struct sockaddr *)&proxy.client, text,
		    sizeof(text));
	cr_expect_str_eq(text, row->want);
}

Test(proxy, rows)
{
	for (size_t i = 0; i < COUNT(rows); i++)
		run(&rows[i]);
}

Test(proxy, a_line_has_its_bound)
{
	struct str line = STR_INIT;
	struct proxy proxy;
	struct err err;

	str_adds(&line, "PROXY UNKNOWN ");
	while (line.len < PROXY_V1_BYTES_MAX - 2)
		str_addc(&line, 'x');
	str_adds(&line, "\r\n");
	cr_expect_eq(proxy_parse(str_slice(&line), &proxy, &err), PROXY_DONE);
	line.len -= 2;
	str_adds(&line, "x\r\n");
	cr_expect_eq(proxy_parse(str_slice(&line), &proxy, &err), PROXY_BAD);
	str_release(&line);
}

Test(proxy, checksum)
{
	char header[] = SIG "\x21\x11\0\x16\xc0\0\2\1\xc0\0\2\2\x12\x67\0\x19"
	    "\3\0\4\0\0\0\0\4\0\0";
	size_t n = sizeof(header) - 1;
	uint32_t crc = crc32c(0, header, n);
	struct proxy proxy;
	struct err err;

	for (size_t i = 0; i < 4; i++)
		header[n - 7 + i] = (char)(crc >> (24 - 8 * i));
	cr_expect_eq(proxy_parse((struct slice){ header, n }, &proxy, &err),
	    PROXY_DONE, "%s", err.text);
	header[n - 7]++;
	cr_expect_eq(proxy_parse((struct slice){ header, n }, &proxy, &err),
	    PROXY_BAD);
}
