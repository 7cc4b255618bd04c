/* format.c - the head of a control file, written once
 *
 * In     a struct control_file as the router planned it
 * Out    the head's bytes; the offsets of all lines in the struct
 * Trusts nothing: a value that would break its line is refused
 * Spec   doc/man/zmailer-control.5
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>
#include <string.h>

#include "base/crc32c.h"
#include "mail/control_file/internal.h"
#include "mail/control_file/control_file.h"

#include "base/banned.h"

static int
value_check(const char *what, struct slice value, bool blanks_ok,
    struct err *err)
{
	for (size_t i = 0; i < value.n; i++) {
		unsigned char c = (unsigned char)value.p[i];

		if (c < ' ' || c == 0x7f)
			return err_set(err, "control character \\x%02x in %s",
			    c, what);
		if (c == ' ' && !blanks_ok)
			return err_set(err, "blank in %s", what);
	}
	if (value.n > CONTROL_LINE_BYTES_MAX / 4)
		return err_set(err, "%s of %zu bytes", what, value.n);
	return 1;
}

/* "T value"; nothing when the value is empty. */
static int
control_add_line(struct str *out, char tag, struct slice value, struct err *err)
{
	char what[] = "line '?'";

	what[6] = tag;
	if (value.n == 0)
		return 1;
	if (value_check(what, value, true, err) < 0)
		return -1;
	str_addc(out, tag);
	str_addc(out, ' ');
	str_add_slice(out, value);
	str_addc(out, '\n');
	return 1;
}

static int
control_add_terms(struct str *out, const struct terms *terms, struct err *err)
{
	if (!terms_any(terms))
		return 1;
	str_adds(out, "T ");
	if (terms_add(out, terms, err) < 0)
		return -1;
	str_addc(out, '\n');
	return 1;
}

/* An empty field is "-"; one that is "-" gets quotes, which mean the same. */
static void
add_field(struct str *out, struct slice value)
{
	if (value.n == 0)
		str_addc(out, '-');
	else if (slice_is(value, "-"))
		str_adds(out, "\"-\"");
	else
		str_add_slice(out, value);
}

/* Where the next byte goes.  32 bits are enough: see CONTROL_HEAD_BYTES_MAX. */
static uint32_t
offset_of(const struct control_writer *writer)
{
	return (uint32_t)(writer->taken + writer->out->len);
}

static int
check_bytes(const struct control_writer *writer, struct err *err)
{
	return writer->taken + writer->out->len <= CONTROL_HEAD_BYTES_MAX ? 1 :
	    err_set(err, "control file of more than %d bytes",
	    CONTROL_HEAD_BYTES_MAX);
}

int
control_writer_sender(struct control_writer *writer, struct slice sender,
    struct slice errors_to, uint32_t *out_offset, struct err *err)
{
	struct str *out = writer->out;

	if (value_check("a sender", sender, true, err) < 0)
		return -1;
	*out_offset = offset_of(writer);
	str_adds(out, "s - - ");
	add_field(out, sender);
	str_adds(out, " -2\n");
	return control_add_line(out, 'e', errors_to, err);
}

void
control_add_number(struct str *out, int64_t number)
{
	char room[DECIMAL_BYTES];

	if (number < 0)
		str_addc(out, '-');
	str_add_slice(out, slice_decimal(number < 0 ? -(uint64_t)number :
	    (uint64_t)number, room));
}

static int
way_check(const struct control_way *way, struct err *err)
{
	if (way->channel.n == 0 || way->user.n == 0)
		return err_set(err, "recipient without channel or user");
	if (value_check("a channel", way->channel, false, err) < 0 ||
	    value_check("a host", way->host, false, err) < 0)
		return -1;
	return value_check("a recipient", way->user, true, err);
}

static void
add_way(struct str *out, const char *tag, const struct control_way *way)
{
	str_adds(out, tag);
	add_field(out, way->channel);
	str_addc(out, ' ');
	add_field(out, way->host);
	str_addc(out, ' ');
	add_field(out, way->user);
	str_addc(out, ' ');
	control_add_number(out, way->uid);
	str_addc(out, '\n');
}

