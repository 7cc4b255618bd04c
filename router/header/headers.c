/* headers.c - the header of a message on its way through
 *
 * In     a message file, its envelope
 * Out    the header for the control file; what routing needs of it
 * Holds  nothing
 * Trusts nothing; stops at the limit header_bytes
 * Spec   RFC 5322 section 3.6; RFC 6409 section 8 (submission may add);
 *        RFC 5321 section 4.4 (a relay leaves Return-Path); RFC 8689 section 5
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "router/header/headers.h"

#include "base/clock.h"
#include "base/mem.h"
#include "grammar/message/header.h"

#include "base/banned.h"

enum {
	HEADERS_MSGID_BYTES_MAX = 1000,
	HEADERS_BYTES_MAX = (4 << 20) - 65536	/* a control file's m block
						 * has 4 MiB */
};

/* What the router does with a field; all others are just kept. */
enum field_use {
	FIELD_DROP_OWN = 1,	/* of a user's submission; a relay drops none */
	FIELD_RECEIVED = 2,
	FIELD_MSGID = 4,
	FIELD_DATE = 8,
	FIELD_FROM = 16,
	FIELD_RCPT = 32,
	FIELD_RESENT_RCPT = 64,
	FIELD_PRECEDENCE = 128,
	FIELD_TLS_REQUIRED = 256
};

static const struct field_row {
	const char	*name;
	unsigned	 use;
} field_rows[] = {
	{ "Bcc", FIELD_DROP_OWN | FIELD_RCPT },
	{ "Cc", FIELD_RCPT },
	{ "Date", FIELD_DATE },
	{ "From", FIELD_FROM },
	{ "Message-Id", FIELD_MSGID },
	{ "Precedence", FIELD_PRECEDENCE },
	{ "Received", FIELD_RECEIVED },
	{ "Resent-Bcc", FIELD_DROP_OWN | FIELD_RESENT_RCPT },
	{ "Resent-Cc", FIELD_RESENT_RCPT },
	{ "Resent-To", FIELD_RESENT_RCPT },
	{ "Return-Path", FIELD_DROP_OWN },
	{ "TLS-Required", FIELD_TLS_REQUIRED },
	{ "To", FIELD_RCPT },
};

static unsigned
headers_field_use(const struct header_field *field)
{
	for (size_t i = 0; i < sizeof(field_rows) / sizeof(field_rows[0]); i++)
		if (header_is(field, field_rows[i].name))
			return field_rows[i].use;
	return 0;
}

static void
headers_list_add(struct arena *arena, struct header_list ***end,
    struct slice value)
{
	struct header_list *item = arena_alloc(arena, sizeof(*item));

	item->value = value;
	**end = item;
	*end = &item->next;
}

/* The first msg-id, when it can stand in a line. */
static struct slice
headers_msgid(struct slice value)
{
	struct slice id = header_msgid(value);

	for (size_t i = 0; i < id.n; i++)
		if ((unsigned char)id.p[i] < ' ' || id.p[i] == 127)
			return (struct slice){ NULL, 0 };
	return slice_first(id, HEADERS_MSGID_BYTES_MAX);
}

