/* letter.c - an envelope and a message from a message
 *
 * In     a body and a query
 * Out    struct letter
 * Trusts nothing: a bare CR or a NUL is refused, every address is parsed
 * Spec   letter.h; RFC 5322 section 3.6; RFC 6409 section 8
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "grammar/message/header.h"
#include "grammar/message/mime_code.h"
#include "grammar/smtp/path.h"
#include "web/pages/form.h"
#include "web/send/letter.h"

#include "base/banned.h"

void
letter_init(struct letter *letter)
{
	*letter = (struct letter){ .arena = arena_new(),
	    .message = STR_INIT };
	letter->rcpts = arena_alloc(letter->arena,
	    LETTER_RCPTS_MAX * sizeof(*letter->rcpts));
}

void
letter_release(struct letter *letter)
{
	str_release(&letter->message);
	arena_free(&letter->arena);
}

/* ---- the envelope ------------------------------------------------------- */

/* The address as SMTP says it, between its brackets. */
static int
letter_path(struct letter *letter, struct slice address, unsigned flags,
    struct slice *out, struct err *err)
{
	struct str text = STR_INIT;
	struct slice rest;
	struct path path;
	int result = -1;

	if (path_parse(address, PATH_BARE_OK | PATH_UTF8 | flags, &path,
	    &rest, err) == 0) {
		if (rest.n > 0)
			(void)err_set(err, "there is more than an address");
		else
			result = 0;
	}
	if (result == 0) {
		path_add(&text, &path);
		*out = slice_copy(letter->arena, str_slice(&text));
		letter->is_utf8 |= !mime_is_ascii(*out);
	}
	str_release(&text);
	return result;
}

/* Who asks: the answer repeats what he wrote, without its controls. */
static int
letter_refuse(struct err *err, const char *member, struct slice text)
{
	struct str shown = STR_INIT;
	struct err why = *err;

	str_add_escaped(&shown, slice_first(text, 100));
	(void)err_set(err, "%s: \"%s\": %s", member, shown.buf, why.text);
	str_release(&shown);
	return -1;
}

int
letter_add_rcpt(struct letter *letter, struct slice address,
    const char *member, struct err *err)
{
	struct slice path;

	if (letter_path(letter, address, 0, &path, err) < 0)
		return letter_refuse(err, member, address);
	for (size_t i = 0; i < letter->rcpt_count; i++)
		if (slice_equal(letter->rcpts[i], path))
			return 0;
	if (letter->rcpt_count == LETTER_RCPTS_MAX)
		return err_set(err, "%s: there are more than %d recipients",
		    member, LETTER_RCPTS_MAX);
	letter->rcpts[letter->rcpt_count++] = path;
	return 0;
}

int
letter_set_from(struct letter *letter, struct slice address,
    const char *member, struct err *err)
{
	if (address.n == 0) {
		letter->from = SLICE("");
		return 0;
	}
	if (letter_path(letter, address, 0, &letter->from, err) < 0)
		return letter_refuse(err, member, address);
	return 0;
}

/* ---- the body ----------------------------------------------------------- */

/* CR LF and LF end lines; what would be an end for some and none for others
 * is not passed on. */
static int
letter_take_lines(struct letter *letter, struct slice body, struct err *err)
{
	char *to = str_room(&letter->message, body.n + 1);
	size_t n = 0;

	for (size_t i = 0; i < body.n; i++) {
		char c = body.p[i];

		if (c == '\r' && i + 1 < body.n && body.p[i + 1] == '\n')
			continue;
		if (c == '\r' || c == '\0')
			return err_set(err, "byte %zu of the message is a %s",
			    i, c == '\r' ? "CR without a LF" : "NUL");
		letter->has_8bit |= (unsigned char)c > 0x7f;
		to[n++] = c;
	}
	letter->message.len += n;
	letter->message.buf[letter->message.len] = '\0';
	return 0;
}

/* ---- the header --------------------------------------------------------- */

struct letter_glance {		/* at a header */
	struct letter	*letter;
	bool		 wants_rcpts, wants_from;
	bool		 has_sender;
	struct str	 kept;		/* the header without Bcc */
};

static int
letter_each_rcpt(struct letter *letter, const struct header_field *field,
    const char *name, struct err *err)
{
	struct slice rest = field->value;
	struct str text = STR_INIT;
	enum header_answer answer;
	struct path path;
	int result = 0;

	while (result == 0 && (answer = header_address(letter->arena, &rest,
	    &path, err)) != HEADER_ADDRESS_END) {
		if (answer == HEADER_ADDRESS_BAD) {
			struct err why = *err;

			result = err_set(err, "the field %s: %s", name,
			    why.text);
			break;
		}
		str_reset(&text);
		path_add(&text, &path);
		result = letter_add_rcpt(letter, str_slice(&text), name, err);
	}
	str_release(&text);
	return result;
}

/* The first address; Sender goes before From (RFC 5322 section 3.6.2). */
static int
letter_field_from(struct letter *letter, const struct header_field *field,
    const char *name, struct err *err)
{
	struct slice rest = field->value;
	struct str text = STR_INIT;
	struct path path;
	int result;

	if (header_address(letter->arena, &rest, &path, err) !=
	    HEADER_ADDRESS)
		return err_set(err, "the field %s has no address: the "
		    "envelope wants one, or ?from=", name);
	path_add(&text, &path);
	result = letter_set_from(letter, str_slice(&text), name, err);
	str_release(&text);
	return result;
}