static void
add_notify(struct str *out, const struct control_rcpt *rcpt, int64_t after_s)
{
	if (rcpt->notify == DSN_NOTIFY_DEFAULT && rcpt->orcpt.n == 0 &&
	    rcpt->zone.n == 0 && rcpt->given.n == 0 && after_s == 0)
		return;
	str_addc(out, 'N');
	if (after_s > 0)
		str_addf(out, " AFTER=%" PRId64, after_s);
	if (rcpt->notify != DSN_NOTIFY_DEFAULT) {
		str_adds(out, " NOTIFY=");
		dsn_notify_add(out, rcpt->notify);
	}
	if (rcpt->orcpt.n > 0) {
		str_adds(out, " ORCPT=");
		str_add_slice(out, rcpt->orcpt);
	}
	if (rcpt->zone.n > 0) {
		str_adds(out, " ZONE=");
		str_add_slice(out, rcpt->zone);
	}
	if (rcpt->given.n > 0) {
		str_adds(out, " GIVEN=");
		str_add_slice(out, rcpt->given);
	}
	str_addc(out, '\n');
}

int
control_writer_rcpt(struct control_writer *writer, struct control_rcpt *rcpt,
    struct err *err)
{
	const struct control_way first = { .channel = rcpt->channel,
	    .host = rcpt->host, .user = rcpt->user, .uid = rcpt->uid };
	struct str *out = writer->out;

	if (way_check(&first, err) < 0 ||
	    value_check("an ORCPT", rcpt->orcpt, false, err) < 0 ||
	    value_check("a zone", rcpt->zone, false, err) < 0 ||
	    value_check("a given address", rcpt->given, false, err) < 0)
		return -1;
	rcpt->offset = offset_of(writer);
	add_way(out, "r ", &first);
	add_notify(out, rcpt, 0);
	for (size_t i = 0; i < rcpt->way_count; i++) {
		if (way_check(&rcpt->ways[i], err) < 0)
			return -1;
		add_way(out, "X ", &rcpt->ways[i]);
		add_notify(out, rcpt, rcpt->ways[i].after_s);
	}
	return check_bytes(writer, err);
}

static int
header_check(struct slice header, struct err *err)
{
	if (header.n > CONTROL_HEADER_BYTES_MAX)
		return err_set(err, "header of %zu bytes, the limit is %d",
		    header.n, CONTROL_HEADER_BYTES_MAX);
	if (slice_find_blank_line(header) < header.n)
		return err_set(err, "blank line inside a header");
	return 1;
}

int
control_writer_header(struct control_writer *writer, struct slice header,
    uint32_t *out_offset, struct err *err)
{
	struct str *out = writer->out;

	if (header_check(header, err) < 0)
		return -1;
	str_adds(out, "m\n");
	*out_offset = offset_of(writer);
	str_add_slice(out, header);
	if (header.n > 0 && header.p[header.n - 1] != '\n')
		str_addc(out, '\n');
	str_addc(out, '\n');
	return check_bytes(writer, err);
}

int
control_writer_header_again(struct control_writer *writer, uint32_t offset,
    struct err *err)
{
	str_addf(writer->out, "h %" PRIu32 "\n", offset);
	return check_bytes(writer, err);
}

static bool
is_same_header(const struct control_group *a, const struct control_group *b)
{
	return a->header.p == b->header.p && a->header.n == b->header.n;
}

static int
add_groups(struct control_writer *writer, struct control_file *control,
    struct err *err)
{
	size_t first = 0;
	uint32_t at;

	control->rcpt_total = 0;
	for (size_t i = 0; i < control->group_count; i++) {
		struct control_group *group = &control->groups[i];

		if (group->rcpt_count == 0)
			return err_set(err, "sender without recipients");
		if (control_writer_sender(writer, group->sender,
		    group->errors_to, &group->sender_offset, err) < 0)
			return -1;
		for (size_t j = 0; j < group->rcpt_count; j++)
			if (control_writer_rcpt(writer, &group->rcpts[j],
			    err) < 0)
				return -1;
		control->rcpt_total += group->rcpt_count;
		if (i + 1 < control->group_count &&
		    is_same_header(group, group + 1))
			continue;
		if (control_writer_header(writer, group->header, &at, err) < 0)
			return -1;
		for (; first <= i; first++)
			control->groups[first].header_offset = at;
	}
	return 1;
}

