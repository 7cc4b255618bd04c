/* headers.c - the header of a message on its way through
 *
 * In     a message file, its envelope
 * Out    the header for the control file; what routing needs of it
 * Holds  nothing
 * Trusts nothing; stops at the limit header_bytes
 * Spec   RFC 5322 section 3.6; RFC 6409 section 8 (submission may add)
 *
 * SPDX-License-Identifier: ISC
 */
#include "router/headers.h"

#include "base/clock.h"
#include "base/mem.h"
#include "grammar/header.h"

#include "base/banned.h"

enum {
	HEADERS_MSGID_BYTES_MAX = 1000,
	HEADERS_BYTES_MAX = (4 << 20) - 65536	/* a control file's m block
						 * has 4 MiB */
};

/* What the router does with a field; all others are just kept. */
enum field_use {
	FIELD_DROP = 1,		/* everybody's */
	FIELD_DROP_LOCAL = 2,	/* of a local submission */
	FIELD_RECEIVED = 4,
	FIELD_MSGID = 8,
	FIELD_DATE = 16,
	FIELD_FROM = 32,
	FIELD_RCPT = 64,
	FIELD_RESENT_RCPT = 128,
	FIELD_PRECEDENCE = 256
};

static const struct field_row {
	const char	*name;
	unsigned	 use;
} field_rows[] = {
	{ "Bcc", FIELD_DROP_LOCAL | FIELD_RCPT },
	{ "Cc", FIELD_RCPT },
	{ "Date", FIELD_DATE },
	{ "From", FIELD_FROM },
	{ "Message-Id", FIELD_MSGID },
	{ "Precedence", FIELD_PRECEDENCE },
	{ "Received", FIELD_RECEIVED },
	{ "Resent-Bcc", FIELD_DROP_LOCAL | FIELD_RESENT_RCPT },
	{ "Resent-Cc", FIELD_RESENT_RCPT },
	{ "Resent-To", FIELD_RESENT_RCPT },
	{ "Return-Path", FIELD_DROP },
	{ "To", FIELD_RCPT },
};

static unsigned
field_use(const struct header_field *field)
{
	for (size_t i = 0; i < sizeof(field_rows) / sizeof(field_rows[0]); i++)
		if (header_is(field, field_rows[i].name))
			return field_rows[i].use;
	return 0;
}

static void
list_add(struct arena *arena, struct header_list ***end, struct slice value)
{
	struct header_list *item = arena_alloc(arena, sizeof(*item));

	item->value = value;
	**end = item;
	*end = &item->next;
}

/* The first msg-id, when it can stand in a line. */
static struct slice
msgid_of(struct slice value)
{
	struct slice id = header_msgid(value);

	for (size_t i = 0; i < id.n; i++)
		if ((unsigned char)id.p[i] < ' ' || id.p[i] == 127)
			return (struct slice){ NULL, 0 };
	return slice_first(id, HEADERS_MSGID_BYTES_MAX);
}

