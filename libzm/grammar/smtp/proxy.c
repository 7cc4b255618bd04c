/* proxy.c - the header by which a proxy names its client
 *
 * In     the first bytes of a connection
 * Out    the client's address
 * Trusts nothing: lengths are checked before they are used, and a header
 *        that is not complete is none
 * Spec   haproxy, The PROXY protocol, sections 2.1 and 2.2
 *
 *   v1 = "PROXY" SP ( "TCP4" / "TCP6" ) SP address SP address SP port SP
 *        port CRLF / "PROXY UNKNOWN" *octet CRLF
 *   v2 = signature (12) version-command (1) family (1) length (2)
 *        addresses *TLV                  ; length counts what follows it
 *   TLV = type (1) length (2) value
 *
 * SPDX-License-Identifier: ISC
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

#include "base/crc32c.h"
#include "grammar/smtp/proxy.h"

#include "base/banned.h"

static const char signature[] = "\r\n\r\n\0\r\nQUIT\n";

enum {
	SIGNATURE_BYTES = sizeof(signature) - 1,
	V2_HEAD_BYTES = SIGNATURE_BYTES + 4,
	V2_LOCAL = 0x20, V2_PROXY = 0x21,
	V2_UNSPEC = 0x00, V2_TCP4 = 0x11, V2_TCP6 = 0x21, V2_UNIX = 0x31,
	TCP4_BYTES = 12, TCP6_BYTES = 36, UNIX_BYTES = 216,
	TLV_HEAD_BYTES = 3, TLV_CRC32C = 0x03, CRC_BYTES = 4
};

static void
set_ipv4(struct proxy *out, const void *address, unsigned port)
{
	struct sockaddr_in *in = (struct sockaddr_in *)&out->client;

	memset(&out->client, 0, sizeof(out->client));
	in->sin_family = AF_INET;
	in->sin_port = htons((uint16_t)port);
	memcpy(&in->sin_addr, address, sizeof(in->sin_addr));
}

static void
set_ipv6(struct proxy *out, const void *address, unsigned port)
{
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&out->client;
	struct in6_addr bytes;

	memcpy(&bytes, address, sizeof(bytes));
	if (IN6_IS_ADDR_V4MAPPED(&bytes)) {
		set_ipv4(out, bytes.s6_addr + 12, port);
		return;
	}
	memset(&out->client, 0, sizeof(out->client));
	in6->sin6_family = AF_INET6;
	in6->sin6_port = htons((uint16_t)port);
	in6->sin6_addr = bytes;
}

/* ---- version 1: a line -------------------------------------------------- */

static bool
take_address(struct slice *rest, int family, unsigned char out_address[16])
{
	char text[INET6_ADDRSTRLEN];
	struct slice word;

	if (!slice_cut(rest, ' ', &word) || word.n >= sizeof(text) ||
	    memchr(word.p, '\0', word.n) != NULL)
		return false;
	memcpy(text, word.p, word.n);
	text[word.n] = '\0';
	return inet_pton(family, text, out_address) == 1;
}

static bool
take_port(struct slice *rest, unsigned *out_port)
{
	struct slice word;
	uint64_t number;

	if (!slice_cut(rest, ' ', &word) || word.n > 5 ||
	    (word.n > 1 && word.p[0] == '0') ||
	    !slice_number(word, 0, 65535, &number))
		return false;
	*out_port = (unsigned)number;
	return true;
}

static int
parse_line(struct slice line, struct proxy *out, struct err *err)
{
	unsigned char client[16], server[16];
	unsigned port, server_port;
	struct slice word;
	int family;

	slice_cut(&line, ' ', &word);		/* PROXY */
	if (!slice_cut(&line, ' ', &word))
		return err_set(err, "PROXY without a protocol");
	out->is_local = slice_is(word, "UNKNOWN");
	if (out->is_local)
		return 1;
	family = slice_is(word, "TCP4") ? AF_INET :
	    slice_is(word, "TCP6") ? AF_INET6 : AF_UNSPEC;
	if (family == AF_UNSPEC)
		return err_set(err, "PROXY for no protocol that we know");
	if (!take_address(&line, family, client) ||
	    !take_address(&line, family, server) ||
	    !take_port(&line, &port) || !take_port(&line, &server_port) ||
	    line.p != NULL)
		return err_set(err, "PROXY with bad addresses or ports");
	if (family == AF_INET)
		set_ipv4(out, client, port);
	else
		set_ipv6(out, client, port);
	return 1;
}

