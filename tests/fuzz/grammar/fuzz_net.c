/* fuzz_net.c - any bytes as a network, and as an address with a port
 *
 * SPDX-License-Identifier: ISC
 */
#include "tests/fuzz/fuzz.h"
#include "grammar/net.h"

static void
check_net(struct slice in)
{
	static const struct net all = { .bits = 0 };
	struct err err = { "" };
	struct net net;

	if (net_parse(in, &net, &err) == 0) {
		MUST(net.bits <= 128);
		MUST(net_contains(&net, &net) && net_contains(&all, &net));
		MUST(net.bits == 0 || !net_contains(&net, &all));
	} else {
		MUST(err.text[0] != '\0');
	}
	MUST(!fuzz_has_control(slice_of(err.text)));
}

/* Printed and read again it is the same endpoint; an IPv4 address within IPv6
 * is printed as the IPv4 address. */
static void
check_endpoint(struct slice in)
{
	struct sockaddr_storage address, again;
	socklen_t length, again_length;
	struct err err = { "" };
	char text[128], second[128];

	memset(&address, 0, sizeof(address));
	memset(&again, 0, sizeof(again));
	if (net_endpoint_parse(in, 25, &address, &length, &err) == 0) {
		net_endpoint_text((struct sockaddr *)&address, text,
		    sizeof(text));
		MUST(net_endpoint_parse(slice_of(text), 0, &again,
		    &again_length, &err) == 0);
		net_endpoint_text((struct sockaddr *)&again, second,
		    sizeof(second));
		MUST(strcmp(text, second) == 0);
		MUST(length != again_length ||
		    memcmp(&address, &again, length) == 0);
	}
	MUST(!fuzz_has_control(slice_of(err.text)));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice in = fuzz_slice(data, size);

	check_net(in);
	check_endpoint(in);
	return 0;
}