/* Anybody may write the field, so it only ever makes mail wait. */
static int
precedence_of(struct slice value)
{
	static const struct { const char *word; int priority; } rows[] = {
		{ "list", -1 }, { "bulk", -2 }, { "junk", -3 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (slice_is_nocase(slice_trim(value), rows[i].word))
			return rows[i].priority;
	return 0;
}

static void
note_field(struct arena *arena, struct headers *headers, unsigned use,
    const struct header_field *field)
{
	if (use & FIELD_RECEIVED)
		headers->received++;
	if (use & FIELD_DATE)
		headers->has_date = true;
	if (use & FIELD_FROM)
		headers->has_from = true;
	if (use & FIELD_PRECEDENCE)
		headers->precedence = precedence_of(field->value);
	if (use & FIELD_MSGID) {
		headers->has_msgid = true;
		if (headers->msgid.n == 0)
			headers->msgid = msgid_of(field->value);
	}
}

static void
add_missing(struct headers *headers, const struct envelope *envelope,
    const struct conf *conf, struct str *out)
{
	char date[CLOCK_TEXT_BYTES];
	size_t at;

	if (envelope->is_external && envelope->user.n == 0)
		return;
	if (!headers->has_date) {
		clock_rfc5322(spool_id_time_us(slice_of(envelope->id)) /
		    1000000, date);
		str_addf(out, "Date: %s\n", date);
	}
	if (!headers->has_from && !envelope->is_external) {
		str_adds(out, "From: ");
		at = out->len;
		path_add(out, &envelope->from);
		if (out->len == at)
			str_addf(out, "MAILER-DAEMON@%s", conf->host);
		else if (envelope->from.domain.n == 0)
			str_addf(out, "@%s", conf->host);
		str_addc(out, '\n');
	}
	if (!headers->has_msgid)
		str_addf(out, "Message-Id: <%s@%s>\n", envelope->id,
		    conf->host);
}

/* The id in the log of a message that came without one. */
static void
msgid_default(struct arena *arena, struct headers *headers,
    const struct envelope *envelope, const struct conf *conf)
{
	if (!headers->has_msgid &&
	    (!envelope->is_external || envelope->user.n > 0))
		headers->msgid = slice_of(arena_printf(arena, "<%s@%s>",
		    envelope->id, conf->host));
}

static void
keep_lines(struct str *out, struct slice lines)
{
	str_add_slice(out, lines);
	if (!slice_ends(lines, "\n"))
		str_addc(out, '\n');
}

static void
pass_field(struct arena *arena, const struct header_field *field,
    const struct envelope *envelope, struct headers *headers,
    struct str *out)
{
	unsigned use = field_use(field);

	note_field(arena, headers, use, field);
	if (envelope->header_rcpts && (use & FIELD_RCPT))
		list_add(arena, &headers->to_end, field->value);
	if (envelope->header_rcpts && (use & FIELD_RESENT_RCPT))
		list_add(arena, &headers->resent_to_end, field->value);
	if ((use & FIELD_DROP) ||
	    ((use & FIELD_DROP_LOCAL) && !envelope->is_external))
		return;
	keep_lines(out, field->whole);
}

/* A field, or a line that is none.  1 when there was one, 0 at the body. */
static int
next_lines(struct slice *rest, bool is_first, struct header_field *field,
    bool *out_is_field)
{
	bool is_broken;

	*out_is_field = header_next(rest, field, &is_broken) == 1;
	if (*out_is_field)
		return 1;
	if (!is_broken || is_first)
		return 0;
	field->whole = header_junk(rest);
	return 1;
}

void
headers_pass(struct arena *arena, struct slice file,
    const struct envelope *envelope, const struct conf *conf,
    struct headers *headers, struct str *out)
{
	struct slice rest = slice_from(file, envelope->header_offset);
	struct header_field field;
	uint64_t limit = conf->limits.header_bytes, bytes = 0;
	bool is_field;

	*headers = (struct headers){ .to_end = &headers->to,
	    .resent_to_end = &headers->resent_to };
	if (limit > HEADERS_BYTES_MAX)
		limit = HEADERS_BYTES_MAX;
	received_add(out, envelope, conf->host);
	if (header_is_from_line(rest))
		rest = slice_from(rest, slice_find(rest, '\n') + 1);
	while (next_lines(&rest, bytes == 0, &field, &is_field)) {
		headers->is_broken |= !is_field;
		bytes += field.whole.n;
		if (bytes > limit) {
			/* what follows a broken line may be a body: not the
			 * header's fault */
			headers->is_too_large = !headers->is_broken;
			rest = slice_from(file, (size_t)(field.whole.p -
			    file.p));
			break;
		}
		if (is_field)
			pass_field(arena, &field, envelope, headers, out);
		else
			keep_lines(out, field.whole);
	}
	headers->body_offset = file.n - rest.n;
	add_missing(headers, envelope, conf, out);
	msgid_default(arena, headers, envelope, conf);
}
