/* fuzz_units.c - any bytes as spans, sizes, rates, globs, networks
 *
 * SPDX-License-Identifier: ISC
 */
#include "tests/fuzz/fuzz.h"
#include "grammar/net.h"
#include "grammar/units.h"

static void
check_units(struct slice in)
{
	struct str text = STR_INIT;
	int64_t ms, ms_again;
	uint64_t bytes, bytes_again;

	if (units_span_ms(in, &ms, NULL) == 0) {
		MUST(ms >= 0);
		units_add_span(&text, ms);
		MUST(units_span_ms(str_slice(&text), &ms_again, NULL) == 0);
		MUST(ms == ms_again);
	}
	str_reset(&text);
	if (units_bytes(in, &bytes, NULL) == 0) {
		units_add_bytes(&text, bytes);
		MUST(units_bytes(str_slice(&text), &bytes_again, NULL) == 0);
		MUST(bytes == bytes_again);
	}
	if (units_rate(in, &bytes, &ms, NULL) == 0)
		MUST(ms > 0);
	str_release(&text);
}

/* Up to the first newline the pattern, the rest the text. */
static void
check_glob(struct slice in)
{
	struct slice text = slice_from(in, slice_find(in, '\n') + 1);
	struct slice pattern = slice_first(in, slice_find(in, '\n'));
	struct str wide = STR_INIT;

	if (in.n > 4096)
		return;
	MUST(glob_match(text, text) || slice_find(text, '*') < text.n);
	MUST(glob_match(SLICE("*"), text));
	str_addc(&wide, '*');
	str_add_slice(&wide, pattern);
	str_addc(&wide, '*');
	if (glob_match(pattern, text))
		MUST(glob_match(str_slice(&wide), text));
	str_release(&wide);
}

static void
check_net(struct slice in)
{
	struct sockaddr_storage address, again;
	socklen_t length, length_again;
	struct net net, peer;
	char text[64];

	if (net_parse(in, &net, NULL) == 0) {
		MUST(net.bits <= 128);
		MUST(net_contains(&net, &net));
	}
	if (net_endpoint_parse(in, 25, &address, &length, NULL) != 0)
		return;
	MUST(length <= sizeof(address));
	net_of_sockaddr((struct sockaddr *)&address, &net);
	net_endpoint_text((struct sockaddr *)&address, text, sizeof(text));
	MUST(net_endpoint_parse(slice_of(text), 0, &again, &length_again,
	    NULL) == 0);
	net_of_sockaddr((struct sockaddr *)&again, &peer);
	MUST(net_contains(&net, &peer) && net_contains(&peer, &net));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice in = fuzz_slice(data, size);

	check_units(in);
	check_glob(in);
	check_net(in);
	return 0;
}
