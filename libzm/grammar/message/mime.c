/* mime.c - what the header of a message or of a part says about its body
 *
 * In     header fields
 * Out    kind, encoding, boundary
 * Trusts nothing: what cannot be read counts as not said
 * Spec   RFC 2045 sections 5.1 and 6.1; RFC 2046 sections 5.1 and 5.2
 *
 *   content   = type "/" subtype *( ";" parameter )
 *   parameter = attribute "=" ( token / quoted-string )
 *             / [ attribute "*" [ 1*DIGIT ] [ "*" ] "=" value ]
 *             ; RFC 2231 sections 3 and 4; or nothing at all
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/ascii.h"
#include "grammar/message/header.h"
#include "grammar/message/mime.h"

#include "base/banned.h"

/* Blanks, folds and comments. */
static void
skip_space(struct slice *rest)
{
	unsigned depth = 0;

	while (rest->n > 0 && (depth > 0 || ascii_is_space(rest->p[0]) ||
	    rest->p[0] == '(')) {
		if (rest->p[0] == '\\' && depth > 0)
			*rest = slice_from(*rest, 1);
		else if (rest->p[0] == '(')
			depth++;
		else if (rest->p[0] == ')')
			depth--;
		*rest = slice_from(*rest, 1);
	}
}

static bool
is_token_byte(char c)
{
	return c > ' ' && c < 127 && !ascii_is_among(c, "()<>@,;:\\\"/[]?=");
}

static struct slice
take_token(struct slice *rest)
{
	struct slice token;

	skip_space(rest);
	token = *rest;
	token.n = 0;
	while (token.n < rest->n && is_token_byte(rest->p[token.n]))
		token.n++;
	*rest = slice_from(*rest, token.n);
	skip_space(rest);
	return token;
}

static bool
take_byte(struct slice *rest, char c)
{
	if (rest->n == 0 || rest->p[0] != c)
		return false;
	*rest = slice_from(*rest, 1);
	return true;
}

/* A token or a quoted string into out; one that is too long for it counts as
 * empty.  False: none, or one without an end. */
static bool
mime_take_value(struct slice *rest, char *out, size_t size)
{
	bool is_quoted;
	size_t n = 0;

	skip_space(rest);
	is_quoted = take_byte(rest, '"');
	for (; rest->n > 0; *rest = slice_from(*rest, 1)) {
		/* senders forget the quotes: up to what ends a value */
		if (is_quoted ? rest->p[0] == '"' :
		    ascii_is_space(rest->p[0]) ||
		    rest->p[0] == ';' || rest->p[0] == '(')
			break;
		if (is_quoted && take_byte(rest, '\\') && rest->n == 0)
			return false;
		if (n < size - 1)
			out[n] = rest->p[0];
		n++;
	}
	out[n < size ? n : 0] = '\0';
	return is_quoted ? take_byte(rest, '"') : n > 0;
}

/* RFC 2231 section 4: charset'language'%41bc, the front only in the first
 * piece. */
static void
value_decode(char *value, bool is_first)
{
	char *from = value, *to = value;

	for (int i = 0; is_first && i < 2; i++)
		if (strchr(from, '\'') != NULL)
			from = strchr(from, '\'') + 1;
	for (; *from != '\0'; from++) {
		int high = *from == '%' ? ascii_hex(from[1]) : -1;
		int low = high >= 0 ? ascii_hex(from[2]) : -1;

		*to++ = low > 0 || high > 0 ? (char)(high * 16 + low) : *from;
		if (low > 0 || high > 0)
			from += 2;
	}
	*to = '\0';
}

/* One piece of it: "boundary", "boundary*", "boundary*0", "boundary*0*".
 * False: another parameter, or one that is too long. */
static bool
boundary_piece(struct slice name, char *value, struct mime_head *out)
{
	size_t had = strlen(out->boundary);
	bool is_coded, is_first;

	if (!slice_is_nocase(slice_first(name, 8), "boundary"))
		return false;
	name = slice_from(name, 8);
	if (name.n > 0 && name.p[0] != '*')
		return false;
	is_coded = name.n > 0 && name.p[name.n - 1] == '*';
	is_first = name.n <= 1 || name.p[1] == '*' || name.p[1] == '0';
	if (is_coded)
		value_decode(value, is_first);
	if (is_first)
		had = 0;
	if (had + strlen(value) > MIME_BOUNDARY_BYTES_MAX)
		return false;
	memcpy(out->boundary + had, value, strlen(value) + 1);
	return true;
}

