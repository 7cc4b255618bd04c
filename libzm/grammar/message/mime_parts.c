/* mime_parts.c - the parts of a message, for people who want to read it
 *
 * In     a message, or the front of one
 * Out    its leaves, texts decoded
 * Trusts nothing: bounds in mime_parts.h
 * Spec   mime_parts.h; RFC 2045 sections 6.7, 6.8; RFC 2046 section 5.1
 *
 *   multipart = [ text LF ] *( border LF part ) [ last-border ] text
 *   border    = "--" boundary *WSP
 *   last-border = "--" boundary "--" *WSP
 *   part      = *( field LF ) [ LF body ]	; the LF before a border is its
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/ascii.h"
#include "grammar/message/header.h"
#include "grammar/message/mime.h"
#include "grammar/message/mime_parts.h"

#include "base/banned.h"

struct parts {
	struct arena	*arena;
	size_t		 most, count;
	struct mime_part *out;
	bool		 is_more;
};

/* ---- codes -------------------------------------------------------------- */

/* "=" and what follows it at the front of text: the byte, or -1 for an end of
 * line that is none; *out_used: so much of text.  0 used: it is only "=". */
static int
unquote_one(struct slice text, size_t *out_used)
{
	size_t n = 1;

	if (text.n >= 3 && ascii_hex(text.p[1]) >= 0 &&
	    ascii_hex(text.p[2]) >= 0) {
		*out_used = 3;
		return ascii_hex(text.p[1]) << 4 | ascii_hex(text.p[2]);
	}
	while (n < text.n && (text.p[n] == ' ' || text.p[n] == '\t' ||
	    text.p[n] == '\r'))
		n++;
	*out_used = n < text.n && text.p[n] == '\n' ? n + 1 : 0;
	return -1;
}

bool
mime_unquote(struct slice text, size_t most, struct str *out)
{
	size_t end = out->len + most;

	while (text.n > 0) {
		size_t used = 1;
		int byte = (unsigned char)text.p[0];

		if (byte == '=')
			byte = unquote_one(text, &used);
		if (used == 0) {
			used = 1;
			byte = '=';
		}
		if (byte >= 0 && out->len == end)
			return false;
		if (byte >= 0)
			str_addc(out, (char)byte);
		text = slice_from(text, used);
	}
	return true;
}

static int
six_value(char c)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	    "abcdefghijklmnopqrstuvwxyz0123456789+/";
	const char *at = c == '\0' ? NULL : strchr(letters, c);

	return at == NULL ? -1 : (int)(at - letters);
}

bool
mime_unsix(struct slice text, size_t most, struct str *out)
{
	size_t end = out->len + most;
	uint32_t bits = 0;
	unsigned held = 0;

	for (size_t i = 0; i < text.n && text.p[i] != '='; i++) {
		int value = six_value(text.p[i]);

		if (value < 0)
			continue;
		bits = (bits << 6 | (uint32_t)value) & 0xffffff;
		held += 6;
		if (held < 8)
			continue;
		held -= 8;
		if (out->len == end)
			return false;
		str_addc(out, (char)(bits >> held & 0xff));
	}
	return true;
}

/* ---- a leaf ------------------------------------------------------------- */

static bool
part_is_type(struct slice type)
{
	for (size_t i = 0; i < type.n; i++)
		if (type.p[i] <= ' ' || type.p[i] >= 0x7f)
			return false;
	return type.n < MIME_READ_WORD_BYTES &&
	    slice_find(type, '/') < type.n;
}

static void
part_take_type(struct mime_part *part, struct slice value)
{
	struct slice type = slice_trim(slice_first(value, slice_find(value,
	    ';')));

	if (!part_is_type(type))
		return;
	for (size_t i = 0; i < type.n; i++)
		part->type[i] = ascii_lower(type.p[i]);
	part->type[type.n] = '\0';
	mime_parameter(value, "charset", part->charset,
	    sizeof(part->charset));
	mime_parameter(value, "name", part->name, sizeof(part->name));
}

static void
part_read_head(struct mime_part *part, struct slice header)
{
	struct header_field field;
	bool is_broken = false;

	memcpy(part->type, "text/plain", sizeof("text/plain"));
	while (header.n > 0) {
		if (header_next(&header, &field, &is_broken) == 0)
			(void)header_junk(&header);
		else if (header_is(&field, "Content-Type"))
			part_take_type(part, field.value);
		else if (header_is(&field, "Content-Disposition"))
			mime_parameter(field.value, "filename", part->name,
			    sizeof(part->name));
	}
}