static int
parse_v1(struct slice in, struct proxy *out, struct err *err)
{
	static const char verb[] = "PROXY ";
	size_t n = in.n < sizeof(verb) - 1 ? in.n : sizeof(verb) - 1;
	size_t end = slice_find(in, '\n');

	if (memcmp(in.p, verb, n) != 0)
		return err_set(err, "this is no PROXY header");
	if (end >= PROXY_V1_BYTES_MAX)
		return err_set(err, "a PROXY line of more than %d bytes",
		    PROXY_V1_BYTES_MAX);
	if (end == in.n)
		return 0;
	if (end == 0 || in.p[end - 1] != '\r')
		return err_set(err, "a PROXY line that ends in LF alone");
	out->bytes = end + 1;
	return parse_line(slice_first(in, end - 1), out, err);
}

/* ---- version 2: bytes ---------------------------------------------------- */

static unsigned
proxy_number16(const char *p)
{
	const unsigned char *u = (const unsigned char *)p;

	return (unsigned)(u[0] << 8 | u[1]);
}

/* Is the checksum of the whole header good?  at: where it stands. */
static bool
crc_is_good(struct slice header, size_t at)
{
	static const char zeros[CRC_BYTES];
	const unsigned char *u = (const unsigned char *)header.p + at;
	uint32_t want = (uint32_t)u[0] << 24 | (uint32_t)u[1] << 16 |
	    (uint32_t)u[2] << 8 | u[3];
	uint32_t got = crc32c(0, header.p, at);

	got = crc32c(got, zeros, CRC_BYTES);
	got = crc32c(got, header.p + at + CRC_BYTES,
	    header.n - at - CRC_BYTES);
	return got == want;
}

/* Step over the TLVs from offset at to the end of the header. */
static int
check_tlvs(struct slice header, size_t at, struct err *err)
{
	while (at < header.n) {
		size_t length;

		if (header.n - at < TLV_HEAD_BYTES)
			return err_set(err, "PROXY with a cut TLV");
		length = proxy_number16(header.p + at + 1);
		if (header.n - at - TLV_HEAD_BYTES < length)
			return err_set(err, "PROXY with a cut TLV");
		if (header.p[at] == TLV_CRC32C && (length != CRC_BYTES ||
		    !crc_is_good(header, at + TLV_HEAD_BYTES)))
			return err_set(err, "PROXY with a bad checksum");
		at += TLV_HEAD_BYTES + length;
	}
	return 1;
}

static int
parse_addresses(struct slice header, struct proxy *out, struct err *err)
{
	unsigned family = (unsigned char)header.p[SIGNATURE_BYTES + 1];
	const char *at = header.p + V2_HEAD_BYTES;
	size_t room = header.n - V2_HEAD_BYTES, need;

	switch (family) {
	case V2_UNSPEC:		/* how long the addresses are is not told */
		out->is_local = true;
		return 1;
	case V2_TCP4:
		need = TCP4_BYTES;
		break;
	case V2_TCP6:
		need = TCP6_BYTES;
		break;
	case V2_UNIX:
		need = UNIX_BYTES;
		break;
	default:
		return err_set(err, "PROXY for no protocol that we know");
	}
	if (room < need)
		return err_set(err, "PROXY with cut addresses");
	if (family == V2_TCP4)
		set_ipv4(out, at, proxy_number16(at + 8));
	else if (family == V2_TCP6)
		set_ipv6(out, at, proxy_number16(at + 32));
	else
		out->is_local = true;
	return check_tlvs(header, V2_HEAD_BYTES + need, err);
}

static int
parse_v2(struct slice in, struct proxy *out, struct err *err)
{
	size_t n = in.n < SIGNATURE_BYTES ? in.n : SIGNATURE_BYTES;
	unsigned command;

	if (memcmp(in.p, signature, n) != 0)
		return err_set(err, "this is no PROXY header");
	if (in.n < V2_HEAD_BYTES)
		return 0;
	out->bytes = V2_HEAD_BYTES + proxy_number16(in.p + V2_HEAD_BYTES - 2);
	if (out->bytes > PROXY_BYTES_MAX)
		return err_set(err, "PROXY of %zu bytes, the limit is %d",
		    out->bytes, PROXY_BYTES_MAX);
	if (in.n < out->bytes)
		return 0;
	command = (unsigned char)in.p[SIGNATURE_BYTES];
	out->is_local = command == V2_LOCAL;
	if (out->is_local)
		return 1;
	if (command != V2_PROXY)
		return err_set(err, "PROXY of no version or command that we "
		    "know");
	return parse_addresses(slice_first(in, out->bytes), out, err);
}

enum proxy_answer
proxy_parse(struct slice in, struct proxy *out, struct err *err)
{
	memset(out, 0, sizeof(*out));
	if (in.n == 0)
		return PROXY_MORE;
	return in.p[0] == signature[0] ? parse_v2(in, out, err) :
	    parse_v1(in, out, err);
}