static int
letter_take_from(struct letter_glance *glance,
    const struct header_field *field, struct err *err)
{
	bool is_sender = header_is(field, "Sender");

	if (!glance->wants_from || (glance->has_sender && !is_sender))
		return 0;
	glance->has_sender |= is_sender;
	return letter_field_from(glance->letter, field, is_sender ? "Sender" :
	    "From", err);
}

static int
letter_take_field(struct letter_glance *glance,
    const struct header_field *field, struct err *err)
{
	static const char *const rcpts[] = { "To", "Cc", "Bcc" };
	struct letter *letter = glance->letter;

	if (glance->wants_rcpts && field->name.n > 7 && slice_is_nocase(
	    slice_first(field->name, 7), "Resent-"))
		return err_set(err, "the message was sent before (Resent- "
		    "fields): name who gets it in the query, as ?to=");
	for (size_t i = 0; i < 3; i++)
		if (glance->wants_rcpts && header_is(field, rcpts[i]) &&
		    letter_each_rcpt(letter, field, rcpts[i], err) < 0)
			return -1;
	if ((header_is(field, "From") || header_is(field, "Sender")) &&
	    letter_take_from(glance, field, err) < 0)
		return -1;
	letter->has_date |= header_is(field, "Date");
	if (header_is(field, "Message-ID") && !letter->has_id) {
		letter->id = slice_copy(letter->arena,
		    header_msgid(field->value));
		letter->has_id = letter->id.n > 0;
		if (!letter->has_id)
			return err_set(err, "the field Message-ID has no "
			    "<id@domain>");
	}
	if (header_is(field, "Bcc") || header_is(field, "Resent-Bcc"))
		return 0;
	letter->is_utf8 |= !mime_is_ascii(field->whole);
	str_add_slice(&glance->kept, field->whole);
	return 0;
}

/* A header is fields to its end, and the body comes after an empty line. */
static int
letter_take_header(struct letter_glance *glance, struct err *err)
{
	struct letter *letter = glance->letter;
	struct slice rest = str_slice(&letter->message);
	struct header_field field;
	struct str whole = STR_INIT;
	bool is_broken = false;
	int result = 0;

	while (result == 0 && header_next(&rest, &field, &is_broken))
		result = letter_take_field(glance, &field, err);
	if (result == 0 && (is_broken || glance->kept.len == 0))
		result = err_set(err, "the message does not begin with a "
		    "header: fields, then an empty line");
	if (result < 0)
		return -1;
	if (glance->kept.buf[glance->kept.len - 1] != '\n')
		str_addc(&glance->kept, '\n');
	str_add_slice(&whole, str_slice(&glance->kept));
	str_addc(&whole, '\n');
	str_add_slice(&whole, rest);
	str_release(&letter->message);
	letter->message = whole;
	return 0;
}

static int
letter_take_query(struct letter *letter, const struct form *form,
    struct letter_glance *glance, struct err *err)
{
	for (size_t i = 0; i < form->count; i++) {
		const struct form_field *field = &form->fields[i];

		if (slice_is(field->key, "to")) {
			glance->wants_rcpts = false;
			if (letter_add_rcpt(letter, field->value, "to",
			    err) < 0)
				return -1;
		} else if (slice_is(field->key, "from")) {
			if (!glance->wants_from)
				return err_set(err, "from: stands twice");
			glance->wants_from = false;
			if (letter_set_from(letter, field->value, "from",
			    err) < 0)
				return -1;
		} else {
			(void)err_set(err, "nothing but from and to");
			return letter_refuse(err, "the query", field->key);
		}
	}
	return 0;
}

int
letter_read_message(struct letter *letter, struct slice body,
    struct slice query, struct err *err)
{
	struct letter_glance glance = { .letter = letter,
	    .wants_rcpts = true, .wants_from = true, .kept = STR_INIT };
	bool is_from_wanted;
	struct form form;
	int result = -1;

	if (form_read_fields(query, letter->arena, &form) < 0)
		return err_set(err, "the query cannot be read");
	if (letter_take_query(letter, &form, &glance, err) == 0 &&
	    letter_take_lines(letter, body, err) == 0)
		result = letter_take_header(&glance, err);
	is_from_wanted = glance.wants_from;
	str_release(&glance.kept);
	if (result < 0)
		return -1;
	if (is_from_wanted && letter->from.p == NULL)
		return err_set(err, "the message has no From, and the query "
		    "no from");
	if (letter->rcpt_count == 0)
		return err_set(err, "nobody gets it: the message has no "
		    "address in To, Cc or Bcc, and the query no to");
	return 0;
}

/* ---- what it lacks ------------------------------------------------------ */

void
letter_finish(struct letter *letter, const char *key_hex, int64_t now_s)
{
	struct str front = STR_INIT, id = STR_INIT;
	char date[CLOCK_TEXT_BYTES];
	size_t at = slice_find(letter->from, '@');
	struct slice domain = slice_from(letter->from, at + 1);

	if (!letter->has_date) {
		clock_rfc5322(now_s, date);
		str_addf(&front, "Date: %s\n", date);
	}
	if (!letter->has_id) {
		if (key_hex != NULL)
			str_addf(&id, "<%.40s.key@", key_hex);
		else
			str_addf(&id, "<%08x%08x%08x.send@", arc4random(),
			    arc4random(), arc4random());
		if (domain.n == 0 || !mime_is_ascii(domain))
			domain = SLICE("localhost");
		str_addf(&id, SLICE_FMT ">", SLICE_ARG(domain));
		letter->id = slice_copy(letter->arena, str_slice(&id));
		str_addf(&front, "Message-ID: %s\n", id.buf);
	}
	str_add_slice(&front, str_slice(&letter->message));
	str_release(&letter->message);
	str_release(&id);
	letter->message = front;
}