static void
add_number_line(struct str *out, char tag, uint64_t number)
{
	char room[DECIMAL_BYTES];

	str_addc(out, tag);
	str_addc(out, ' ');
	str_add_slice(out, slice_decimal(number, room));
	str_addc(out, '\n');
}

int
control_writer_common(struct control_writer *writer,
    const struct control_file *control,
    struct err *err)
{
	struct str *out = writer->out;

	if (!spool_id_is(slice_of(control->id)))
		return err_set(err, "'%s' is not a spool id", control->id);
	str_adds(out, "I ");
	str_adds(out, control->id);
	str_addc(out, '\n');
	add_number_line(out, 'i', control->inode);
	add_number_line(out, 'o', control->body_offset);
	add_number_line(out, 'z', control->size_bytes);
	if (control_add_line(out, 'l', control->msgid, err) < 0 ||
	    control_add_line(out, 'e', control->errors_to, err) < 0 ||
	    control_add_line(out, 'u', control->user, err) < 0 ||
	    control_add_line(out, 'f', control->source, err) < 0 ||
	    control_add_line(out, 'B', control->bodytype, err) < 0 ||
	    control_add_line(out, 'R', slice_of(dsn_ret_name(control->ret)),
	    err) < 0 ||
	    control_add_line(out, 'n', control->envid, err) < 0 ||
	    control_add_terms(out, &control->terms, err) < 0)
		return -1;
	return 1;
}

/* ---- beginning and end ----------------------------------------------- */

void
control_writer_begin(struct control_writer *writer, struct str *out)
{
	*writer = (struct control_writer){ .out = out };
	str_reset(out);		/* offsets count from the file's first byte */
	str_adds(out, "@ 1 ........ ........\n");
}

uint32_t
control_writer_crc(const struct control_writer *writer, size_t n)
{
	struct slice fresh = slice_first(str_slice(writer->out), n);

	if (writer->taken == 0)
		fresh = slice_from(fresh, n < CONTROL_FIRST_LINE_BYTES ? n :
		    CONTROL_FIRST_LINE_BYTES);
	return crc32c(writer->crc, fresh.p, fresh.n);
}

void
control_writer_take(struct control_writer *writer)
{
	writer->crc = control_writer_crc(writer, writer->out->len);
	writer->taken += writer->out->len;
	str_reset(writer->out);
}

enum { BYTES_END = 12 };	/* of the number in the first line */

void
control_writer_end(struct control_writer *writer,
    char out_first[CONTROL_FIRST_LINE_BYTES + 1])
{
	static const char shown[] = "@ 1 00000000 ........\n";
	char room[DECIMAL_BYTES];
	struct slice bytes = slice_decimal(offset_of(writer), room);

	memcpy(out_first, shown, sizeof(shown));
	memcpy(out_first + BYTES_END - bytes.n, bytes.p, bytes.n);
	hex_put(out_first + BYTES_END + 1, control_writer_crc(writer,
	    writer->out->len), 8);
	if (writer->taken == 0)
		memcpy(writer->out->buf, out_first, CONTROL_FIRST_LINE_BYTES);
}

void
control_writer_record(struct control_writer *writer, const char *id,
    const struct control_record *record)
{
	control_record_add(writer->out, crc32c(0, id, strlen(id)), record);
}

int
control_file_format(struct control_file *control, struct str *out,
    struct err *err)
{
	char first[CONTROL_FIRST_LINE_BYTES + 1];
	struct control_writer writer;

	control_writer_begin(&writer, out);
	if (control_writer_common(&writer, control, err) < 0 ||
	    add_groups(&writer, control, err) < 0)
		return -1;
	if (control->group_count == 0)
		return err_set(err, "control file without recipients");
	control_writer_end(&writer, first);
	control->head_bytes = out->len;
	return 0;
}
