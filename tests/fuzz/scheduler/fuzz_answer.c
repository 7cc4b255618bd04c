/* fuzz_answer.c - lines of a transport agent that was taken over
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdlib.h>

#include "scheduler/jobs/answer.h"
#include "tests/fuzz/fuzz.h"

/* What is taken must be fit for a record and the journal. */
static void
check(const struct answer *answer)
{
	if (answer->kind != ANSWER_VERDICT)
		return;
	if (answer->inode == 0 || answer->offset == 0 ||
	    answer->who.n >= VERDICT_WHO_BYTES ||
	    answer->text.n >= VERDICT_TEXT_BYTES ||
	    answer->status.n < 5 || answer->status.n > 9)
		abort();
	for (size_t i = 0; i < answer->text.n; i++)
		if ((unsigned char)answer->text.p[i] < ' ')
			abort();
	if (answer->host_trouble && answer->verdict != VERDICT_DEFERRED)
		abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice rest = { (const char *)data, size }, line;
	struct answer answer;

	while (slice_cut(&rest, '\n', &line)) {
		struct err err = { "" };
		int got = answer_parse(line, &answer, &err);

		if (got == 0)
			check(&answer);
		else if (got != -1 || err.text[0] == '\0')
			abort();
	}
	return 0;
}
