/* fuzz_hook.c - what a script's process may say: frames and header changes
 *
 * A frame that is complete is so at exactly its last byte; the fields of an
 * answer as changes of a header leave one that reads as a header.
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdint.h>
#include <string.h>

#include "daemon/hook/frame.h"
#include "grammar/message/header.h"
#include "router/header/edit.h"

#include "base/banned.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check_header(struct slice header)
{
	struct header_field field;
	bool is_broken;
	unsigned received = 0;

	while (header.n > 0)
		if (header_next(&header, &field, &is_broken) == 1)
			received += header_is(&field, "Received");
		else
			panic("a change made a line that is no field");
	if (received != 1)
		panic("%u Received fields", received);
}

static void
check_frame(struct slice bytes, const struct hook_frame *frame, size_t used)
{
	struct str header = STR_INIT;
	struct slice fields = frame->fields, field;
	struct hook_frame again;
	struct err err;
	size_t n;

	if (used > bytes.n || hook_frame_take(slice_first(bytes, used - 1),
	    &again, &n, &err) == 1)
		panic("it was complete before its end");
	while (hook_field(&fields, &field))
		continue;
	if (fields.n > 0)
		panic("fields that cannot be taken");
	str_adds(&header, "Received: by us\nSubject: x\n y\nX-A: 1\n");
	if (header_edit(&header, frame->fields, &err) == 0)
		check_header(str_slice(&header));
	str_release(&header);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice rest = { (const char *)data, size };
	struct hook_frame frame;
	struct err err;
	size_t used;

	while (hook_frame_take(rest, &frame, &used, &err) ==
	    HOOK_FRAME_WHOLE) {
		check_frame(rest, &frame, used);
		rest = slice_from(rest, used);
	}
	return 0;
}
