/* record.c - one record of a control file, both ways
 *
 * In     a struct control_record; or a line
 * Out    a line with its checksum; or a struct
 * Trusts nothing: a line whose checksum does not fit is no record
 * Spec   doc/INTERNALS.md section 1.2
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>
#include <string.h>

#include "base/ascii.h"
#include "base/crc32c.h"
#include "mail/control_file/internal.h"

#include "base/banned.h"

enum {
	SUM_BYTES = 11,		/* "d 5c1f0a2b " */
	RECORD_TEXT_MAX = CONTROL_RECORD_BYTES_MAX - 2
};

static const char *const kind_names[RECORD_KINDS] = {
	[RECORD_OUTCOME] = "outcome",
	[RECORD_REPORTED] = "reported",
	[RECORD_DELAY_NOTICE] = "delay-notice",
	[RECORD_HELD] = "held", [RECORD_RELEASED] = "released",
	[RECORD_FROZEN] = "frozen", [RECORD_THAWED] = "thawed",
	[RECORD_CANCELLED] = "cancelled", [RECORD_RESTORED] = "restored",
	[RECORD_RETRY_AT] = "retry-at", [RECORD_EXPIRE_AT] = "expire-at",
	[RECORD_REOPENED] = "reopened", [RECORD_STEP] = "step",
};

/* A word that stands between blanks or tabs must not hold one. */
static void
add_clean(struct str *out, const char *text, bool blanks_ok)
{
	for (; *text != '\0'; text++) {
		unsigned char c = (unsigned char)*text;

		if (c < ' ' || c == 0x7f || (c == ' ' && !blanks_ok))
			c = blanks_ok ? ' ' : '_';
		str_addc(out, (char)c);
	}
}

/* A clock before 1970 must not make a record that nobody can read. */
static int64_t
not_negative(int64_t number)
{
	return number < 0 ? 0 : number;
}

/* The line that began there is complete: cut it, put its checksum in. */
static void
control_record_close(struct str *out, uint32_t id_crc, size_t start)
{
	if (out->len - start > RECORD_TEXT_MAX)
		out->len = start + RECORD_TEXT_MAX;
	hex_put(out->buf + start + 2, crc32c(id_crc, out->buf + start +
	    SUM_BYTES, out->len - start - SUM_BYTES), 8);
	str_addc(out, '\n');
}

void
control_record_add(struct str *out, uint32_t id_crc,
    const struct control_record *record)
{
	size_t start = out->len + 1;

	str_adds(out, "\nd -------- ");
	control_add_number(out, record->rcpt_offset);
	str_addc(out, ' ');
	control_add_number(out, not_negative(record->time_s));
	str_addc(out, ' ');
	str_adds(out, kind_names[record->kind]);
	str_addc(out, ' ');
	control_add_number(out, record->tries);
	str_addc(out, ' ');
	control_add_number(out, not_negative(record->next_s));
	if (record->kind == RECORD_OUTCOME) {
		const struct verdict *verdict = &record->verdict;

		str_addc(out, ' ');
		str_adds(out, verdict_names[verdict->kind]);
		str_addc(out, ' ');
		add_clean(out, verdict->status, false);
		str_addc(out, '\t');
	} else if (record->kind >= RECORD_HELD) {
		str_addc(out, ' ');
	}
	if (record->kind == RECORD_OUTCOME || record->kind >= RECORD_HELD) {
		add_clean(out, record->verdict.who, true);
		str_addc(out, '\t');
		add_clean(out, record->verdict.text, true);
	}
	control_record_close(out, id_crc, start);
}

void
control_record_move(struct str *out, uint32_t id_crc, struct slice line,
    uint32_t offset)
{
	struct slice rest = slice_from(line, SUM_BYTES);
	size_t start = out->len + 1;

	rest = slice_from(rest, slice_find(rest, ' '));
	str_addf(out, "\nd -------- %" PRIu32, offset);
	str_add_slice(out, rest);
	control_record_close(out, id_crc, start);
}

