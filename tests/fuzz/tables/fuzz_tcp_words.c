/* fuzz_tcp_words.c - any line as what a server of tcp tables answers
 *
 * SPDX-License-Identifier: ISC
 */
#include "tables/engine/tcp_words.h"
#include "tests/fuzz/fuzz.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str out = STR_INIT;
	struct err err = { "" };
	enum engine_answer answer = tcp_words_read(
	    (struct slice){ (const char *)data, size }, &out, &err);

	MUST(out.len <= ENGINE_VALUE_BYTES_MAX);
	MUST(answer == ENGINE_FOUND || out.len == 0);
	MUST((answer == ENGINE_TROUBLE) == (err.text[0] != '\0'));
	str_release(&out);
	return 0;
}
