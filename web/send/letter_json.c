/* letter_json.c - a message written from an object of JSON
 *
 * In     the body of a request: from anybody who can reach the desk
 * Out    struct letter
 * Trusts nothing: every member is known, of its type, and without controls
 * Spec   letter.h; RFC 8259; doc/WEB.md
 *
 * SPDX-License-Identifier: ISC
 */
#include "web/send/letter.h"

#ifdef HAVE_JANSSON
#include <jansson.h>
#include <string.h>

#include "grammar/base64.h"
#include "grammar/message/mime_code.h"
#include "web/send/compose.h"
#endif

#include "base/banned.h"

#ifdef HAVE_JANSSON
enum { FILES_MAX = 100, FIELDS_MAX = 100, FILE_NAME_BYTES_MAX = 255 };

struct reading {
	struct letter	*letter;
	struct str	 header;
	struct compose_body body;
	struct compose_file files[FILES_MAX];
	struct str	 bytes[FILES_MAX];
	size_t		 fields;
	bool		 has_from, has_envelope;
	struct slice	 author;
	struct err	*err;
};

/* ---- values ------------------------------------------------------------- */

static int
member_string(const struct reading *reading, const char *member,
    const json_t *value, struct slice *out)
{
	if (!json_is_string(value))
		return err_set(reading->err, "%s: a text is wanted", member);
	*out = (struct slice){ json_string_value(value),
	    json_string_length(value) };
	return 0;
}

static int
member_words(const struct reading *reading, const char *member,
    const json_t *value, struct slice *out)
{
	if (member_string(reading, member, value, out) < 0)
		return -1;
	if (!compose_is_text(*out))
		return err_set(reading->err, "%s: it has a line end or "
		    "another control, which cannot stand in a header",
		    member);
	return 0;
}

/* `Ann <ann@a.test>` or the address alone; the name may stand in quotes. */
static void
mailbox_cut(struct arena *arena, struct slice text, struct slice *out_name,
    struct slice *out_address)
{
	size_t open = text.n, n = 0;
	char *name;

	text = slice_trim(text);
	*out_name = SLICE("");
	*out_address = text;
	if (text.n == 0 || text.p[text.n - 1] != '>')
		return;
	for (open = text.n - 1; open > 0 && text.p[open] != '<'; open--)
		;
	*out_address = slice_first(slice_from(text, open + 1),
	    text.n - open - 2);
	text = slice_trim(slice_first(text, open));
	if (text.n < 2 || text.p[0] != '"' || text.p[text.n - 1] != '"') {
		*out_name = text;
		return;
	}
	name = arena_alloc(arena, text.n);
	for (size_t i = 1; i + 1 < text.n; i++) {
		if (text.p[i] == '\\' && i + 2 < text.n)
			i++;
		name[n++] = text.p[i];
	}
	*out_name = (struct slice){ name, n };
}

/* One mailbox of a member, after the ones before; *out_address is checked. */
static int
mailbox_add(struct reading *reading, const char *member, struct slice text,
    struct str *field, struct slice *out_address)
{
	struct letter *letter = reading->letter;
	struct slice was = letter->from, name, address;

	mailbox_cut(letter->arena, text, &name, &address);
	if (address.n == 0)
		return err_set(reading->err, "%s: an address is missing",
		    member);
	if (slice_find(name, '<') < name.n || slice_find(name, '>') < name.n)
		return err_set(reading->err, "%s: one address is wanted, as "
		    "Ann <ann@example.org>", member);
	if (letter_set_from(letter, address, member, reading->err) < 0)
		return -1;
	*out_address = letter->from;
	letter->from = was;
	if (field->len > 0)
		str_adds(field, ",\n\t");
	compose_mailbox(field, name, *out_address);
	return 0;
}

static int
mailbox_member(struct reading *reading, const char *member,
    const json_t *value, struct str *field, struct slice *out_address)
{
	struct slice text;

	if (member_words(reading, member, value, &text) < 0)
		return -1;
	return mailbox_add(reading, member, text, field, out_address);
}

/* A list of mailboxes, or one; each gets the message unless is_told alone.
 * A NULL name writes no field: bcc. */
static int
mailbox_list(struct reading *reading, const char *member, const char *name,
    const json_t *value, bool gets_it)
{
	size_t count = json_is_array(value) ? json_array_size(value) : 1;
	struct str field = STR_INIT;
	struct slice address;
	int result = 0;

	if (count > LETTER_RCPTS_MAX)
		return err_set(reading->err, "%s: there are more than %d "
		    "recipients", member, LETTER_RCPTS_MAX);
	for (size_t i = 0; i < count && result == 0; i++) {
		result = mailbox_member(reading, member, json_is_array(value) ?
		    json_array_get(value, i) : value, &field, &address);
		if (result == 0 && gets_it)
			result = letter_add_rcpt(reading->letter, address,
			    member, reading->err);
	}
	if (result == 0 && name != NULL && field.len > 0)
		str_addf(&reading->header, "%s: %s\n", name, field.buf);
	str_release(&field);
	return result;
}