static bool
record_hex32(struct slice text, uint32_t *out_value)
{
	uint32_t value = 0;

	if (text.n != 8)
		return false;
	for (size_t i = 0; i < 8; i++) {
		int digit = ascii_hex_small(text.p[i]);

		if (digit < 0)
			return false;
		value = value << 4 | (uint32_t)digit;
	}
	*out_value = value;
	return true;
}

size_t
control_first_line(struct slice file, uint32_t *out_crc)
{
	uint64_t bytes;

	if (file.n < CONTROL_FIRST_LINE_BYTES || !slice_starts(file, "@ 1 ") ||
	    file.p[12] != ' ' || file.p[CONTROL_FIRST_LINE_BYTES - 1] != '\n' ||
	    !slice_number((struct slice){ file.p + 4, 8 },
		CONTROL_FIRST_LINE_BYTES, CONTROL_HEAD_BYTES_MAX, &bytes) ||
	    !record_hex32((struct slice){ file.p + 13, 8 }, out_crc))
		return 0;
	return (size_t)bytes;
}

/* Next field, ended by one blank. */
static bool
record_field(struct slice *rest, struct slice *out)
{
	return slice_cut(rest, ' ', out) && out->n > 0;
}

static bool
number_field(struct slice *rest, uint64_t max, uint64_t *out_value)
{
	struct slice word;

	return record_field(rest, &word) &&
	    slice_number(word, 0, max, out_value);
}

bool
control_record_check(struct slice line, uint32_t id_crc,
    struct control_record *out, struct slice *out_rest)
{
	struct slice rest = slice_from(line, SUM_BYTES), word;
	uint64_t offset, time_s, tries, next_s;
	uint32_t sum;

	if (line.n <= SUM_BYTES || !slice_starts(line, "d ") ||
	    line.p[SUM_BYTES - 1] != ' ' ||
	    !record_hex32((struct slice){ line.p + 2, 8 }, &sum) ||
	    crc32c(id_crc, rest.p, rest.n) != sum)
		return false;
	if (!number_field(&rest, UINT32_MAX, &offset) ||
	    !number_field(&rest, INT64_MAX, &time_s) ||
	    !record_field(&rest, &word))
		return false;
	out->kind = RECORD_KINDS;
	for (int i = 0; i < RECORD_KINDS; i++)
		if (slice_is(word, kind_names[i]))
			out->kind = (enum control_record_kind)i;
	/* a kind of a later version says nothing to us, and hides nothing */
	if (out->kind == RECORD_KINDS ||
	    !number_field(&rest, UINT32_MAX, &tries) ||
	    !number_field(&rest, INT64_MAX, &next_s))
		return false;
	out->rcpt_offset = (uint32_t)offset;
	out->time_s = (int64_t)time_s;
	out->tries = (unsigned)tries;
	out->next_s = (int64_t)next_s;
	*out_rest = rest;
	return true;
}

/* As add_clean writes it: a record may come from another node's database, and
 * what it says is shown on terminals. */
static void
copy_text(char *out, size_t size, struct slice text)
{
	size_t n = text.n < size ? text.n : size - 1;

	for (size_t i = 0; i < n; i++)
		out[i] = (unsigned char)text.p[i] < ' ' || text.p[i] == 0x7f ?
		    ' ' : text.p[i];
	out[n] = '\0';
}

bool
control_record_verdict(struct slice rest, struct verdict *out)
{
	struct slice kind, status, who;
	int number;

	memset(out, 0, sizeof(*out));
	if (!record_field(&rest, &kind) ||
	    (number = verdict_kind_parse(kind)) < 0 ||
	    !slice_cut(&rest, '\t', &status) || !slice_cut(&rest, '\t', &who))
		return false;
	out->kind = (enum verdict_kind)number;
	copy_text(out->status, sizeof(out->status), status);
	copy_text(out->who, sizeof(out->who), who);
	copy_text(out->text, sizeof(out->text), rest);
	return true;
}

void
control_record_order(struct slice rest, struct slice *out_by,
    struct slice *out_reason)
{
	if (!slice_cut(&rest, '\t', out_by))
		*out_by = slice_first(rest, 0);
	*out_reason = rest;
}