static void
boundary_find(struct slice rest, struct mime_head *out)
{
	char value[MIME_BOUNDARY_BYTES_MAX + 1];

	while (take_byte(&rest, ';')) {
		struct slice name = take_token(&rest);

		if (name.n == 0 && (rest.n == 0 || rest.p[0] == ';'))
			continue;	/* senders write two */
		if (!take_byte(&rest, '=') ||
		    !mime_take_value(&rest, value, sizeof(value)))
			break;
		skip_space(&rest);
		if (boundary_piece(name, value, out) &&
		    memchr(name.p, '*', name.n) == NULL)
			break;
	}
	/* RFC 2046 section 5.1.1: no blank ends it */
	for (size_t n = strlen(out->boundary);
	    n > 0 && ascii_is_space(out->boundary[n - 1]); n--)
		out->boundary[n - 1] = '\0';
}

static void
take_type(struct slice value, struct mime_head *out)
{
	struct slice rest = value;
	struct slice type = take_token(&rest), subtype;

	if (type.n == 0 || !take_byte(&rest, '/'))
		return;
	subtype = take_token(&rest);
	out->has_type = true;
	out->kind = slice_is_nocase(type, "text") ? MIME_TEXT : MIME_DATA;
	if (slice_is_nocase(type, "message") &&
	    (slice_is_nocase(subtype, "rfc822") ||
	    slice_is_nocase(subtype, "news")))
		out->kind = MIME_MESSAGE;
	if (!slice_is_nocase(type, "multipart"))
		return;
	boundary_find(rest, out);
	out->is_digest = slice_is_nocase(subtype, "digest");
	out->is_sealed = slice_is_nocase(subtype, "signed") ||
	    slice_is_nocase(subtype, "encrypted");
	if (out->boundary[0] != '\0')
		out->kind = MIME_MULTIPART;
	else
		out->is_opaque = true;
}

static void
take_encoding(struct slice value, struct mime_head *out)
{
	static const struct {
		const char		*name;
		enum mime_encoding	 encoding;
	} names[] = {
		{ "7bit", MIME_7BIT }, { "8bit", MIME_8BIT },
		{ "binary", MIME_BINARY }, { "quoted-printable", MIME_QUOTED },
		{ "base64", MIME_BASE64 },
		/* what senders write for them: "8 bit" */
		{ "7", MIME_7BIT }, { "7-bit", MIME_7BIT },
		{ "7bits", MIME_7BIT }, { "", MIME_7BIT }, { "8", MIME_8BIT },
		{ "8-bit", MIME_8BIT }, { "8bits", MIME_8BIT } };
	struct slice rest = value;
	struct slice token = take_token(&rest);

	out->has_encoding = true;
	out->encoding = MIME_OTHER;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (slice_is_nocase(token, names[i].name))
			out->encoding = names[i].encoding;
}

void
mime_head_read(struct slice header, bool in_digest, struct mime_head *out)
{
	struct header_field field;
	bool is_broken = false;

	memset(out, 0, sizeof(*out));
	while (header.n > 0) {
		if (!header_next(&header, &field, &is_broken))
			(void)header_junk(&header);
		else if (header_is(&field, "Content-Type") && !out->has_type)
			take_type(field.value, out);
		else if (header_is(&field, "Content-Transfer-Encoding") &&
		    !out->has_encoding)
			take_encoding(field.value, out);
		else if (header_is(&field, "MIME-Version"))
			out->has_version = true;
	}
	if (!out->has_type && in_digest)
		out->kind = MIME_MESSAGE;
	/* what is encoded as a whole has no structure to be seen */
	if ((out->kind == MIME_MESSAGE || out->kind == MIME_MULTIPART) &&
	    out->encoding >= MIME_QUOTED) {
		out->kind = MIME_DATA;
		out->is_opaque = true;
	}
}

void
mime_parameter(struct slice value, const char *name, char *out, size_t size)
{
	struct slice rest = slice_from(value, slice_find(value, ';'));
	char text[MIME_BOUNDARY_BYTES_MAX + 1];

	while (take_byte(&rest, ';')) {
		struct slice token = take_token(&rest);

		if (token.n == 0 && (rest.n == 0 || rest.p[0] == ';'))
			continue;
		if (!take_byte(&rest, '=') ||
		    !mime_take_value(&rest, text, sizeof(text)))
			break;
		skip_space(&rest);
		if (slice_is_nocase(token, name) && text[0] != '\0' &&
		    strlen(text) < size) {
			memcpy(out, text, strlen(text) + 1);
			break;
		}
	}
}