/* ---- members ------------------------------------------------------------ */

typedef int member_fn(struct reading *reading, const char *member,
    const json_t *value);

static int
member_from(struct reading *reading, const char *member, const json_t *value)
{
	struct str field = STR_INIT;
	int result = mailbox_member(reading, member, value, &field,
	    &reading->author);

	if (result == 0)
		str_addf(&reading->header, "From: %s\n", field.buf);
	reading->has_from = true;
	str_release(&field);
	return result;
}

static int
member_envelope_from(struct reading *reading, const char *member,
    const json_t *value)
{
	struct slice text;

	reading->has_envelope = true;
	if (member_words(reading, member, value, &text) < 0)
		return -1;
	return letter_set_from(reading->letter, text, member, reading->err);
}

static int
member_to(struct reading *reading, const char *member, const json_t *value)
{
	return mailbox_list(reading, member, "To", value, true);
}

static int
member_cc(struct reading *reading, const char *member, const json_t *value)
{
	return mailbox_list(reading, member, "Cc", value, true);
}

static int
member_bcc(struct reading *reading, const char *member, const json_t *value)
{
	return mailbox_list(reading, member, NULL, value, true);
}

static int
member_reply_to(struct reading *reading, const char *member,
    const json_t *value)
{
	return mailbox_list(reading, member, "Reply-To", value, false);
}

static int
member_subject(struct reading *reading, const char *member,
    const json_t *value)
{
	struct slice text;

	if (member_words(reading, member, value, &text) < 0)
		return -1;
	compose_field(&reading->header, "Subject", text);
	return 0;
}

/* Lines may end in LF or CR LF; NUL cannot come, jansson refuses it. */
static int
member_body(struct reading *reading, const char *member, const json_t *value,
    struct slice *out)
{
	if (member_string(reading, member, value, out) < 0)
		return -1;
	for (size_t i = 0; i < out->n; i++)
		if (out->p[i] == '\r' && (i + 1 == out->n ||
		    out->p[i + 1] != '\n'))
			return err_set(reading->err, "%s: there is a CR "
			    "without a LF", member);
	return 0;
}

static int
member_plain(struct reading *reading, const char *member, const json_t *value)
{
	return member_body(reading, member, value, &reading->body.text);
}

static int
member_html(struct reading *reading, const char *member, const json_t *value)
{
	return member_body(reading, member, value, &reading->body.html);
}

static int
member_headers(struct reading *reading, const char *member,
    const json_t *value)
{
	const char *name;
	json_t *one;
	struct slice text;

	if (!json_is_object(value))
		return err_set(reading->err, "%s: an object of names and "
		    "texts is wanted", member);
	json_object_foreach((json_t *)(uintptr_t)value, name, one) {
		struct str shown = STR_INIT;

		str_adds(&shown, "headers.");
		str_add_escaped(&shown, slice_first(slice_of(name), 100));
		if (++reading->fields > FIELDS_MAX)
			(void)err_set(reading->err, "%s: there are more than "
			    "%d", member, FIELDS_MAX);
		else if (!compose_may_name(slice_of(name)))
			(void)err_set(reading->err, "%s: this is no name of a "
			    "field, or one that cannot be set here",
			    shown.buf);
		else if (member_words(reading, shown.buf, one, &text) == 0) {
			compose_field(&reading->header, name, text);
			str_release(&shown);
			continue;
		}
		str_release(&shown);
		return -1;
	}
	return 0;
}

/* ---- files -------------------------------------------------------------- */

static int
attachment_name(struct reading *reading, const char *member,
    const json_t *value, struct compose_file *file)
{
	if (member_words(reading, member, value, &file->name) < 0)
		return -1;
	if (file->name.n > FILE_NAME_BYTES_MAX ||
	    slice_find(file->name, '/') < file->name.n)
		return err_set(reading->err, "%s: at most %d bytes, without "
		    "/", member, FILE_NAME_BYTES_MAX);
	return 0;
}

static int
attachment_take(struct reading *reading, const char *key, const json_t *value,
    struct compose_file *file, struct str *bytes)
{
	struct slice text;
	struct err why;

	if (strcmp(key, "name") == 0)
		return attachment_name(reading, "attachments.name", value,
		    file);
	if (strcmp(key, "type") == 0) {
		if (member_words(reading, "attachments.type", value,
		    &file->type) < 0)
			return -1;
		return compose_is_type(file->type) ? 0 : err_set(reading->err,
		    "attachments.type: a type like image/png is wanted; "
		    "multipart/ and message/ cannot be base64");
	}
	if (strcmp(key, "content") != 0)
		return err_set(reading->err, "attachments: there is name, "
		    "type and content, no other member");
	if (member_string(reading, "attachments.content", value, &text) < 0)
		return -1;
	if (base64_decode(text, bytes, &why) < 0)
		return err_set(reading->err, "attachments.content: %s",
		    why.text);
	file->bytes = str_slice(bytes);
	return 0;
}

