/* fuzz_signer.c - lines of a worker to the process that has the keys
 *
 * SPDX-License-Identifier: ISC
 */
#include "tests/fuzz/fuzz.h"

#include "base/mem.h"
#include "router/sign/signer_keys.h"

/* A table whose keys would lie here, and a row: neither has a key. */
static struct signer_keys *
signer_of_nowhere(void)
{
	struct arena *arena = arena_new();
	struct signer_keys *keys = signer_keys_new(true);
	struct conf_report report;
	struct conf *conf = conf_parse("fuzz.conf", SLICE(
	    "table t { a.test s }\nsign <t> keys /nonexistent\n"
	    "sign b.test selector s key /nonexistent/key\n"), arena, &report);

	MUST(conf != NULL);
	signer_keys_configure(keys, conf);
	conf_free(&conf);
	arena_free(&arena);
	return keys;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct signer_keys *keys;
	struct slice rest = fuzz_slice(data, size), line;
	struct str out = STR_INIT;

	if (keys == NULL)
		keys = signer_of_nowhere();
	while (slice_cut(&rest, '\n', &line)) {
		str_reset(&out);
		if (!signer_keys_answer(keys, line, 1, &out)) {
			MUST(out.len == 0);
			continue;
		}
		/* one line, and without a key nothing but a refusal */
		MUST(slice_starts(str_slice(&out), "refused "));
		MUST(slice_find(str_slice(&out), '\n') == out.len - 1);
	}
	str_release(&out);
	return 0;
}
