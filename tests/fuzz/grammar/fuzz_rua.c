/* fuzz_rua.c - any record, any list of URIs
 *
 * Grammar: libzm/grammar/rua.c (RFC 8460 section 3, RFC 9990 section 3.5)
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "grammar/rua.h"
#include "grammar/smtp/path.h"
#include "tests/fuzz/fuzz.h"

#include "base/banned.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice in = fuzz_slice(data, size), uris = in, rest;
	struct rua_address out[RUA_MAX];
	struct path path;
	size_t count, other;

	if (rua_of_tls(in, &uris))
		MUST(uris.n > 0 && uris.n < in.n);
	count = rua_addresses(uris, out, &other);
	MUST(count <= RUA_MAX && count + other <= uris.n + 1);
	for (size_t i = 0; i < count; i++) {
		/* what stands in RCPT TO and in a header */
		MUST(path_parse(slice_of(out[i].text), PATH_BARE_OK, &path,
		    &rest, NULL) == 0 && rest.n == 0 && path.domain.n > 0);
		MUST(strpbrk(out[i].text, "\r\n\t <>") == NULL);
		for (size_t k = 0; k < i; k++)
			MUST(strcmp(out[k].text, out[i].text) != 0);
	}
	return 0;
}
