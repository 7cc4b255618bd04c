/* compose.c - fields and parts of a message from values of anybody
 *
 * In     words, texts, files
 * Out    a message's lines
 * Trusts nothing: what is not plain is encoded; boundaries are random
 * Spec   compose.h; RFC 2045, 2046, 2047, 2183, 2231
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"
#include "grammar/message/mime_code.h"
#include "web/send/compose.h"

#include "base/banned.h"

enum {
	SHORT_BYTES = 12,	/* as an encoded word after the name */
	NAME_BYTES_MAX = 76,
	PLAIN_BYTES_MAX = 900,	/* in one line */
	TYPE_BYTES_MAX = 127
};

/* ---- what may stand where ----------------------------------------------- */

bool
compose_is_text(struct slice text)
{
	for (size_t i = 0, n; i < text.n; i += n) {
		unsigned char c = (unsigned char)text.p[i];

		n = c < 0x80 ? 1 : slice_utf8(slice_from(text, i));
		if (n == 0 || c < ' ' || c == 0x7f)
			return false;
		/* the controls beyond ASCII (U+0080 to U+009F) */
		if (c == 0xc2 && (unsigned char)text.p[i + 1] < 0xa0)
			return false;
	}
	return true;
}

bool
compose_may_name(struct slice name)
{
	static const char *const others[] = { "From", "To", "Cc", "Bcc",
	    "Reply-To", "Subject", "Date", "Message-ID", "Sender",
	    "Return-Path", "Received", "Received-SPF", "MIME-Version",
	    "Delivered-To", "Authentication-Results", "DKIM-Signature",
	    "DKIM2-Signature", "Mail-Version", "Bounces-To" };
	static const char *const families[] = { "Content-", "Resent-", "ARC-",
	    "X-ZMailer-", "DKIM2-" };

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (slice_is_nocase(name, others[i]))
			return false;
	for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++)
		if (slice_is_nocase(slice_first(name, strlen(families[i])),
		    families[i]))
			return false;
	for (size_t i = 0; i < name.n; i++)
		if (name.p[i] <= ' ' || name.p[i] > '~' || name.p[i] == ':')
			return false;
	return name.n > 0 && name.n <= NAME_BYTES_MAX;
}

static bool
compose_is_token(struct slice text)
{
	for (size_t i = 0; i < text.n; i++)
		if (!ascii_is_alnum(text.p[i]) &&
		    !ascii_is_among(text.p[i], "!#$&-^_.+"))
			return false;
	return text.n > 0;
}

bool
compose_is_type(struct slice type)
{
	size_t slash = slice_find(type, '/');
	struct slice main_type = slice_first(type, slash);

	return type.n <= TYPE_BYTES_MAX && compose_is_token(main_type) &&
	    compose_is_token(slice_from(type, slash + 1)) &&
	    !slice_is_nocase(main_type, "multipart") &&
	    !slice_is_nocase(main_type, "message");
}

/* ---- fields ------------------------------------------------------------- */

static bool
compose_is_plain(struct slice words)
{
	for (size_t i = 0; i + 1 < words.n; i++)
		if (words.p[i] == '=' && words.p[i + 1] == '?')
			return false;	/* would be read as encoded */
	return words.n <= PLAIN_BYTES_MAX && mime_is_ascii(words);
}

void
compose_field(struct str *out, const char *name, struct slice words)
{
	words = slice_trim(words);
	str_addf(out, "%s:", name);
	if (compose_is_plain(words)) {
		str_addf(out, " " SLICE_FMT, SLICE_ARG(words));
	} else {	/* such a line has 76 characters at the most */
		str_adds(out, words.n > SHORT_BYTES ? "\n " : " ");
		mime_word_add(out, words, true);
	}
	str_addc(out, '\n');
}

void
compose_mailbox(struct str *out, struct slice name, struct slice address)
{
	name = slice_trim(name);
	if (name.n > 0 && compose_is_plain(name)) {
		str_addc(out, '"');
		for (size_t i = 0; i < name.n; i++) {
			if (name.p[i] == '"' || name.p[i] == '\\')
				str_addc(out, '\\');
			str_addc(out, name.p[i]);
		}
		str_adds(out, "\" ");
	} else if (name.n > 0) {
		mime_word_add(out, name, true);
		str_addc(out, ' ');
	}
	str_addf(out, "<" SLICE_FMT ">", SLICE_ARG(address));
}

/* ---- parts -------------------------------------------------------------- */

