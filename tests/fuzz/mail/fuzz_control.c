/* fuzz_control.c - a control file, its checksums mended so that the parser
 * after them is reached
 *
 * The input is what stands after the first line; where it has a NUL the
 * head ends and records begin.  Each "d" line gets the checksum it needs.  In
 * windows (window.h) it must say what it says as a whole.
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/crc32c.h"
#include "mail/control_file/control_file.h"
#include "tests/fuzz/mail/windows.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* "I <id>" in the head: records are checksummed with it. */
static uint32_t
id_crc(struct slice head)
{
	const char *at = memmem(head.p, head.n, "I ", 2);
	struct slice id = at == NULL ? (struct slice){ NULL, 0 } :
	    slice_from(head, (size_t)(at - head.p) + 2);

	id = slice_first(id, slice_find(id, '\n'));
	return crc32c(0, id.p, id.n);
}

static void
add_records(struct str *file, struct slice rest, uint32_t seed)
{
	struct slice line;

	while (slice_cut(&rest, '\n', &line)) {
		if (slice_starts(line, "d "))
			str_addf(file, "d %08" PRIx32 " ", crc32c(seed,
			    line.p + 2, line.n - 2));
		str_add_slice(file, slice_starts(line, "d ") ?
		    slice_from(line, 2) : line);
		str_addc(file, '\n');
	}
}

/* On its r line, or on an X line after it when the ways before failed. */
static bool
is_way_of(const struct control_rcpt *rcpt, struct slice file)
{
	return rcpt->first_offset < file.n &&
	    file.p[rcpt->first_offset] == 'r' &&
	    rcpt->offset >= rcpt->first_offset && rcpt->offset < file.n &&
	    file.p[rcpt->offset] ==
	    (rcpt->offset == rcpt->first_offset ? 'r' : 'X');
}

static void
check(const struct control_file *control, struct slice file)
{
	uint32_t last = 0;
	size_t total = 0, final = 0;

	for (size_t i = 0; i < control->group_count; i++) {
		const struct control_group *group = &control->groups[i];

		if (group->header_offset > file.n)
			abort();
		for (size_t j = 0; j < group->rcpt_count; j++) {
			const struct control_rcpt *rcpt = &group->rcpts[j];

			if (rcpt->first_offset <= last ||
			    !is_way_of(rcpt, file))
				abort();
			last = rcpt->first_offset;
			total++;
			final += rcpt->is_final;
		}
	}
	if (total != control->rcpt_total || final != control->final_total)
		abort();
}

static void
check_windows(struct slice file, size_t rcpts, size_t bytes)
{
	struct str out = STR_INIT;

	if (windows_compare(file, rcpts, bytes, &out) < 0) {
		fprintf(stderr, "%s\n", out.buf);
		abort();
	}
	str_release(&out);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice in = { (const char *)data, size }, head, rest;
	struct arena *arena = arena_new();
	struct str file = STR_INIT;
	struct control_file control;
	struct err err;

	/* as it is */
	if (control_file_parse(arena, in, &control, &err) == 0)
		check(&control, in);
	/* with its checksums right */
	rest = in;
	if (!slice_cut(&rest, '\0', &head))
		head = slice_first(in, 0);
	str_addf(&file, "@ 1 %08zu %08" PRIx32 "\n", head.n + 22,
	    crc32c(0, head.p, head.n));
	str_add_slice(&file, head);
	if (rest.p != NULL)
		add_records(&file, rest, id_crc(head));
	if (control_file_parse(arena, str_slice(&file), &control, &err) == 0)
		check(&control, str_slice(&file));
	check_windows(str_slice(&file), 1, 1 << 20);
	check_windows(str_slice(&file), 7, size % 200 + 1);
	str_release(&file);
	arena_free(&arena);
	return 0;
}
