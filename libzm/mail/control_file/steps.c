/* steps.c - which steps of a recipient's own plan are done
 *
 * In     the records of a control file
 * Out    those of kind "step", as they come
 * Holds  nothing: the caller remembers how far it has read
 * Trusts a record only when its checksum fits
 * Spec   doc/INTERNALS.md section 5
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/crc32c.h"
#include "mail/control_file/internal.h"

#include "base/banned.h"

enum { READ_BYTES = 65536 };

/* Where the records begin. */
static int
head_end(int control_fd, uint64_t *out, struct err *err)
{
	char first[CONTROL_FIRST_LINE_BYTES];

	if (pread(control_fd, first, sizeof(first), 0) !=
	    (ssize_t)sizeof(first))
		return err_sys(err, "read a control file");
	*out = control_file_head_bytes((struct slice){ first, sizeof(first) });
	return *out > 0 ? 0 : err_set(err, "not a control file");
}

/* Whole lines only: what is being written is read the next time. */
static size_t
take_lines(struct slice text, uint32_t id_crc, control_step_fn *fn,
    void *context)
{
	size_t taken = 0;

	for (;;) {
		struct slice line = slice_from(text, taken), rest, who;
		struct control_record record;
		size_t n = slice_find(line, '\n');

		if (n == line.n)
			return taken;
		taken += n + 1;
		line = slice_first(line, n);
		if (line.n > 0 && line.p[0] == 'd' && control_record_check(line,
		    id_crc, &record, &rest) && record.kind == RECORD_STEP &&
		    slice_cut(&rest, '\t', &who))
			fn(context, record.rcpt_offset, rest);
	}
}

int
control_steps(int control_fd, const char *id, uint64_t *inout_offset,
    control_step_fn *fn, void *context, struct err *err)
{
	uint32_t id_crc = crc32c(0, id, strlen(id));
	struct str text = STR_INIT;
	ssize_t got;

	if (*inout_offset == 0 && head_end(control_fd, inout_offset, err) < 0)
		return -1;
	do {
		size_t taken;

		got = pread(control_fd, str_room(&text, READ_BYTES),
		    READ_BYTES, (off_t)(*inout_offset + text.len));
		if (got <= 0)
			break;
		text.len += (size_t)got;
		taken = take_lines(str_slice(&text), id_crc, fn, context);
		str_consume(&text, taken);
		*inout_offset += taken;
	} while (text.len <= READ_BYTES);	/* no line is that long */
	str_release(&text);
	return got < 0 ? err_sys(err, "read a control file") : 0;
}

int
control_step_note(int control_fd, const char *id, uint32_t rcpt_offset,
    const char *step, struct err *err)
{
	struct control_record record = { .kind = RECORD_STEP,
	    .rcpt_offset = rcpt_offset, .time_s = clock_wall_s() };

	snprintf(record.verdict.text, sizeof(record.verdict.text), "%s",
	    step);
	return control_file_append(control_fd, id, &record, 1, err);
}
