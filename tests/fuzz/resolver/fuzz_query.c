/* fuzz_query.c - a question to the resolver, and an answer made for it
 *
 * The first byte says how much of the rest is the question; what follows is
 * taken for an answer of libunbound.
 *
 * SPDX-License-Identifier: ISC
 */
#include "tests/fuzz/fuzz.h"
#include "io/dns/dns.h"
#include "resolver/wire/response.h"

#include "base/banned.h"

static void
answer_with(const struct dns_query *query, const uint8_t *bytes, size_t n)
{
	const struct finding finding = { .trouble = DNS_TROUBLE_BOGUS,
	    .why = "because", .packet = bytes, .packet_bytes = n };
	struct str out = STR_INIT;
	struct dns_error error;

	response_make(&out, query, &finding, query->room);
	MUST(out.len >= DNS_HEADER_BYTES && out.len <= query->room);
	if (query->has_edns && dns_parse_error(
	    (const unsigned char *)out.buf, out.len, &error))
		MUST(!fuzz_has_control(slice_of(error.words)));
	str_release(&out);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str out = STR_INIT;
	struct dns_query query;
	enum dns_code code;
	size_t n;

	if (size == 0 || size > 65535)
		return 0;
	n = data[0] < size - 1 ? data[0] : size - 1;
	switch (query_read(data + 1, n, &query, &code)) {
	case QUERY_DROPPED:
		return 0;
	case QUERY_REFUSED:
		MUST(code != DNS_CODE_GOOD);
		response_refuse(&out, &query, code);
		MUST(out.len >= DNS_HEADER_BYTES);
		break;
	case QUERY_GOOD:
		MUST(strlen(query.name) > 0 &&
		    !fuzz_has_control(slice_of(query.name)));
		MUST(query.room >= QUERY_ROOM_LEAST);
		answer_with(&query, data + 1 + n, size - 1 - n);
	}
	str_release(&out);
	return 0;
}
