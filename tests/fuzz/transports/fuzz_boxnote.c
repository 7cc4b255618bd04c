/* fuzz_boxnote.c - what other programs may have written beside a mailbox:
 * maildirsize, the note in a dotlock
 *
 * SPDX-License-Identifier: ISC
 */
#include "tests/fuzz/fuzz.h"
#include "transports/mailbox/dotlock.h"
#include "transports/mailbox/quota.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice text = fuzz_slice(data, size);
	struct dotlock_note note;
	struct maildirsize sums;

	if (maildirsize_parse(text, &sums) == 0)
		MUST(sums.lines <= size);
	memset(&note, 0xff, sizeof(note));
	if (dotlock_parse(text, &note) && note.inode == 0)
		MUST(note.old_bytes == 0 && note.new_bytes == 0 &&
		    note.sample_crc == 0);
	return 0;
}