static void
part_add(struct parts *parts, struct slice header, struct slice body,
    const struct mime_head *head)
{
	struct str text = STR_INIT;
	struct mime_part *part;

	if (parts->count == MIME_READ_PARTS_MAX) {
		parts->is_more = true;
		return;
	}
	part = &parts->out[parts->count++];
	*part = (struct mime_part){ .coded = body, .encoding = head->encoding,
	    .body = SLICE("") };
	part_read_head(part, header);
	part->is_text = strncmp(part->type, "text/", 5) == 0 &&
	    head->encoding != MIME_OTHER;
	if (!part->is_text)
		return;
	if (head->encoding == MIME_QUOTED)
		part->is_cut = !mime_unquote(body, parts->most, &text);
	else if (head->encoding == MIME_BASE64)
		part->is_cut = !mime_unsix(body, parts->most, &text);
	else
		part->is_cut = body.n > parts->most;
	part->body = slice_copy(parts->arena, head->encoding == MIME_QUOTED ||
	    head->encoding == MIME_BASE64 ? str_slice(&text) :
	    slice_first(body, parts->most));
	str_release(&text);
}

/* ---- multiparts --------------------------------------------------------- */

enum border { BORDER_NONE, BORDER_NEXT, BORDER_LAST };

static enum border
border_of(struct slice line, const char *boundary)
{
	size_t n = strlen(boundary);
	struct slice rest;

	if (!slice_starts(line, "--") || !slice_starts(slice_from(line, 2),
	    boundary))
		return BORDER_NONE;
	rest = slice_trim(slice_from(line, n + 2));
	return rest.n == 0 ? BORDER_NEXT : slice_is(rest, "--") ?
	    BORDER_LAST : BORDER_NONE;
}

static void parts_read_entity(struct parts *parts, struct slice entity,
    bool in_digest, unsigned depth);

/* A line end before a border is the border's. */
static struct slice
parts_before(struct slice body, size_t start, size_t at)
{
	size_t end = at;

	if (end > start && body.p[end - 1] == '\n')
		end--;
	if (end > start && body.p[end - 1] == '\r')
		end--;
	return slice_from(slice_first(body, end), start);
}

static void
parts_read_multipart(struct parts *parts, struct slice body,
    const struct mime_head *head, unsigned depth)
{
	enum border border = BORDER_NONE;
	size_t start = body.n, at = 0;

	while (at < body.n && border != BORDER_LAST) {
		struct slice rest = slice_from(body, at);
		struct slice line = slice_first(rest, slice_find(rest, '\n'));

		border = border_of(line, head->boundary);
		if (border != BORDER_NONE && start < body.n)
			parts_read_entity(parts, parts_before(body, start, at),
			    head->is_digest, depth + 1);
		at += line.n < rest.n ? line.n + 1 : line.n;
		if (border != BORDER_NONE)
			start = at;
	}
	if (border != BORDER_LAST && start < body.n)
		parts_read_entity(parts, slice_from(body, start),
		    head->is_digest, depth + 1);
}

static void
parts_read_entity(struct parts *parts, struct slice entity, bool in_digest,
    unsigned depth)
{
	struct mime_head head;
	size_t n = header_bytes(entity);
	struct slice header = slice_first(entity, n);
	struct slice body = slice_from(entity, n);

	if (parts->count == MIME_READ_PARTS_MAX) {
		parts->is_more = true;
		return;
	}
	mime_head_read(header, in_digest, &head);
	if (depth >= MIME_READ_DEPTH_MAX && (head.kind == MIME_MULTIPART ||
	    head.kind == MIME_MESSAGE))
		parts->is_more = true;
	else if (head.kind == MIME_MULTIPART)
		parts_read_multipart(parts, body, &head, depth);
	else if (head.kind == MIME_MESSAGE)
		parts_read_entity(parts, body, false, depth + 1);
	else
		part_add(parts, header, body, &head);
}

size_t
mime_parts_read(struct slice message, struct arena *arena, size_t most,
    struct mime_part out[MIME_READ_PARTS_MAX], bool *out_is_more)
{
	struct parts parts = { .arena = arena, .most = most, .out = out };

	parts_read_entity(&parts, message, false, 0);
	*out_is_more = parts.is_more;
	return parts.count;
}