static void
compose_boundary(char out[COMPOSE_BOUNDARY_BYTES])
{
	snprintf(out, COMPOSE_BOUNDARY_BYTES, "zm-%08x%08x%08x%08x",
	    arc4random(), arc4random(), arc4random(), arc4random());
}

static void
compose_type(struct str *out, const char *type, const char *boundary)
{
	str_addf(out, "Content-Type: %s;\n\tboundary=\"%s\"\n\n", type,
	    boundary);
}

static void
compose_six(struct str *out, struct slice bytes)
{
	struct mime_sixer sixer = { .held_count = 0 };

	mime_six(&sixer, bytes, out);
	mime_six_end(&sixer, out);
	str_addc(out, '\n');
}

/* As it is where lines are short enough; without CR, which is added when it
 * is sent. */
static void
compose_text(struct str *out, const char *type, struct slice text)
{
	struct str lines = STR_INIT;
	size_t line = 0, longest = 0;

	for (size_t i = 0; i < text.n; i++) {
		if (text.p[i] != '\r')
			str_addc(&lines, text.p[i]);
		line = text.p[i] == '\n' ? 0 : line + 1;
		longest = line > longest ? line : longest;
	}
	if (lines.len == 0 || lines.buf[lines.len - 1] != '\n')
		str_addc(&lines, '\n');
	str_addf(out, "Content-Type: %s; charset=utf-8\n"
	    "Content-Transfer-Encoding: %s\n\n", type,
	    longest > COMPOSE_LINE_BYTES_MAX ? "base64" :
	    mime_is_ascii(text) ? "7bit" : "8bit");
	if (longest > COMPOSE_LINE_BYTES_MAX)
		compose_six(out, text);
	else
		str_add_slice(out, str_slice(&lines));
	str_release(&lines);
}

/* `; filename=...` (RFC 2231 section 4: what is not plain in UTF-8). */
static void
compose_file_name(struct str *out, struct slice name)
{
	bool is_plain = mime_is_ascii(name);

	for (size_t i = 0; i < name.n; i++)
		is_plain &= !ascii_is_among(name.p[i], "\"\\");
	if (is_plain) {
		str_addf(out, ";\n\tfilename=\"" SLICE_FMT "\"",
		    SLICE_ARG(name));
		return;
	}
	str_adds(out, ";\n\tfilename*=utf-8''");
	for (size_t i = 0; i < name.n; i++) {
		unsigned char c = (unsigned char)name.p[i];

		if (ascii_is_alnum((char)c) || ascii_is_among((char)c, "-._"))
			str_addc(out, (char)c);
		else
			str_addf(out, "%%%02X", c);
	}
}

static void
compose_file(struct str *out, const struct compose_file *file)
{
	str_addf(out, "Content-Type: " SLICE_FMT "\n"
	    "Content-Transfer-Encoding: base64\n"
	    "Content-Disposition: attachment", SLICE_ARG(file->type));
	if (file->name.n > 0)
		compose_file_name(out, file->name);
	str_adds(out, "\n\n");
	compose_six(out, file->bytes);
}

static void
compose_texts(struct str *out, const struct compose_body *body)
{
	char boundary[COMPOSE_BOUNDARY_BYTES];

	if (body->html.p == NULL) {
		compose_text(out, "text/plain", body->text.p == NULL ?
		    SLICE("") : body->text);
		return;
	}
	if (body->text.p == NULL) {
		compose_text(out, "text/html", body->html);
		return;
	}
	compose_boundary(boundary);
	compose_type(out, "multipart/alternative", boundary);
	str_addf(out, "--%s\n", boundary);
	compose_text(out, "text/plain", body->text);
	str_addf(out, "\n--%s\n", boundary);
	compose_text(out, "text/html", body->html);
	str_addf(out, "\n--%s--\n", boundary);
}

void
compose_body(struct str *out, const struct compose_body *body)
{
	char boundary[COMPOSE_BOUNDARY_BYTES];

	str_adds(out, "MIME-Version: 1.0\n");
	if (body->file_count == 0) {
		compose_texts(out, body);
		return;
	}
	compose_boundary(boundary);
	compose_type(out, "multipart/mixed", boundary);
	str_addf(out, "--%s\n", boundary);
	compose_texts(out, body);
	for (size_t i = 0; i < body->file_count; i++) {
		str_addf(out, "\n--%s\n", boundary);
		compose_file(out, &body->files[i]);
	}
	str_addf(out, "\n--%s--\n", boundary);
}