static int
member_attachments(struct reading *reading, const char *member,
    const json_t *value)
{
	size_t count = json_array_size(value);
	const char *key;
	json_t *one, *part;

	if (!json_is_array(value) || count > FILES_MAX)
		return err_set(reading->err, "%s: a list of at most %d "
		    "objects is wanted", member, FILES_MAX);
	for (size_t i = 0; i < count; i++) {
		struct compose_file *file = &reading->files[i];

		file->type = SLICE("application/octet-stream");
		one = json_array_get(value, i);
		if (!json_is_object(one) || json_object_get(one, "content") ==
		    NULL)
			return err_set(reading->err, "%s: each one is an "
			    "object with content", member);
		json_object_foreach(one, key, part)
			if (attachment_take(reading, key, part, file,
			    &reading->bytes[i]) < 0)
				return -1;
	}
	reading->body.files = reading->files;
	reading->body.file_count = count;
	return 0;
}

/* ---- the object --------------------------------------------------------- */

static const struct {
	const char	*name;
	member_fn	*fn;
} member_rows[] = {
	{ "from", member_from }, { "envelope_from", member_envelope_from },
	{ "to", member_to }, { "cc", member_cc }, { "bcc", member_bcc },
	{ "reply_to", member_reply_to }, { "subject", member_subject },
	{ "headers", member_headers }, { "text", member_plain },
	{ "html", member_html }, { "attachments", member_attachments },
};

static int
reading_refuse_others(struct reading *reading, const json_t *object)
{
	enum { ROWS = sizeof(member_rows) / sizeof(member_rows[0]) };
	struct str shown = STR_INIT;
	const char *key;
	json_t *value;
	size_t i;

	json_object_foreach((json_t *)(uintptr_t)object, key, value) {
		for (i = 0; i < ROWS; i++)
			if (strcmp(member_rows[i].name, key) == 0)
				break;
		if (i < ROWS)
			continue;
		str_add_escaped(&shown, slice_first(slice_of(key), 100));
		(void)err_set(reading->err, "%s: there is no such member",
		    shown.buf);
		str_release(&shown);
		return -1;
	}
	return 0;
}

/* In the order of the rows, whatever theirs is. */
static int
reading_take(struct reading *reading, const json_t *object)
{
	struct letter *letter = reading->letter;

	if (reading_refuse_others(reading, object) < 0)
		return -1;
	for (size_t i = 0; i < sizeof(member_rows) / sizeof(member_rows[0]);
	    i++) {
		const json_t *value = json_object_get(object,
		    member_rows[i].name);

		if (value != NULL && member_rows[i].fn(reading,
		    member_rows[i].name, value) < 0)
			return -1;
	}
	if (!reading->has_from)
		return err_set(reading->err, "from: it is missing");
	if (!reading->has_envelope)
		letter->from = reading->author;
	if (letter->rcpt_count == 0)
		return err_set(reading->err, "to: nobody gets it; to, cc or "
		    "bcc is wanted");
	if (reading->body.text.p == NULL && reading->body.html.p == NULL &&
	    reading->body.file_count == 0)
		return err_set(reading->err, "text: it is missing; text, "
		    "html or attachments is wanted");
	return 0;
}

static void
reading_write(struct reading *reading)
{
	struct letter *letter = reading->letter;

	letter->is_utf8 |= !mime_is_ascii(str_slice(&reading->header));
	str_add_slice(&letter->message, str_slice(&reading->header));
	compose_body(&letter->message, &reading->body);
	letter->has_8bit = !mime_is_ascii(str_slice(&letter->message));
}

bool
letter_can_json(void)
{
	return true;
}

int
letter_read_json(struct letter *letter, struct slice body, struct err *err)
{
	struct reading *reading = mem_alloc(1, sizeof(*reading));
	json_error_t why;
	json_t *object = json_loadb(body.p, body.n, JSON_REJECT_DUPLICATES,
	    &why);
	int result = -1;

	*reading = (struct reading){ .letter = letter, .header = STR_INIT,
	    .err = err };
	for (size_t i = 0; i < FILES_MAX; i++)
		str_init(&reading->bytes[i]);
	if (object == NULL)
		(void)err_set(err, "the body is no JSON (RFC 8259, with no "
		    "member twice): line %d, column %d", why.line,
		    why.column);
	else if (!json_is_object(object))
		(void)err_set(err, "the body is no object");
	else
		result = reading_take(reading, object);
	if (result == 0)
		reading_write(reading);
	for (size_t i = 0; i < FILES_MAX; i++)
		str_release(&reading->bytes[i]);
	json_decref(object);
	str_release(&reading->header);
	mem_free(&reading);
	return result;
}

#else

bool
letter_can_json(void)
{
	return false;
}

int
letter_read_json(struct letter *letter, struct slice body, struct err *err)
{
	(void)letter;
	(void)body;
	return err_set(err, "this zmailer was built without jansson");
}
#endif
