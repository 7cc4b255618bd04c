/* fuzz_proxy.c - the header by which a proxy names its client
 *
 * What is complete must be so at exactly that byte, stay so whatever
 * follows, and name an address that can be written down.
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdint.h>

#include "grammar/net.h"
#include "grammar/smtp/proxy.h"

#include "base/banned.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check(struct slice in, const struct proxy *proxy)
{
	struct sockaddr_storage back;
	struct proxy again;
	socklen_t length;
	char text[80];
	struct err err;

	if (proxy->bytes > in.n || proxy->bytes > PROXY_BYTES_MAX)
		panic("it took more than there is");
	if (proxy_parse(slice_first(in, proxy->bytes), &again, &err) !=
	    PROXY_DONE ||
	    again.bytes != proxy->bytes)
		panic("it looked after its end");
	if (proxy_parse(slice_first(in, proxy->bytes - 1), &again, &err) !=
	    PROXY_MORE)
		panic("it was complete before its end");
	if (proxy->is_local)
		return;
	net_endpoint_text((const struct sockaddr *)&proxy->client, text,
	    sizeof(text));
	if (net_endpoint_parse(slice_of(text), 0, &back, &length, &err) != 0)
		panic("%s: %s", text, err.text);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice in = { (const char *)data, size };
	struct proxy proxy;
	struct err err;

	if (proxy_parse(in, &proxy, &err) == PROXY_DONE)
		check(in, &proxy);
	return 0;
}