/* Anybody may write the field, so it only ever makes mail wait. */
static int
headers_precedence(struct slice value)
{
	static const struct { const char *word; int priority; } rows[] = {
		{ "list", -1 }, { "bulk", -2 }, { "junk", -3 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (slice_is_nocase(slice_trim(value), rows[i].word))
			return rows[i].priority;
	return 0;
}

/* Over comments (RFC 5322 section 3.2.2) and blanks; at the end where a
 * comment does not end. */
static struct slice
headers_skip_comments(struct slice s)
{
	size_t i = 0, depth = 0;

	for (; i < s.n; i++) {
		if (s.p[i] == '\\' && depth > 0)
			i++;
		else if (s.p[i] == '(')
			depth++;
		else if (s.p[i] == ')' && depth > 0)
			depth--;
		else if (depth == 0 && strchr(" \t\r\n", s.p[i]) == NULL)
			break;
	}
	return slice_from(s, i < s.n ? i : s.n);
}

/* Whether the value is the word No, with comments around it. */
static bool
headers_value_is_no(struct slice value)
{
	struct slice word = headers_skip_comments(value);

	return word.n >= 2 && slice_is_nocase(slice_first(word, 2), "no") &&
	    headers_skip_comments(slice_from(word, 2)).n == 0;
}

static void
headers_note_field(struct arena *arena, struct headers *headers, unsigned use,
    const struct header_field *field)
{
	if (use & FIELD_RECEIVED)
		headers->received++;
	if (use & FIELD_DATE)
		headers->has_date = true;
	if (use & FIELD_FROM)
		headers->has_from = true;
	if (use & FIELD_PRECEDENCE)
		headers->precedence = headers_precedence(field->value);
	if (use & FIELD_TLS_REQUIRED)	/* a second one: neither counts */
		headers->is_tls_optional = headers->tls_fields++ == 0 &&
		    headers_value_is_no(field->value);
	if (use & FIELD_MSGID) {
		headers->has_msgid = true;
		if (headers->msgid.n == 0)
			headers->msgid = headers_msgid(field->value);
	}
}

/* ---- what is wrong ------------------------------------------------------ */

struct pass {			/* one header on its way */
	struct arena		*arena;
	const struct envelope	*envelope;
	const struct conf	*conf;
	struct headers		*headers;
	struct str		*out;
	struct slice		 header;	/* and the body after it */
	unsigned		 line;		/* of what comes next */
	bool			 is_own;	/* by a user of ours */
	int			 may_repair;	/* -1: not yet known */
};

static unsigned
headers_line_count(struct slice lines)
{
	unsigned count = 0;

	for (size_t n; lines.n > 0; lines = slice_from(lines, n + 1)) {
		n = slice_find(lines, '\n');
		count++;
	}
	return count;
}

/* Only when something is wrong is the header looked through for a
 * signature. */
static bool
pass_may_repair(struct pass *pass)
{
	enum conf_header_repair repair = pass->conf->header_repair;

	if (pass->may_repair < 0)
		pass->may_repair = repair != REPAIR_NONE && pass->is_own &&
		    (repair == REPAIR_OWN || !pass->envelope->is_external) &&
		    !header_is_signed(pass->header);
	return pass->may_repair > 0;
}

/* Lines that are wrong.  True: they went on as what nobody reads. */
static bool
pass_wrong_lines(struct pass *pass, const char *field, const char *reason,
    struct slice lines)
{
	struct header_wrongs *wrongs = &pass->headers->wrongs;
	bool is_repaired = pass_may_repair(pass) &&
	    wrongs->count < HEADER_WRONGS_MAX;

	header_wrong_add(pass->arena, wrongs, field, reason, pass->line,
	    is_repaired);
	if (is_repaired)
		header_illegal_add(pass->out, pass->conf->host, field,
		    wrongs->list[wrongs->count - 1].reason, lines);
	return is_repaired;
}

static bool
pass_wrong_field(struct pass *pass, const struct header_field *field)
{
	const char *name;
	struct err err;

	return pass->conf->header_check != HEADERS_UNCHECKED &&
	    header_check_field(pass->arena, &pass->headers->wrongs, field,
	    !pass->is_own, &name, &err) != 0 &&
	    pass_wrong_lines(pass, name, err.text, field->whole);
}

/* ---- what is missing ---------------------------------------------------- */

/* A field that a signature names without being there may not be added.  A
 * missing From makes every signature bad anyway. */
static bool
pass_may_add(struct pass *pass, const char *field, bool is_there)
{
	if (is_there)
		return false;
	if (pass->is_own && !header_signs(pass->header, field))
		return true;
	if (pass->conf->header_check != HEADERS_UNCHECKED)
		header_wrong_add(pass->arena, &pass->headers->wrongs, field,
		    "it is missing", 0, false);
	return false;
}

/* Who logged in wrote the message; of an empty sender nobody can say who. */
static bool
pass_may_add_from(const struct pass *pass)
{
	const struct envelope *envelope = pass->envelope;

	return pass->is_own && (!envelope->is_external ||
	    !envelope->is_error);
}

static void
pass_add_from(struct pass *pass)
{
	const struct path *from = &pass->envelope->from;
	struct str *out = pass->out;
	size_t at;

	str_adds(out, "From: ");
	at = out->len;
	path_add(out, from);
	if (out->len == at)
		str_addf(out, "MAILER-DAEMON@%s", pass->conf->host);
	else if (from->domain.n == 0)
		str_addf(out, "@%s", pass->conf->host);
	str_addc(out, '\n');
}

static void
pass_add_missing(struct pass *pass)
{
	const struct headers *headers = pass->headers;
	const struct envelope *envelope = pass->envelope;
	char date[CLOCK_TEXT_BYTES];

	if (pass_may_add(pass, "Date", headers->has_date)) {
		clock_rfc5322(spool_id_time_us(slice_of(envelope->id)) /
		    1000000, date);
		str_addf(pass->out, "Date: %s\n", date);
	}
	if (!headers->has_from && pass_may_add_from(pass))
		pass_add_from(pass);
	else if (!headers->has_from &&
	    pass->conf->header_check != HEADERS_UNCHECKED)
		header_wrong_add(pass->arena, &pass->headers->wrongs, "From",
		    "it is missing", 0, false);
	if (!headers->has_msgid && pass->is_own &&
	    !header_signs(pass->header, "Message-Id"))
		str_addf(pass->out, "Message-Id: <%s@%s>\n", envelope->id,
		    pass->conf->host);
}

/* The id in the log of a message that came without one. */
static void
headers_default_msgid(struct arena *arena, struct headers *headers,
    const struct envelope *envelope, const struct conf *conf)
{
	if (!headers->has_msgid &&
	    (!envelope->is_external || envelope->user.n > 0))
		headers->msgid = slice_of(arena_printf(arena, "<%s@%s>",
		    envelope->id, conf->host));
}

static void
pass_keep_lines(struct str *out, struct slice lines)
{
	str_add_slice(out, lines);
	if (!slice_ends(lines, "\n"))
		str_addc(out, '\n');
}

static void
pass_field(struct pass *pass, const struct header_field *field)
{
	const struct envelope *envelope = pass->envelope;
	struct headers *headers = pass->headers;
	unsigned use = headers_field_use(field);

	if (envelope->header_rcpts && (use & FIELD_RCPT))
		headers_list_add(pass->arena, &headers->to_end, field->value);
	if (envelope->header_rcpts && (use & FIELD_RESENT_RCPT))
		headers_list_add(pass->arena, &headers->resent_to_end,
		    field->value);
	if ((use & FIELD_DROP_OWN) && pass->is_own)
		return;
	if (pass_wrong_field(pass, field))
		return;
	headers_note_field(pass->arena, headers, use, field);
	pass_keep_lines(pass->out, field->whole);
}

/* A line that is no field. */
static void
pass_junk(struct pass *pass, struct slice lines)
{
	if (pass->conf->header_check == HEADERS_UNCHECKED ||
	    !pass_wrong_lines(pass, "header", "a line is no field", lines))
		pass_keep_lines(pass->out, lines);
}

/* A field, or a line that is none.  1 when there was one, 0 at the body. */
static int
pass_next_lines(struct slice *rest, bool is_first, struct header_field *field,
    bool *out_is_field)
{
	bool is_broken;

	*out_is_field = header_next(rest, field, &is_broken);
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
	struct pass pass = { arena, envelope, conf, headers, out, rest, 1,
	    !envelope->is_external || envelope->user.n > 0, -1 };
	uint64_t limit = conf->limits.header_bytes, bytes = 0;
	struct header_field field;
	bool is_field;

	*headers = (struct headers){ .to_end = &headers->to,
	    .resent_to_end = &headers->resent_to };
	if (limit > HEADERS_BYTES_MAX)
		limit = HEADERS_BYTES_MAX;
	received_add(out, envelope, conf->host);
	if (header_is_from_line(rest)) {
		rest = slice_from(rest, slice_find(rest, '\n') + 1);
		pass.line++;
		pass.header = rest;
	}
	while (pass_next_lines(&rest, bytes == 0, &field, &is_field)) {
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
			pass_field(&pass, &field);
		else
			pass_junk(&pass, field.whole);
		pass.line += headers_line_count(field.whole);
	}
	headers->body_offset = file.n - rest.n;
	pass_add_missing(&pass);
	headers_default_msgid(arena, headers, envelope, conf);
}
