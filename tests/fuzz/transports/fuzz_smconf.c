/* fuzz_smconf.c - sm.conf, any bytes: the mailer m and its words
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdlib.h>

#include "transports/sm/mailer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice text = { (const char *)data, size };
	struct mailer mailer;
	struct err err;

	if (mailer_find(text, SLICE("m"), &mailer, &err) != 1)
		return 0;
	if (mailer.word_count == 0 || mailer.word_count > MAILER_WORDS_MAX ||
	    !slice_starts(mailer.program, "/"))
		abort();
	for (size_t i = 0; i < mailer.word_count; i++) {
		struct str out = STR_INIT;

		(void)mailer_word(mailer.words[i], SLICE("a@b"), SLICE("h"),
		    SLICE("u"), &out, &err);
		str_release(&out);
	}
	return 0;
}
